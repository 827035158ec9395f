//! The step order and the cycles of a graph.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Computes the step order: at each place stands the earliest declared step whose dependencies all stand before that place.
///
/// `dependencies[i]` lists, by index of declaration, the steps for which step `i` waits. The result lists indices of
/// declaration. The cost grows linearly with steps plus edges, but for a factor of log steps.
///
/// # Errors
/// Every step that depends on itself, and at least one of the cycles that keep other steps from being placed.
pub fn step_order(dependencies: &[Vec<usize>]) -> Result<Vec<usize>, Vec<Cycle>> {
    let mut open: Vec<usize> = dependencies.iter().map(Vec::len).collect();
    let dependents = reversed(dependencies);
    let mut ready: BinaryHeap<Reverse<usize>> =
        open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(step, _)| Reverse(step)).collect();
    let mut order = Vec::with_capacity(dependencies.len());
    while let Some(Reverse(step)) = ready.pop() {
        order.push(step);
        for &dependent in &dependents[step] {
            open[dependent] -= 1;
            if open[dependent] == 0 {
                ready.push(Reverse(dependent));
            }
        }
    }
    if order.len() == dependencies.len() { Ok(order) } else { Err(find_cycles(dependencies, &open)) }
}

/// A cycle: steps of which each waits for the next, and the last for the first; by index of declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(Vec<usize>);

impl Cycle {
    /// The steps, each once, beginning with the earliest declared.
    pub fn steps(&self) -> &[usize] {
        &self.0
    }

    /// The cycle as text with the names that `name_of` gives: `a -> b -> a`, where `a` needs `b`.
    pub fn describe<'a>(&self, name_of: impl Fn(usize) -> &'a str) -> String {
        let names: Vec<&str> = self.0.iter().chain(self.0.first()).map(|&step| name_of(step)).collect();
        names.join(" -> ")
    }

    fn from_path(path: &[usize]) -> Self {
        let first = path.iter().enumerate().min_by_key(|(_, step)| **step).map_or(0, |(place, _)| place);
        Self(path[first..].iter().chain(&path[..first]).copied().collect())
    }
}

fn reversed(dependencies: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); dependencies.len()];
    for (step, needs) in dependencies.iter().enumerate() {
        for &needed in needs {
            dependents[needed].push(step);
        }
    }
    dependents
}

/// Finds the steps that depend on themselves, and the cycles of open steps: every open step waits for another open
/// step, so following open dependencies ends in a cycle.
fn find_cycles(dependencies: &[Vec<usize>], open: &[usize]) -> Vec<Cycle> {
    let mut cycles = Vec::new();
    let mut seen = vec![false; dependencies.len()];
    for start in 0..dependencies.len() {
        let needs_itself = dependencies[start].contains(&start);
        if needs_itself {
            cycles.push(Cycle(vec![start]));
        }
        let mut path = Vec::new();
        let mut next = (open[start] > 0).then_some(start);
        while let Some(step) = next.filter(|step| !seen[*step]) {
            seen[step] = true;
            path.push(step);
            next = dependencies[step].iter().copied().find(|needed| *needed != step && open[*needed] > 0);
        }
        if let Some(place) = next.and_then(|step| path.iter().position(|passed| *passed == step)) {
            cycles.push(Cycle::from_path(&path[place..]));
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(dependencies: &[&[usize]]) -> Result<Vec<usize>, Vec<Vec<usize>>> {
        let dependencies: Vec<Vec<usize>> = dependencies.iter().map(|needs| needs.to_vec()).collect();
        step_order(&dependencies).map_err(|cycles| cycles.into_iter().map(|cycle| cycle.0).collect())
    }

    // D12
    #[test]
    fn the_earliest_declared_ready_step_comes_next() {
        assert_eq!(order(&[&[1], &[], &[]]), Ok(vec![1, 0, 2]));
        assert_eq!(order(&[&[], &[], &[]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[&[2, 3], &[], &[], &[1]]), Ok(vec![1, 2, 3, 0]));
    }

    // D10
    #[test]
    fn cycles_are_listed_in_order() {
        assert_eq!(order(&[&[0]]), Err(vec![vec![0]]));
        assert_eq!(order(&[&[1], &[0]]), Err(vec![vec![0, 1]]));
        assert_eq!(order(&[&[4], &[0], &[1], &[2], &[3]]), Err(vec![vec![0, 4, 3, 2, 1]]));
    }

    // D10
    #[test]
    fn every_separate_cycle_is_found_once() {
        assert_eq!(order(&[&[1], &[0], &[0], &[4], &[3], &[5, 3]]), Err(vec![vec![0, 1], vec![3, 4], vec![5]]));
    }

    #[test]
    fn a_cycle_reads_as_needs() {
        assert_eq!(Cycle(vec![0, 1]).describe(|step| ["a", "b"][step]), "a -> b -> a");
    }

    // D10
    #[test]
    fn a_cycle_is_found_past_dependencies_that_are_placed() {
        assert_eq!(order(&[&[2, 1], &[0], &[]]), Err(vec![vec![0, 1]]));
        assert_eq!(order(&[&[], &[0, 2], &[0, 3], &[0, 1]]), Err(vec![vec![1, 2, 3]]));
    }
}
