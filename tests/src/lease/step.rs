//! The steps from one state: each with the name of its action and the state that it leads to.

use std::fmt;

use super::{
    rule::{Fault, Rule, Setup, Violation},
    world::World,
};

/// What happens in a step, and to whom: workers, programs and processes by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) name: &'static str,
    pub(super) whom: &'static str,
    pub(super) which: usize,
}

/// One step.
pub(super) struct Step {
    pub(super) action: Action,
    /// No history needs this step to come to its end.
    pub(super) is_fault: bool,
    pub(super) leads_to: Result<World, Violation>,
}

/// Collects the steps from one state.
pub(super) struct Steps<'a> {
    pub(super) setup: &'a Setup,
    pub(super) world: &'a World,
    pub(super) found: Vec<Step>,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} {})", self.name, self.whom, self.which)
    }
}

/// Every step from a state.
pub(super) fn steps(setup: &Setup, world: &World) -> Vec<Step> {
    if world.is_over() {
        return Vec::new();
    }
    let mut steps = Steps { setup, world, found: Vec::new() };
    for worker in 0..world.workers.len() {
        steps.of_worker(worker);
        steps.of_exchanges(worker);
        steps.of_starter(worker);
        steps.of_starts(worker);
    }
    for program in 0..world.programs.len() {
        steps.of_heartbeat(program);
        steps.of_recovery(program);
        steps.of_environment(program);
    }
    steps.of_runs();
    steps.start_elsewhere();
    let mut found = steps.found;
    for step in &mut found {
        if let Ok(world) = &mut step.leads_to {
            if world.all_work_has_ended() {
                // What goes wrong then harms no work.
                world.budget = Default::default();
            }
            world.number_anew();
            if let Err(violation) = world.check(setup) {
                step.leads_to = Err(violation);
            }
        }
    }
    found
}

impl Steps<'_> {
    pub(super) fn holds(&self, rule: Rule) -> bool {
        self.setup.holds(rule)
    }

    pub(super) fn by_worker(&mut self, name: &'static str, which: usize, world: World) {
        self.add(Action { name, whom: "worker", which }, false, Ok(world));
    }

    pub(super) fn by_program(&mut self, name: &'static str, which: usize, world: World) {
        self.add(Action { name, whom: "program", which }, false, Ok(world));
    }

    pub(super) fn breaks(&mut self, name: &'static str, whom: &'static str, which: usize, violation: Violation) {
        self.add(Action { name, whom, which }, false, Err(violation));
    }

    /// A step that the environment takes a limited number of times.
    pub(super) fn by_fault(
        &mut self,
        name: &'static str,
        whom: &'static str,
        which: usize,
        fault: Fault,
        world: World,
    ) {
        let mut world = world;
        world.spend(fault);
        self.add(Action { name, whom, which }, true, Ok(world));
    }

    pub(super) fn add(&mut self, action: Action, is_fault: bool, leads_to: Result<World, Violation>) {
        self.found.push(Step { action, is_fault, leads_to });
    }
}
