//! Flows of every visibility in a program: no lint finds anything in what the macros write.

#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    rust_2018_idioms,
    clippy::all,
    clippy::pedantic
)]
#![forbid(unsafe_code)]

use engine::{prelude::*, with_step_queues};
use flow_ui_strict::{Order, all_are_right};

struct Kiosk;

#[flow(input = Order)]
impl Kiosk {
    #[step]
    async fn sell(&self, input: Order) -> Result<Order, std::io::Error> {
        std::future::ready(self).await;
        Ok(input)
    }

    #[step(run_if = { "sell": { "gift": true } })]
    async fn wrap(&self, #[from(sell)] sold: Order) -> Result<Order, String> {
        std::future::ready(self).await;
        Ok(sold)
    }
}

with_step_queues!(KioskQueues for Kiosk);

pub(crate) mod stand {
    use engine::prelude::*;

    pub(crate) struct Stand;

    #[flow(input = String)]
    impl Stand {
        #[step]
        async fn sell(&self, input: String) -> Result<String, StepError> {
            std::future::ready(self).await;
            Ok(input)
        }
    }
}

fn main() {
    let _ = KioskQueues::new(Kiosk);
    let are_right = all_are_right() && Kiosk::check().is_ok() && stand::Stand::check().is_ok();
    println!("{}", if are_right { "every flow is right" } else { "a flow has mistakes" });
}

#[cfg(test)]
mod tests {
    // T27
    #[test]
    fn flows_of_a_program_are_right() {
        super::main();
    }
}
