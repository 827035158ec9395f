use flow_runtime::prelude::*;

macro_rules! mk {
    ($($t:ty => $n:ident : $m:ident),*) => { $( struct $n; #[flow(input = Vec<$t>)] impl $n { #[map(over = input)] async fn $m(&self, item: $t) -> Result<$t, StepError> { std::future::ready(()).await; Ok(item) } #[step] async fn z(&self, $m: Vec<$t>) -> Result<Vec<$t>, StepError> { std::future::ready(()).await; Ok($m) } } )* };
}
mk!(u32 => A1: go, Option<String> => A2: go, (u8, u8) => A3: run_it);

pub(crate) fn main() {
    crate::run::run_handlers(A1);
    crate::run::run_handlers(A2);
    crate::run::run_handlers(A3);
}
