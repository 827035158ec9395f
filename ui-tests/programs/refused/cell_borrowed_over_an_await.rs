use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        let cell = std::cell::RefCell::new(input);
        let held = cell.borrow();
        std::future::ready(()).await; //~ what `borrow()` or `borrow_mut()` returned is held across an `.await`
        Ok(*held)
    }
}

fn main() {}
