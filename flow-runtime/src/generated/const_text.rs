//! A text that is put together in a constant, for an error of the compiler.

/// The text's capacity in bytes: enough for a message with the slugs of a flow and a step, each several times.
const CAPACITY: usize = 1024;

/// A text of at most [`CAPACITY`] bytes. Further bytes are cut off.
pub(super) struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Text {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    pub(super) const fn with(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut place = 0;
        while place < bytes.len() && self.length < CAPACITY {
            self.bytes[self.length] = bytes[place];
            self.length += 1;
            place += 1;
        }
        self
    }

    pub(super) const fn with_number(self, number: usize) -> Self {
        let text = if number >= 10 { self.with_number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match std::str::from_utf8(&digit) {
            Ok(digit) => text.with(digit),
            Err(_) => text,
        }
    }

    pub(super) const fn panic(self) -> ! {
        let (used, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(used) {
            Ok(text) => panic!("{}", text),
            // The text was cut off inside a character.
            Err(_) => panic!("this flow has no legal names of queues"),
        }
    }
}
