//! The program that a rollout brings, with a step more: `rollout_new in_place URL NAME` works on `parcels` in the old one's
//! place, `rollout_new beside URL NAME` on `parcels_2` beside it.

use std::time::Duration;

use flow_runtime::prelude::*;
use flow_tests::flows::Parcel;

struct InPlace;

#[flow(input = Parcel, slug = "parcels")]
impl InPlace {
    #[step]
    async fn pack(&self, input: Parcel) -> Result<String, StepError> {
        input.pass("pack").await;
        Ok(input.name)
    }

    #[step]
    async fn weigh(&self, pack: String) -> Result<usize, StepError> {
        Ok(pack.len())
    }

    #[step]
    async fn send(&self, pack: String, weigh: usize) -> Result<String, StepError> {
        Ok(format!("{pack}, {weigh} g"))
    }
}

struct Beside;

#[flow(input = Parcel, slug = "parcels_2")]
impl Beside {
    #[step]
    async fn pack(&self, input: Parcel) -> Result<String, StepError> {
        InPlace.pack(input).await
    }

    #[step]
    async fn weigh(&self, pack: String) -> Result<usize, StepError> {
        InPlace.weigh(pack).await
    }

    #[step]
    async fn send(&self, pack: String, weigh: usize) -> Result<String, StepError> {
        InPlace.send(pack, weigh).await
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [way, url, name] = &args[..] else { anyhow::bail!("say in_place or beside, URL and NAME") };
    let worker = Worker::builder(&Db::new(url)?);
    let worker = if way == "beside" { worker.flow(Beside) } else { worker.flow(InPlace) };
    Ok(worker.name(name).poll_interval(Duration::from_millis(200)).build()?.run().await?)
}
