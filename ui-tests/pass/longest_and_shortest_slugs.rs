// D5, D7
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "fffffffffffffffffffffffffffffffffffffffffffffff")]
impl Shop {
    #[step(
        slug = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        variant = Longest
    )]
    async fn longest(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step(slug = "Step2")]
    async fn second(&self, a: u32) -> Result<u32, StepError> {
        Ok(a)
    }

    #[step(slug = "myFlow")]
    async fn third(&self, a: u32) -> Result<u32, StepError> {
        Ok(a)
    }
}

// D5, D7
#[test]
fn they_are_kept_as_written() {
    let lengths: Vec<usize> = ShopStep::ALL.iter().map(|step| step.as_str().len()).collect();
    assert_eq!((Shop::SLUG.len(), lengths), (47, vec![128, 1, 5, 6]));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
