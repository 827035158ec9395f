use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[cfg(test)]
    fn only_in_tests(&self) -> u32 {
        1
    }
    #[cfg(not(test))]
    fn helper(&self, n: u32) -> u32 {
        let Self = self;
        n
    }
    #[cfg(test)]
    fn helper(&self, n: u32) -> u32 {
        n + self.only_in_tests()
    }
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(self.helper(input))
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
