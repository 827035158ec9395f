use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Json<T>(T);
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, Json(input): Json<u32>) -> Result<u32, StepError> { Ok(input) } //~ a parameter is named like the step it takes; say which with `#[from(step)]` before a pattern
}

fn main() {}
