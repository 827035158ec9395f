use flow_runtime::prelude::*;

struct Shop;

use std::borrow::Cow;
type Text = Cow<'static, str>;
#[flow(input = Text)]
impl Shop {
    #[step]
    async fn a(&self, input: Text) -> Result<Text, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn b(&self, a: Cow<'static, str>) -> Result<String, StepError> {
        std::future::ready(()).await;
        Ok(a.into_owned())
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
