// D2, D18, D26
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, base_delay = "2s", slug = "Shop2")]
impl Shop {
    #[step(max_attempts = 7)]
    async fn attempts(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(timeout = "24h")]
    async fn timeout(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(
        max_attempts = 1_000,
        base_delay = "0s",
        max_delay = "365d",
        timeout = "1ms",
        start_delay = "300s",
        priority = 9
    )]
    async fn all(&self, attempts: u32) -> Result<u32, StepError> {
        Ok(attempts)
    }

    #[step(start_delay = "0s", priority = 1, when_exhausted = skip_cascade)]
    async fn none(&self, attempts: u32) -> Result<u32, StepError> {
        Ok(attempts)
    }
}

// D2, D26
#[test]
fn options_reach_the_definition() {
    use flow_runtime::definition::{Mode, StepOptions};
    let definition = Shop::definition();
    let none = StepOptions::default();
    assert_eq!((definition.shape.slug.as_str(), definition.options.base_delay_ms), ("Shop2", 2_000));
    let [attempts, timeout, all, delay] = &definition.options.steps[..] else { panic!("four steps") };
    assert_eq!(*attempts, StepOptions { max_attempts: Some(7), ..none.clone() });
    assert_eq!(*timeout, StepOptions { timeout_ms: Some(86_400_000), ..none.clone() });
    let expected = StepOptions {
        max_attempts: Some(1_000),
        base_delay_ms: Some(0),
        max_delay_ms: Some(31_536_000_000),
        timeout_ms: Some(1),
        start_delay_ms: Some(300_000),
        priority: Some(9),
    };
    assert_eq!(*all, expected);
    assert_eq!(*delay, StepOptions { start_delay_ms: Some(0), priority: Some(1), ..none });
    assert_eq!(definition.shape.steps[3].when_exhausted, Mode::SkipCascade);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
