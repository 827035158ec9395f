// T24
use flow_runtime::prelude::*;

struct Shop {
    count: std::sync::Mutex<u32>,
}

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        let mut held = self.count.lock().map_err(|error| error.to_string())?;
        std::future::ready(()).await;
        *held += input;
        Ok(*held)
    }
}

fn main() {
    let _ = Shop { count: Default::default() };
}
