use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use flow_runtime::prelude::*;

async fn run_it(url: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    struct L;
    #[flow(input = u32)]
    impl L {
        #[step]
        async fn a(&self, input: u32) -> Result<u32, StepError> {
            std::future::ready(()).await;
            Ok(input)
        }
    }
    crate::run::run_handlers(L);
    let Some(url) = url else { return Ok(()) };
    let db = Db::new(url)?;
    let worker = Worker::builder(&db).flow(L).build()?.start().await?;
    let run = Client::new(&db).start::<L>(&3).await?;
    let out = run.wait().await?;
    println!("{} {out:?}", out.a);
    worker.shutdown().await?;
    Ok(())
}

pub(crate) fn main() {
    // Without a database it gets as far as its handlers, and by hand, since those bring a runtime of their own.
    let ended = pin!(run_it(None)).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(ended, Poll::Ready(Ok(()))));
}
