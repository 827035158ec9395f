use flow_runtime::prelude::*;

trait Repo {
    fn get(&self) -> u32;
}

struct Fixed;

impl Repo for Fixed {
    fn get(&self) -> u32 {
        3
    }
}

struct Gen<R> {
    repo: R,
}

#[flow(input = u32)]
impl<R: Repo> Gen<R> { //~ the handlers of `Gen<R>` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input + self.repo.get())
    }
}

async fn work(db: Db) -> Result<(), Box<dyn std::error::Error>> {
    let worker = Worker::builder(&db).flow(Gen { repo: Fixed }).build()?.start().await?;
    let run = Client::new(&db).start::<Gen<Fixed>>(&3).await?;
    println!("{:?}", run.wait().await?);
    tokio::spawn(async move { worker.shutdown().await }).await??;
    Ok(())
}

fn main() {
    let _ = work;
}
