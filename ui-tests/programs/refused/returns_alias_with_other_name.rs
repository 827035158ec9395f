use flow_runtime::prelude::*;

struct Shop;

type Fallible<T> = std::result::Result<T, StepError>;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Fallible<u32> { Ok(input) } //~ step `reserve` returns `Result<T, E>`, not `Fallible<u32>`; if this is an alias of `Result`, call it `Result`
}

fn main() {}
