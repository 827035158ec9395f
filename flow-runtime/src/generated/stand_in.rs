//! What stands where a flow with mistakes would have code.

/// Stands where a flow with mistakes would have code. The compiler has reported the mistake; a program that got here
/// nevertheless does not build, since the constant in this function cannot be computed.
#[must_use]
pub fn stand_in<T>() -> T {
    stand_in_of::<T, T>()
}

/// As [`stand_in`], in a method of `Of` that is never called. The constant's type holds `Of`, so that nobody computes it before a program builds
/// that method for a type of its own: an optimising build computes at once whatever has a known size.
pub(super) fn stand_in_of<Of, T>() -> T {
    let never: (std::convert::Infallible, Of) = const {
        panic!(
            "a part of this flow was refused and still came to be compiled, which is a bug of flow; please report the block \
             under `#[flow]`"
        )
    };
    match never.0 {}
}
