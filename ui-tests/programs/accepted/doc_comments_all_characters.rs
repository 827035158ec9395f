#![allow(clippy::doc_markdown)]

use flow_runtime::prelude::*;

struct Shop;

/// Ships "orders" \ {braces} %s — ünïcode 🚀 `code` <b>html</b> [Shop::a] */ //
#[flow(input = u32)]
impl Shop {
    /// "quoted" \n {} {{}} %d \u{1F600} 漢字
    /** block doc
     * with star */
    #[doc = "attr doc \" \\ "]
    #[doc(alias = "x")]
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[doc = concat!("made ", "of parts")]
    #[doc = concat!("a", " note")]
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(a)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
