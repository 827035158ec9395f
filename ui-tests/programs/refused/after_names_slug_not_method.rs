use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "checked")]
    async fn check_it(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
    #[step(after(checked))] //~ step `reserve` depends on `checked`, but this flow has no step named `checked`; that is the slug of `check_it`, and steps are named by their methods: `check_it`
    async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
