//! Compares two JSON Schemas: can a type with the one read the values that a type with the other writes?

mod schema;

use serde_json::Value;

use schema::{Alternative, Schema};

/// Lists why a type with schema `reader` cannot read every value that a type with schema `writer` writes; empty when the type can.
///
/// Follows serde: a reader skips unknown fields, unless its type denies them, and needs the fields that it requires. A
/// difference that cannot be decided, such as in a pattern or format, counts as a reason unless both schemas state the
/// same rule.
#[must_use]
pub fn reasons_against_reading(reader: &Value, writer: &Value) -> Vec<String> {
    let mut comparison = Comparison::default();
    comparison.compare(Schema::root(reader), Schema::root(writer), "");
    comparison.reasons
}

/// Walks through two schemas side by side and collects the reasons.
#[derive(Default)]
struct Comparison<'a> {
    reasons: Vec<String>,
    /// Pairs of schemas that are being compared further up: meeting one of them again ends the walk through a recursive type.
    open: Vec<(&'a Value, &'a Value)>,
}

impl<'a> Comparison<'a> {
    fn compare(&mut self, reader: Schema<'a>, writer: Schema<'a>, path: &str) {
        let is_open =
            |pair: &&(&Value, &Value)| std::ptr::eq(pair.0, reader.here()) && std::ptr::eq(pair.1, writer.here());
        if self.open.iter().any(|pair| is_open(&pair)) {
            return;
        }
        self.open.push((reader.here(), writer.here()));
        let readers = reader.alternatives();
        for written in writer.alternatives() {
            self.compare_with_any(&readers, &written, path);
        }
        self.open.pop();
    }

    /// Checks that some form of the reader can read the form `written`; when none can, reports the reasons of the most similar form.
    fn compare_with_any(&mut self, readers: &[Alternative<'a>], written: &Alternative<'a>, path: &str) {
        let mut nearest: Option<Vec<String>> = None;
        for reader in readers {
            let mut attempt = Comparison { reasons: Vec::new(), open: self.open.clone() };
            attempt.compare_form(reader, written, path);
            if attempt.reasons.is_empty() {
                return;
            }
            let is_same_kind = reader.kind() == written.kind();
            if nearest.is_none() || is_same_kind {
                nearest = Some(attempt.reasons);
            }
        }
        self.reasons.extend(nearest.unwrap_or_default());
    }

    fn compare_form(&mut self, reader: &Alternative<'a>, writer: &Alternative<'a>, path: &str) {
        if reader.takes_anything() || reader.is_same_as(writer) {
            return;
        }
        if let Some(allowed) = reader.values() {
            let missing = writer.values().is_none_or(|written| written.iter().any(|value| !allowed.contains(value)));
            return self.add_if(missing, path, "may hold values that are not listed any more");
        }
        match (reader.kind(), writer.kind()) {
            ("number", "integer") => {}
            (wanted, found) if wanted != found => {
                return self.add(path, &format!("is {found}, and {wanted} is expected"));
            }
            ("integer", _) => {
                let (wanted, found) = (reader.range(), writer.range());
                self.add_if(found.0 < wanted.0 || found.1 > wanted.1, path, "may be a number out of range");
            }
            ("object", _) => self.compare_fields(reader, writer, path),
            ("array", _) => self.compare_elements(reader, writer, path),
            _ => {}
        }
        self.add_if(!reader.has_rules_of(writer), path, "follows other rules (format, pattern, length)");
    }

    fn compare_fields(&mut self, reader: &Alternative<'a>, writer: &Alternative<'a>, path: &str) {
        for name in reader.required() {
            let is_missing = !writer.required().contains(&name);
            self.add_if(is_missing, &format!("{path}/{name}"), "is not always there, and is required");
        }
        for (name, field) in writer.fields() {
            let place = format!("{path}/{name}");
            match (reader.field(name), reader.other_fields()) {
                (Some(known), _) | (None, Some(known)) => self.compare(known, field, &place),
                (None, None) => self.add_if(reader.denies_unknown_fields(), &place, "is not known, and is denied"),
            }
        }
        if let Some(others) = writer.other_fields() {
            for (name, known) in reader.fields() {
                if writer.field(name).is_none() {
                    self.compare(known, others, &format!("{path}/{name}"));
                }
            }
            match reader.other_fields() {
                Some(known) => self.compare(known, others, &format!("{path}/*")),
                None => self.add_if(reader.denies_unknown_fields(), path, "may have any keys, and they are denied"),
            }
        }
    }

    fn compare_elements(&mut self, reader: &Alternative<'a>, writer: &Alternative<'a>, path: &str) {
        let (wanted, found) = (reader.length(), writer.length());
        self.add_if(found.0 < wanted.0 || found.1 > wanted.1, path, "may have another number of elements");
        let places = reader.places().max(writer.places());
        for at in 0..places {
            if let (Some(known), Some(element)) = (reader.element(at), writer.element(at)) {
                self.compare(known, element, &format!("{path}/{at}"));
            }
        }
        if let (Some(known), Some(element)) = (reader.further_elements(), writer.further_elements()) {
            self.compare(known, element, &format!("{path}/*"));
        }
    }

    fn add_if(&mut self, is_so: bool, path: &str, reason: &str) {
        if is_so {
            self.add(path, reason);
        }
    }

    fn add(&mut self, path: &str, reason: &str) {
        let place = if path.is_empty() { "/" } else { path };
        self.reasons.push(format!("{place} {reason}"));
    }
}

#[cfg(test)]
mod tests;
