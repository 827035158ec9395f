// T20
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    const LIMIT: u32 = { 3 };

    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(self.cap(input).min(Self::twice(Self::LIMIT)))
    }

    fn cap(&self, number: u32) -> u32 {
        number.min(Self::LIMIT)
    }

    /// Doubles.
    #[must_use]
    pub(crate) fn twice(number: u32) -> u32 {
        number * 2
    }

    async fn helper<T: Into<u32>>(&self, number: T) -> u32 {
        number.into()
    }
}

impl Shop {
    fn beside(&self) -> u32 {
        self.cap(1)
    }
}

// T20
#[tokio::test]
async fn methods_stay_callable() {
    assert_eq!((Shop.reserve(9).await, Shop.helper(4_u8).await, Shop.beside()), (Ok(3), 4, 1));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
