//! Every rule a definition keeps, and every mistake it can hold.

mod conditions;
mod errors;
mod graph;
mod numbers;
mod queues;
mod slugs;

pub use errors::{DefinitionError, DefinitionErrors, Owner, Role};

use crate::definition::FlowDefinition;

impl FlowDefinition {
    /// Checks every rule that needs no types and no database.
    ///
    /// # Errors
    /// Every mistake, at once.
    pub fn validate(&self) -> Result<(), DefinitionErrors> {
        let mut mistakes = Vec::new();
        slugs::check(&self.shape, &mut mistakes);
        graph::check(&self.shape, &mut mistakes);
        conditions::check(&self.shape, &mut mistakes);
        numbers::check(self, &mut mistakes);
        queues::check(&self.shape, &mut mistakes);
        match DefinitionErrors::collect(&self.shape.slug, mistakes) {
            Some(errors) => Err(errors),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
