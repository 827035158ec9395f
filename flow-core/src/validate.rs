//! The rules of a definition, and the mistakes that breaking them makes.

mod conditions;
mod errors;
mod graph;
mod numbers;
mod queues;
mod schemas;
mod slugs;

pub use errors::{DefinitionError, DefinitionErrors, DependencyRole, Owner};

use crate::definition::FlowDefinition;

impl FlowDefinition {
    /// Checks every rule that needs no types and no database.
    ///
    /// # Errors
    /// Every mistake, at once.
    pub fn validate(&self) -> Result<(), DefinitionErrors> {
        self.collected(self.mistakes())
    }

    /// Checks every rule that needs no database: the rules of [`FlowDefinition::validate`], and that the types of its
    /// subject can meet each condition.
    ///
    /// # Errors
    /// Every mistake, at once.
    pub fn check(&self) -> Result<(), DefinitionErrors> {
        let mut mistakes = self.mistakes();
        if mistakes.is_empty() {
            schemas::check(self, &mut mistakes);
        }
        self.collected(mistakes)
    }

    fn mistakes(&self) -> Vec<DefinitionError> {
        let mut mistakes = Vec::new();
        slugs::check(&self.shape, &mut mistakes);
        graph::check(&self.shape, &mut mistakes);
        conditions::check(&self.shape, &mut mistakes);
        numbers::check(self, &mut mistakes);
        queues::check(&self.shape, &mut mistakes);
        mistakes
    }

    fn collected(&self, mistakes: Vec<DefinitionError>) -> Result<(), DefinitionErrors> {
        match DefinitionErrors::collect(&self.shape.slug, mistakes) {
            Some(errors) => Err(errors),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
