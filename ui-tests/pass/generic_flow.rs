// T28
use std::{future::Future, sync::Arc};

use flow_runtime::prelude::*;

trait Payments: Send + Sync + 'static {
    fn charge(&self, cents: u32) -> impl Future<Output = Result<u32, StepError>> + Send;
}

struct Checkout<P, const LIMIT: u32> {
    payments: P,
}

#[flow(input = u32, slug = "checkout")]
impl<P: Payments, const LIMIT: u32> Checkout<P, LIMIT>
where
    P: Clone,
{
    #[step]
    async fn charge(&self, input: u32) -> Result<u32, StepError> {
        let payments = self.payments.clone();
        payments.charge(input.min(LIMIT)).await
    }

    #[step(when_exhausted = skip)]
    async fn note(&self, charge: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![charge])
    }
}

#[derive(Clone)]
struct Free;

impl Payments for Free {
    async fn charge(&self, cents: u32) -> Result<u32, StepError> {
        Ok(cents)
    }
}

flow_runtime::with_step_queues!(FreeQueues for Checkout<Free, 5>);

// T28
#[tokio::test]
async fn type_parameters_are_for_bodies() {
    let flow = Arc::new(Checkout::<Free, 5> { payments: Free });
    assert_eq!(flow.charge(9).await, Ok(5));
    assert_eq!(Checkout::<Free, 5>::NOTE.slug(), "note");
    let output: CheckoutOutput = serde_json::from_str("{}").expect("reads");
    assert_eq!(output.note, None);
    let queues = FreeQueues::new(flow);
    assert_eq!(flow_runtime::StepQueued::flow(&queues).charge(1).await, Ok(1));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Checkout::<Free, 5> { payments: Free });
}
