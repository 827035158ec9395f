//! A database a test, and waiting for what must come true.

mod database;
mod eventually;

pub use database::TestDb;
pub use eventually::eventually;
