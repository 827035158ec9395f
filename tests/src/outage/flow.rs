//! The flow of the load: every call of a handler is in the journal, with its begin and its end.

use std::time::Duration;

use flow_runtime::prelude::*;

use super::Journal;

/// Passes numbers on, doubles each, adds them up.
pub struct Journaled {
    /// Where the calls are written down.
    pub journal: Journal,
}

/// One call of a handler. Its end is written when this is dropped, so also when the handler is.
struct Call<'a> {
    journal: &'a Journal,
    name: String,
}

impl<'a> Call<'a> {
    fn begin(journal: &'a Journal, ctx: &StepContext) -> Self {
        let name =
            format!("{}\t{}\t{}\t{}\t{}", ctx.run_id(), ctx.step(), ctx.task_index(), ctx.attempt(), ctx.worker_id());
        journal.write("begin", &name);
        Self { journal, name }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.journal.write("end", &self.name);
    }
}

// Every attempt may be lost with its server, so that there are many.
#[flow(input = Vec<u32>, max_attempts = 1000, base_delay = "0s")]
impl Journaled {
    /// Passes the numbers on.
    #[step]
    async fn spread(&self, input: Vec<u32>, ctx: &StepContext) -> Result<Vec<u32>, StepError> {
        let _call = Call::begin(&self.journal, ctx);
        Ok(input)
    }

    /// Doubles one number, which takes a while: for one in forty so long that an outage begins and ends meanwhile.
    #[map(over = spread)]
    async fn double(&self, item: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let _call = Call::begin(&self.journal, ctx);
        let pause = if item.is_multiple_of(40) { 3_000 } else { item % 60 };
        tokio::time::sleep(Duration::from_millis(u64::from(pause))).await;
        Ok(2 * item)
    }

    /// Adds up.
    #[step]
    async fn sum(&self, double: Vec<u32>, ctx: &StepContext) -> Result<u32, StepError> {
        let _call = Call::begin(&self.journal, ctx);
        Ok(double.iter().sum())
    }
}

/// Gives its input back, which may be large.
pub struct Echo;

#[flow(input = String)]
impl Echo {
    /// Passes the text on.
    #[step]
    async fn only(&self, input: String) -> Result<String, StepError> {
        Ok(input)
    }
}
