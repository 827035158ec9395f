//! The search: every state that can be reached, the nearest first, and from which of them everything can still come to its end.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    hash::{BuildHasherDefault, Hash, Hasher},
};

use super::{
    rule::{Setup, Violation},
    step::steps,
    world::World,
};

/// What a search has found.
#[derive(Debug)]
pub struct Outcome {
    /// How many states were visited.
    pub states: usize,
    /// How many steps lead from one to another.
    pub steps: usize,
    /// Whether every state that can be reached was visited.
    pub is_whole: bool,
    /// What went wrong, with one of the shortest ways there.
    pub found: Option<Found>,
}

/// A broken property.
#[derive(Debug)]
pub struct Found {
    /// What went wrong.
    pub violation: Violation,
    /// The actions that lead to it from the first state.
    pub way: Vec<String>,
}

/// How a state was reached first: from which one, and by which of its steps.
#[derive(Clone, Copy)]
struct Origin {
    from: u32,
    step: u16,
}

/// Searches until something is broken, or everything was seen.
pub fn search(setup: &Setup) -> Outcome {
    let mut first = World::first(setup);
    first.number_anew();
    let mut seen: HashMap<u128, u32, BuildHasherDefault<Short>> = HashMap::default();
    seen.insert(fingerprint(&first), 0);
    let mut origins = vec![Origin { from: 0, step: 0 }];
    let mut settled = vec![first.is_settled()];
    let mut back: Vec<(u32, u32)> = Vec::new();
    let mut waiting = VecDeque::from([(0_u32, first)]);
    let (mut count, mut is_whole) = (0, true);
    while let Some((id, world)) = waiting.pop_front() {
        for (place, step) in (0_u16..).zip(steps(setup, &world)) {
            count += 1;
            let next = match step.leads_to {
                Ok(next) => next,
                Err(violation) => {
                    let way = way(setup, &origins, id, Some(place));
                    let found = Some(Found { violation, way });
                    return Outcome { states: origins.len(), steps: count, is_whole: false, found };
                }
            };
            let to = match seen.entry(fingerprint(&next)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(_) if origins.len() >= setup.most_states => {
                    is_whole = false;
                    continue;
                }
                Entry::Vacant(new) => {
                    let to = origins.len() as u32;
                    new.insert(to);
                    origins.push(Origin { from: id, step: place });
                    settled.push(next.is_settled());
                    waiting.push_back((to, next));
                    to
                }
            };
            if !step.is_fault && to != id {
                back.push((to, id));
            }
        }
    }
    let stuck = if is_whole { first_stuck(settled, back) } else { None };
    let found = stuck.map(|id| Found { violation: Violation::Stuck, way: way(setup, &origins, id, None) });
    Outcome { states: origins.len(), steps: count, is_whole, found }
}

/// The first state from which no way without faults leads to one in which everything has ended.
fn first_stuck(mut can_end: Vec<bool>, mut back: Vec<(u32, u32)>) -> Option<u32> {
    back.sort_unstable();
    let mut open: Vec<u32> = (0..).zip(&can_end).filter(|(_, can)| **can).map(|(id, _)| id).collect();
    while let Some(to) = open.pop() {
        let begin = back.partition_point(|(target, _)| *target < to);
        for (_, from) in back[begin..].iter().take_while(|(target, _)| *target == to) {
            if !std::mem::replace(&mut can_end[*from as usize], true) {
                open.push(*from);
            }
        }
    }
    (0..).zip(&can_end).find(|(_, can)| !**can).map(|(id, _)| id)
}

/// The names of the actions on the way to a state, and of one more step.
fn way(setup: &Setup, origins: &[Origin], id: u32, last: Option<u16>) -> Vec<String> {
    let mut path: Vec<u16> = last.into_iter().collect();
    let mut at = id;
    while at != 0 {
        let origin = origins[at as usize];
        path.push(origin.step);
        at = origin.from;
    }
    let mut world = World::first(setup);
    world.number_anew();
    let mut names = Vec::new();
    for place in path.into_iter().rev() {
        let step = steps(setup, &world).swap_remove(usize::from(place));
        names.push(step.action.to_string());
        match step.leads_to {
            Ok(next) => world = next,
            Err(_) => break,
        }
    }
    names
}

/// 128 bits that stand for a state: two states with the same ones are very unlikely among the millions that are visited.
fn fingerprint(world: &World) -> u128 {
    let mut hasher = Print(0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f);
    world.hash(&mut hasher);
    u128::from(hasher.0) << 64 | u128::from(hasher.1)
}

/// Two multiplications a value.
struct Print(u64, u64);

impl Hasher for Print {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u8(*byte));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 ^= self.0 >> 32;
        self.1 = (self.1.rotate_left(23) ^ value).wrapping_mul(0x9fb2_1c65_1e98_df25);
        self.1 ^= self.1 >> 29;
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A fingerprint is its own hash.
#[derive(Default)]
struct Short(u64);

impl Hasher for Short {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().rev().fold(0, |hash, byte| hash << 8 | u64::from(*byte));
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
