//! The embedded Postgres, with real processes: joining, leaving, being killed, and what is refused.

mod account;
mod lifetime;
mod private;
mod refusals;
mod shared;
pub(crate) mod user;
