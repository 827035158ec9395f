//! What the behaviour tests share.
