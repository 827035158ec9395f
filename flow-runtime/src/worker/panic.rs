//! The text and the place of a handler's panic.

use std::{any::Any, cell::RefCell, panic, sync::Once};

thread_local! {
    /// Where this thread panicked last: whoever catches a panic knows its text only.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Remembers the place of each panic from now on, and then does as before. Once a process.
pub(super) fn remember_places() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PLACE.with_borrow_mut(|place| *place = info.location().map(ToString::to_string));
            before(info);
        }));
    });
}

/// The text of a panic that this thread has just caught, with its place where it is known.
pub(super) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    match PLACE.take() {
        Some(place) => format!("the handler panicked at {place}: {text}"),
        None => format!("the handler panicked: {text}"),
    }
}
