//! The text and the place of a handler's panic.

use std::{any::Any, cell::RefCell, panic, sync::Once};

thread_local! {
    /// Where this thread panicked last. `catch_unwind` returns the text of a panic without its place, so the hook stores the place here.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs, once a process, a panic hook that stores the place of each panic and then calls the previous hook.
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

/// The text of a panic that this thread has just caught, with the panic's place where the hook has stored one.
pub(super) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    match PLACE.take() {
        Some(place) => format!("the handler panicked at {place}: {text}"),
        None => format!("the handler panicked: {text}"),
    }
}
