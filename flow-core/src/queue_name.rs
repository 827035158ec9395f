//! The names of a flow's queues: one rule, usable in constants.

use std::fmt;

/// The longest name of a queue, in bytes.
pub const MAX_QUEUE_NAME: usize = 47;

/// A canonical name of a queue: ASCII, lower case, at most [`MAX_QUEUE_NAME`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueueName {
    bytes: [u8; MAX_QUEUE_NAME],
    length: usize,
}

/// Neither the readable name nor the name by index fits into [`MAX_QUEUE_NAME`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueNameTooLong {
    /// Bytes of the readable name.
    pub readable: usize,
    /// Bytes of the name by index; equal to `readable` where there is no such name.
    pub fallback: usize,
}

impl fmt::Display for QueueNameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { readable, fallback } = self;
        write!(f, "the readable queue name has {readable} bytes and the one by index {fallback}; ")?;
        write!(f, "at most {MAX_QUEUE_NAME} are allowed, so give the flow a shorter slug")
    }
}

impl std::error::Error for QueueNameTooLong {}

impl QueueName {
    /// Returns the queue name of a plain flow: the flow's slug in lower case.
    ///
    /// # Errors
    /// When the slug is over [`MAX_QUEUE_NAME`] bytes.
    pub const fn plain(flow_slug: &str) -> Result<Self, QueueNameTooLong> {
        let length = flow_slug.len();
        if length > MAX_QUEUE_NAME {
            return Err(QueueNameTooLong { readable: length, fallback: length });
        }
        Ok(Self::EMPTY.with(flow_slug))
    }

    /// Returns the name of a step's private queue, in a flow with step queues.
    ///
    /// The name is `flow__step` in lower case, or `flow__index` where `flow__step` has more than [`MAX_QUEUE_NAME`] bytes.
    ///
    /// # Errors
    /// When neither name fits into [`MAX_QUEUE_NAME`] bytes.
    pub const fn of_step(flow_slug: &str, step_slug: &str, index: usize) -> Result<Self, QueueNameTooLong> {
        let readable = flow_slug.len() + SEPARATOR.len() + step_slug.len();
        let fallback = flow_slug.len() + SEPARATOR.len() + count_digits(index);
        if readable <= MAX_QUEUE_NAME {
            Ok(Self::EMPTY.with(flow_slug).with(SEPARATOR).with(step_slug))
        } else if fallback <= MAX_QUEUE_NAME {
            Ok(Self::EMPTY.with(flow_slug).with(SEPARATOR).with_digits(index))
        } else {
            Err(QueueNameTooLong { readable, fallback })
        }
    }

    /// The name as text.
    pub const fn as_str(&self) -> &str {
        let (used, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(used) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    /// An empty name, with which arrays in constants are filled at first.
    #[doc(hidden)]
    pub const EMPTY: Self = Self { bytes: [0; MAX_QUEUE_NAME], length: 0 };

    /// Appends `text` in lower case; the caller has checked that it fits.
    const fn with(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut place = 0;
        while place < bytes.len() {
            self.bytes[self.length] = bytes[place].to_ascii_lowercase();
            self.length += 1;
            place += 1;
        }
        self
    }

    const fn with_digits(mut self, number: usize) -> Self {
        let digits = count_digits(number);
        let mut rest = number;
        let mut place = digits;
        while place > 0 {
            place -= 1;
            self.bytes[self.length + place] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.length += digits;
        self
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueName({})", self.as_str())
    }
}

/// Whether `name` is canonical and legal: 1 to [`MAX_QUEUE_NAME`] of `a-z`, `0-9` and `_`.
pub const fn is_queue_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut place = 0;
    while place < bytes.len() {
        if !matches!(bytes[place], b'a'..=b'z' | b'0'..=b'9' | b'_') {
            return false;
        }
        place += 1;
    }
    !bytes.is_empty() && bytes.len() <= MAX_QUEUE_NAME
}

const SEPARATOR: &str = "__";

const fn count_digits(number: usize) -> usize {
    let mut digits = 1;
    let mut rest = number / 10;
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_step(flow: usize, step: usize, index: usize) -> Result<String, QueueNameTooLong> {
        QueueName::of_step(&"F".repeat(flow), &"S".repeat(step), index).map(|name| name.to_string())
    }

    #[test]
    fn names_are_lower_case() {
        assert_eq!(QueueName::plain("MyFlow").map(|name| name.to_string()), Ok("myflow".to_owned()));
        assert_eq!(QueueName::of_step("Shop", "Ship", 3).map(|name| name.to_string()), Ok("shop__ship".to_owned()));
    }

    #[test]
    fn a_readable_name_over_47_falls_back_to_the_index() {
        assert_eq!(of_step(20, 25, 2), Ok(format!("{}__{}", "f".repeat(20), "s".repeat(25))));
        assert_eq!(of_step(20, 26, 2), Ok(format!("{}__2", "f".repeat(20))));
    }

    #[test]
    fn a_fallback_over_47_is_refused_with_both_lengths() {
        assert_eq!(of_step(44, 9, 9), Ok(format!("{}__9", "f".repeat(44))));
        assert_eq!(of_step(44, 9, 10), Err(QueueNameTooLong { readable: 55, fallback: 48 }));
        assert_eq!(of_step(45, 1, 0), Err(QueueNameTooLong { readable: 48, fallback: 48 }));
    }

    #[test]
    fn names_work_in_constants() {
        const NAME: QueueName = match QueueName::of_step("a", "b", 0) {
            Ok(name) => name,
            Err(_) => panic!("does not fit"),
        };
        const TEXT: &str = NAME.as_str();
        assert_eq!(TEXT, "a__b");
    }

    #[test]
    fn a_plain_queues_name_has_47_bytes_at_most() {
        let plain = |length: usize| QueueName::plain(&"f".repeat(length)).map(|name| name.as_str().len());
        assert_eq!((plain(1), plain(47)), (Ok(1), Ok(47)));
        assert_eq!(plain(48), Err(QueueNameTooLong { readable: 48, fallback: 48 }));
    }

    #[test]
    fn an_index_has_all_its_digits() {
        for (index, end) in [(0, "0"), (10, "10"), (12, "12"), (907, "907"), (1_234, "1234")] {
            assert_eq!(of_step(40, 50, index), Ok(format!("{}__{end}", "f".repeat(40))));
        }
    }

    #[test]
    fn what_does_not_fit_says_by_how_much() {
        let text = QueueNameTooLong { readable: 55, fallback: 48 }.to_string();
        let expected = "the readable queue name has 55 bytes and the one by index 48; \
                        at most 47 are allowed, so give the flow a shorter slug";
        assert_eq!(text, expected);
        assert_eq!(QueueName::plain("shop").map(|name| format!("{name:?}")), Ok("QueueName(shop)".to_owned()));
    }

    #[test]
    fn a_legal_name_is_1_to_47_of_a_few_letters() {
        let longest = "q".repeat(MAX_QUEUE_NAME);
        for name in ["a", "z", "0", "9", "_", "a_b__9", &longest] {
            assert!(is_queue_name(name), "{name}");
        }
        let too_long = "q".repeat(MAX_QUEUE_NAME + 1);
        for name in ["", "A", "aB", "a-", "-a", "a b", "é", "a.", &too_long] {
            assert!(!is_queue_name(name), "{name}");
        }
    }
}
