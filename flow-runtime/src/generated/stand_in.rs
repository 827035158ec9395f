//! The body of generated functions that a mistake in the flow keeps from having code.

/// Stands in generated functions in place of code that a flow with mistakes cannot have. The compiler has reported the mistake by then.
/// Should a program come to use such a function nevertheless, it does not build, since evaluating the constant in it panics.
#[must_use]
pub fn stand_in<T>() -> T {
    stand_in_of::<T, T>()
}

/// As [`stand_in`], for a method of `Of` that is never called. The constant's type contains `Of`, because an optimising build evaluates a
/// constant whose type is known at once; this constant is evaluated only when a program builds the method for a concrete `Of`.
pub(super) fn stand_in_of<Of, T>() -> T {
    let never: (std::convert::Infallible, Of) = const {
        panic!(
            "a part of this flow was refused and still came to be compiled, which is a bug of flow; please report the block \
             under `#[flow]`"
        )
    };
    match never.0 {}
}
