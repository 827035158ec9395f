use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        let held = std::rc::Rc::new(input);
        std::future::ready(()).await; //~ future cannot be sent between threads safely
        Ok(*held)
    }
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        let held = std::cell::RefCell::new(a);
        let r = held.borrow_mut();
        std::future::ready(()).await; //~ future cannot be sent between threads safely
        Ok(*r)
    }
}

fn main() {}
