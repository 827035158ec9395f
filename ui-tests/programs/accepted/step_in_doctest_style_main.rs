use flow_runtime::prelude::*;

async fn run_it() -> Result<(), Box<dyn std::error::Error>> {
    struct L;
    #[flow(input = u32)]
    impl L {
        #[step]
        async fn a(&self, input: u32) -> Result<u32, StepError> {
            std::future::ready(()).await;
            Ok(input)
        }
    }
    crate::run::run_handlers(L);
    let db = Db::new("postgres://x")?;
    let worker = Worker::builder(&db).flow(L).build()?.start().await?;
    let run = Client::new(&db).start::<L>(&3).await?;
    let out = run.wait().await?;
    println!("{} {out:?}", out.a);
    worker.shutdown().await?;
    Ok(())
}

pub(crate) fn main() {
    // Not run: it needs a database.
    let _ = run_it;
}
