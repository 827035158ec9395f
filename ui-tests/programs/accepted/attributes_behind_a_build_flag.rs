use flow_runtime::prelude::*;

/// S.
pub struct Shop;
#[doc = concat!("A ", "flow")]
#[flow(input = u32)]
impl Shop {
    /** Block doc
     with `code` and "quotes" \u{1F600}.
    */
    #[step]
    #[cfg_attr(test, allow(unused))]
    #[must_use = "x"]
    #[inline]
    pub(crate) async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(Self::help(input))
    }
    #[cfg(unix)]
    fn help(x: u32) -> u32 {
        x
    }
    #[cfg(not(unix))]
    fn help(x: u32) -> u32 {
        x + 1
    }
}
pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
