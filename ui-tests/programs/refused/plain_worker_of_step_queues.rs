use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
flow_runtime::with_step_queues!(pub Queues for Shop);
fn main() {
    let db = Db::new("postgres://x").unwrap();
    let _ = Worker::builder(&db).flow(Queues::new(Shop)); //~ `Queues` is no plain flow
}
