use flow_runtime::prelude::*;

macro_rules! mk { ($n:ident, $s:ident, $v:vis) => { struct $n; #[flow(input = u32)] impl $n {
  #[step] $v async fn $s(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
  #[step(after($s))] $v async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) } } } }
mk!(C4, first, pub);

pub(crate) fn main() {
    crate::run::run_handlers(C4);
}
