use flow_runtime::prelude::*;

struct Shop;

struct Held<'a, R>(&'a R);
#[flow(input = u32)]
impl<'a, R: Send + Sync + 'static> Held<'a, R> { //~ a flow owns what its handlers need
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
fn main() { let _ = Held::<u8>::check(); }
