#[allow(dead_code)]
mod shadow {
    use flow_runtime::StepError;
    use flow_runtime::prelude::flow;
    pub struct Vec;
    pub struct String;
    pub struct Option;
    pub struct Box;
    pub struct Arc;
    pub struct Some;
    pub struct None;
    pub struct Shop2;
    mod std {}
    mod core {}
    mod serde {}
    mod flow_core {}
    pub type Result<T, E> = ::std::result::Result<T, E>;
    #[flow(input = u32)]
    impl Shop2 {
        #[step]
        async fn a(&self, input: u32) -> Result<u32, StepError> {
            ::std::future::ready(()).await;
            Ok(input)
        }
        #[map(over = c)]
        async fn b(&self, item: u32) -> Result<u32, StepError> {
            ::std::future::ready(()).await;
            Ok(item)
        }
        #[step(when_exhausted = skip)]
        async fn c(&self, a: u32) -> Result<::std::vec::Vec<u32>, StepError> {
            ::std::future::ready(()).await;
            Ok(vec![a])
        }
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(shadow::Shop2);
}
