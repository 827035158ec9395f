use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let Some(n) = input.checked_add(1) else { return Err("overflow").permanent() };
        tokio::select! {
            () = ctx.cancelled() => Err("cancelled".into()),
            () = tokio::time::sleep(std::time::Duration::from_millis(1)) => Ok(n),
        }
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
