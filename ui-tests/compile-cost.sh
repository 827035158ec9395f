#!/usr/bin/env bash
# Times `cargo check` and `cargo build` of a flow of 100 steps against the same methods without the macro, and prints what a
# step costs: milliseconds of each, and bytes of generated code.
#
# Usage: ui-tests/compile-cost.sh [STEPS]. Each side is compiled five times after a change of its file; the median of the
# processor time counts, so that other work on the machine does not.
set -euo pipefail

steps=${1:-100}
root=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
target=${CARGO_TARGET_DIR:-$root/target}
project=$target/tmp/compile-cost
mkdir -p "$project/src/bin"

cat > "$project/Cargo.toml" <<TOML
[package]
name = "compile-cost"
edition = "2024"

[workspace]

[profile.dev]
debug = "line-tables-only"

[dependencies]
flow-runtime = { path = "$root/flow-runtime" }
schemars = "1"
serde = { version = "1", features = ["derive"] }
TOML
cp "$root/Cargo.lock" "$project/Cargo.lock"

# Writes a program: every step takes the input and the three steps before it.
program() {
  local with_macro=$1
  cat <<'RUST'
#![allow(dead_code)]
use flow_runtime::prelude::*;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Receipt { total: u32 }

struct Shop;

RUST
  [ "$with_macro" = yes ] && echo '#[flow(input = u32)]'
  echo 'impl Shop {'
  for ((i = 0; i < steps; i++)); do
    [ "$with_macro" = yes ] && echo '    #[step]'
    params='input: u32'
    sum='input'
    for ((j = i > 3 ? i - 3 : 0; j < i; j++)); do
      params+=", step_${j}x: Receipt"
      sum+=" + step_${j}x.total"
    done
    echo "    async fn step_${i}x(&self, $params) -> Result<Receipt, StepError> { Ok(Receipt { total: $sum }) }"
  done
  echo '}'
  echo
  # What is never named is never compiled to machine code.
  if [ "$with_macro" = yes ]; then
    echo 'fn main() { std::hint::black_box((<Shop as flow_runtime::Handlers>::call as *const (), Shop::definition as *const ())); }'
  else
    echo 'fn main() {}'
  fi
}

program yes > "$project/src/bin/with_macro.rs"
program no > "$project/src/bin/plain.rs"

compile() {
  (cd "$project" && CARGO_TARGET_DIR=$target CARGO_INCREMENTAL=0 cargo "$1" --offline --quiet --bin "$2")
}

# The median of five runs of `cargo $1`, in milliseconds of processor time.
median_ms() {
  local TIMEFORMAT='%3U %3S'
  for _ in 1 2 3 4 5; do
    touch "$project/src/bin/$2.rs"
    { time compile "$1" "$2"; } 2>&1 | awk 'END { printf "%d\n", ($1 + $2) * 1000 }'
  done | sort -n | sed -n 3p
}

# The bytes of a program after the expansion of macros, as rustc prints them, without indentation.
expanded_bytes() {
  (cd "$project" && CARGO_TARGET_DIR=$target RUSTC_BOOTSTRAP=1 cargo rustc --offline --quiet --profile check --bin "$1" -- \
    -Zunpretty=expanded) | sed 's/^ *//' | wc -c
}

for command in check build; do
  compile "$command" plain
  compile "$command" with_macro
  plain=$(median_ms "$command" plain)
  with_macro=$(median_ms "$command" with_macro)
  awk -v command="$command" -v steps="$steps" -v plain="$plain" -v with="$with_macro" 'BEGIN {
    printf "%s: steps %d, plain %d ms, with #[flow] %d ms, ratio %.2f, %.1f ms a step\n", \
      command, steps, plain, with, with / plain, (with - plain) / steps
  }'
done
awk -v steps="$steps" -v plain="$(expanded_bytes plain)" -v with="$(expanded_bytes with_macro)" 'BEGIN {
  printf "generated: %d bytes a step\n", (with - plain) / steps
}'
