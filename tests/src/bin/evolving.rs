//! One flow in several builds, whose types differ as docs/evolving.md tells: `evolving BUILD URL [allow]` works on it until SIGTERM.
//!
//! The builds are `base`, `added`, `both`, `switched`, `removed` and `renamed`. A run's output says which build read what.

use std::time::Duration;

use flow_runtime::{OnDrift, prelude::*};
use serde::{Deserialize, Serialize};

/// One build: its parcel's fields, how it is packed and how it is read.
macro_rules! build {
    ($module:ident, { $($field:ident: $of:ty),* }, $pack:expr, $read:expr) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
            pub(super) struct Packed {
                $(pub(super) $field: $of),*
            }

            pub(super) struct Evolving;

            #[flow(input = String, base_delay = "100ms", max_delay = "100ms", max_attempts = 1000)]
            impl Evolving {
                #[step]
                async fn pack(&self, input: String) -> Result<Packed, StepError> {
                    let pack: fn(String) -> Packed = $pack;
                    Ok(pack(input))
                }

                /// Far away, so that a test decides which build takes it.
                #[step(start_delay = "1h")]
                async fn hold(&self, pack: Packed) -> Result<String, StepError> {
                    let read: fn(Packed) -> String = $read;
                    Ok(read(pack))
                }
            }
        }
    };
}

build!(base, { name: String }, |name| Packed { name }, |packed| format!("base:{}", packed.name));
build!(
    added,
    { name: String, weight: Option<u32> },
    |name| Packed { name, weight: Some(7) },
    |packed| format!("added:{}:{:?}", packed.name, packed.weight)
);
build!(
    both,
    { name: String, title: Option<String> },
    |name| Packed { title: Some(name.clone()), name },
    |packed| format!("both:{}", packed.title.unwrap_or(packed.name))
);
build!(
    switched,
    { name: Option<String>, title: Option<String> },
    |title| Packed { name: Some(title.clone()), title: Some(title) },
    |packed| format!("switched:{}", packed.title.or(packed.name).unwrap_or_default())
);
build!(
    removed,
    { title: Option<String> },
    |title| Packed { title: Some(title) },
    |packed| format!("removed:{}", packed.title.unwrap_or_default())
);
build!(renamed, { title: String }, |title| Packed { title }, |packed| format!("renamed:{}", packed.title));

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [build, url, more @ ..] = &args[..] else { anyhow::bail!("say BUILD, URL and perhaps allow") };
    let worker = Worker::builder(&Db::new(url)?);
    let worker = match build.as_str() {
        "base" => worker.flow(base::Evolving),
        "added" => worker.flow(added::Evolving),
        "both" => worker.flow(both::Evolving),
        "switched" => worker.flow(switched::Evolving),
        "removed" => worker.flow(removed::Evolving),
        "renamed" => worker.flow(renamed::Evolving),
        other => anyhow::bail!("there is no build {other}"),
    };
    let on_drift = if more.iter().any(|word| word == "allow") { OnDrift::Allow } else { OnDrift::Report };
    let worker = worker.name(build).on_drift(on_drift).poll_interval(Duration::from_millis(100)).build()?;
    let running = worker.start().await?;
    // Before the word that lets a test send it: without this, SIGTERM would end the process at once.
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    println!("started");
    terminate.recv().await;
    Ok(running.shutdown().await?)
}
