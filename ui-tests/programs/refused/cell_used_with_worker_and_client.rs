use flow_runtime::{prelude::*, route_flow, with_step_queues};

struct Cellar {
    n: std::cell::Cell<u32>,
}

#[flow(input = u32)]
impl Cellar { //~ the handlers of `Cellar` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input + self.n.get())
    }
}

with_step_queues!(pub Queues for Cellar);
route_flow!(pub Routes for Cellar { A => "cellar" });

async fn work(db: Db) -> Result<(), Box<dyn std::error::Error>> {
    let worker = Worker::builder(&db).flow(Cellar { n: 1.into() }).build()?;
    let step = Worker::builder(&db).step(Queues::new(Cellar { n: 1.into() }), CellarStep::A).build()?;
    let run = Client::new(&db).start::<Cellar>(&3).await?;
    println!("{:?} {}", run.wait().await?, Cellar::graph().mermaid());
    let _ = (Routes::new(Cellar { n: 1.into() }), worker, step);
    Ok(())
}

fn main() {
    Cellar::check().unwrap();
    let _ = work;
}
