use flow_runtime::prelude::*;

struct Gen<T>(T);
#[flow(input = u32, slug = "gen_a")]
impl Gen<u8> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
#[flow(input = u32, slug = "gen_b")]
impl Gen<u16> { //~ the flows of `Gen<u8>` and `Gen<u16>` give the same names, as `GenStep`; say `names = …` on `#[flow]`
    #[step]
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
