use flow_runtime::prelude::*;

struct Shop;

struct Line;
#[flow(input = Vec<Line>)] //~ `Vec<Line>` cannot travel as JSON
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: Line) -> Result<u32, StepError> { Ok(1) }
}

fn main() {}
