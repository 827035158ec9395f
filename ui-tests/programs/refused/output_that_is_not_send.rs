use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<std::rc::Rc<u32>, StepError> { Ok(std::rc::Rc::new(input)) } //~ `Rc<u32>` cannot travel as JSON
}

fn main() {}
