use flow_runtime::prelude::*;

struct FulfilOrder {
    carrier: String,
}
#[flow(input = Vec<String>, max_attempts = 5, timeout = "30s")]
impl FulfilOrder {
    /// A parameter named `input` is the run's input.
    #[step]
    async fn reserve(&self, input: Vec<String>) -> Result<Vec<u32>, StepError> {
        Ok((1..).take(input.len()).collect())
    }
    /// One task for each element of what `reserve` returned.
    #[map(over = reserve)]
    async fn pick(&self, item: u32) -> Result<String, StepError> {
        Ok(format!("parcel {item}"))
    }
    /// A parameter named like a step is that step's output.
    #[step(max_attempts = 10)]
    async fn ship(&self, pick: Vec<String>) -> Result<String, StepError> {
        Ok(format!("{} parcels by {}", pick.len(), self.carrier))
    }
    #[step(blocking)]
    fn label(&self, ship: String) -> Result<usize, StepError> {
        Ok(ship.len())
    }
}
fn used_by_main() {
    let _ = FulfilOrder { carrier: String::new() };
}

pub(crate) fn main() {
    crate::run::run_handlers(FulfilOrder { carrier: String::new() });
}
