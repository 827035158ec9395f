#!/usr/bin/env bash
# Times `cargo check` of a flow of 100 steps against the same methods without the macro, and prints the ratio.
#
# Usage: ui-tests/compile-cost.sh [STEPS]. Each side is checked five times after a change of its file; the median of the
# processor time counts, so that other work on the machine does not.
set -euo pipefail

steps=${1:-100}
root=$(cd "$(dirname "$0")/.." && pwd)
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
  echo 'fn main() {}'
}

program yes > "$project/src/bin/with_macro.rs"
program no > "$project/src/bin/plain.rs"

check() {
  (cd "$project" && CARGO_TARGET_DIR=$target CARGO_INCREMENTAL=0 cargo check --offline --quiet --bin "$1")
}

# The median of five checks, in milliseconds of processor time.
median_ms() {
  local TIMEFORMAT='%3U %3S'
  for _ in 1 2 3 4 5; do
    touch "$project/src/bin/$1.rs"
    { time check "$1"; } 2>&1 | awk 'END { printf "%d\n", ($1 + $2) * 1000 }'
  done | sort -n | sed -n 3p
}

check plain
check with_macro
plain=$(median_ms plain)
with_macro=$(median_ms with_macro)
awk -v steps="$steps" -v plain="$plain" -v with="$with_macro" 'BEGIN {
  printf "steps %d, plain %d ms, with #[flow] %d ms, ratio %.2f, %.1f ms a step\n", \
    steps, plain, with, with / plain, (with - plain) / steps
}'
