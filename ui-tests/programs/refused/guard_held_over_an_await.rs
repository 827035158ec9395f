use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        let lock = std::sync::Mutex::new(input);
        let held = lock.lock().unwrap();
        std::future::ready(()).await; //~ future cannot be sent between threads safely
        Ok(*held)
    }
}

fn main() {}
