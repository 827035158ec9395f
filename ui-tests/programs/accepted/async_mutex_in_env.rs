use flow_runtime::prelude::*;

struct Locked {
    n: tokio::sync::Mutex<u32>,
    m: std::sync::Mutex<u32>,
}
#[flow(input = u32)]
impl Locked {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        let mut g = self.n.lock().await;
        *g += input;
        {
            let mut m = self.m.lock().unwrap();
            *m += 1;
        }
        std::future::ready(()).await;
        Ok(*g)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Locked { n: tokio::sync::Mutex::new(1), m: std::sync::Mutex::new(1) });
}
