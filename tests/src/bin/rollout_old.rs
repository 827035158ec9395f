//! The program that a rollout replaces: `rollout_old URL NAME` works on `parcels` until it is told to stop.

use std::time::Duration;

use flow_runtime::prelude::*;
use flow_tests::flows::Parcel;

struct Parcels;

#[flow(input = Parcel, slug = "parcels")]
impl Parcels {
    #[step]
    async fn pack(&self, input: Parcel) -> Result<String, StepError> {
        input.pass("pack").await;
        Ok(input.name)
    }

    #[step]
    async fn send(&self, input: Parcel, pack: String) -> Result<String, StepError> {
        input.pass("send").await;
        Ok(format!("{pack}, unweighed"))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, name] = &args[..] else { anyhow::bail!("say URL and NAME") };
    let worker = Worker::builder(&Db::new(url)?).flow(Parcels).name(name).poll_interval(Duration::from_millis(200));
    Ok(worker.build()?.run().await?)
}
