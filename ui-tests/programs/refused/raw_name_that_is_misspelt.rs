use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn r#type(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step]
    async fn b(&self, r#typ: u32) -> Result<u32, StepError> { Ok(r#typ) } //~ did you mean `type`?
}

fn main() {}
