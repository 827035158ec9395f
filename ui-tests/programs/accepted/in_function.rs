use flow_runtime::prelude::*;

fn in_fn() {
    struct Local;
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Order;
    #[flow(input = Order)]
    impl Local {
        #[step]
        async fn a(&self, input: Order) -> Result<Order, StepError> {
            std::future::ready(()).await;
            Ok(input)
        }
        #[step]
        async fn b(&self, a: Order) -> Result<Order, StepError> {
            std::future::ready(()).await;
            Ok(a)
        }
    }
    flow_runtime::with_step_queues!(Queues for Local);
    let _ = (Local::A, LocalStep::ALL, Queues::new(Local));
    crate::run::run_handlers(Local);
}

pub(crate) fn main() {
    in_fn();
}
