use serde::Deserialize;
use flow_runtime::prelude::*;

struct Shop;

struct Line(u32);
struct Lines(Vec<Line>);
impl serde::Serialize for Lines { fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.collect_seq(self.0.iter().map(|l| l.0)) } }
impl<'de> serde::Deserialize<'de> for Lines { fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> { Ok(Lines(Vec::<u32>::deserialize(d)?.into_iter().map(Line).collect())) } }
impl flow_runtime::FlowList for Lines { type Item = Line; }
#[flow(input = Lines, input_schema = any)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: Line) -> Result<u32, StepError> { Ok(item.0) } //~ the elements of this list cannot be read from JSON, since `Line` does not implement `serde::Deserialize`
    #[map(over = input)]
    async fn b(&self, item: String) -> Result<u32, StepError> { Ok(1) } //~ this map runs over a list of `Line`, so its `item` is `Line`, not `String`
}

fn main() {}
