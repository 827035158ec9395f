//! The lease protocol as a model: no order of calls, lost replies, crashes and ended leases breaks it, and each of its rules is needed.
//!
//! `FLOW_PROTOCOL_STATES` gives the searches that find nothing so many states each, and adds larger ones, best with `--release`.

use flow_tests::lease::{
    Fault::{self, Cancel, Crash, Drain, Fail, Freeze, GiveUp, Late, Locked, Lose, Outage, Over, Prune, Unread},
    Outcome, Rule, Setup, Violation, search,
};

/// How many states a search visits at most, unless `FLOW_PROTOCOL_STATES` says otherwise.
const STATES: usize = 80_000;

fn asked_for() -> Option<usize> {
    std::env::var("FLOW_PROTOCOL_STATES").ok().and_then(|count| count.parse().ok())
}

/// The search finds nothing; says how much it has seen.
fn holds(name: &str, mut setup: Setup) -> Outcome {
    setup.most_states = asked_for().unwrap_or(STATES);
    let begun = std::time::Instant::now();
    let outcome = search(&setup);
    if let Some(found) = &outcome.found {
        panic!("{name}: {:?}, by\n  {}\n{setup:?}", found.violation, found.way.join("\n  "));
    }
    let extent = if outcome.is_whole { "all" } else { "the nearest" };
    println!("{name}: {extent} {} states, {} steps, {:?}", outcome.states, outcome.steps, begun.elapsed());
    outcome
}

/// Without the rules the search finds what they are for.
fn is_needed(rules: &[Rule], expected: Violation, setup: Setup) {
    let begun = std::time::Instant::now();
    let outcome = search(&setup.without(rules));
    let found =
        outcome.found.unwrap_or_else(|| panic!("nothing is broken without {rules:?}: {} states", outcome.states));
    assert_eq!(found.violation, expected, "without {rules:?}, by\n  {}", found.way.join("\n  "));
    println!("{rules:?}: {expected:?} in {} steps, {} states, {:?}", found.way.len(), outcome.states, begun.elapsed());
}

fn setup(work: usize, programs: &[usize], faults: &[(Fault, u8)]) -> Setup {
    Setup::new(work, programs, faults)
}

/// Exchanges that claim one piece each, and hands that are folded at so many rows.
fn one_by_one(work: usize, fold_at: usize, faults: &[(Fault, u8)]) -> Setup {
    Setup { claim_at_most: 1, fold_at, ..Setup::new(work, &[1], faults) }
}

/// Work that is handed out by the exchange that makes it ready, or waits.
fn chain(work: usize, programs: &[usize], faults: &[(Fault, u8)]) -> Setup {
    Setup { is_chain: true, ..Setup::new(work, programs, faults) }
}

/// A program whose only worker is registered while its heartbeat beats already, beside one without workers.
fn late_worker(faults: &[(Fault, u8)]) -> Setup {
    Setup { joins_late: true, ..Setup::new(1, &[1, 0], faults) }
}

// L1 L3 L17
#[test]
fn no_lost_reply_costs_or_doubles_work() {
    let searches = [
        holds("replies", one_by_one(2, 3, &[(Lose, 2), (Locked, 1)])),
        holds("unread", one_by_one(2, 2, &[(Lose, 1), (Unread, 1)])),
        holds("timeouts", setup(1, &[1], &[(Over, 1), (Fail, 1), (Lose, 1)])),
        holds("chain", chain(3, &[1], &[(Lose, 2), (Fail, 1), (Locked, 1)])),
        holds("two processes", setup(2, &[1, 1], &[(Lose, 1)])),
        holds("two workers of a process", setup(2, &[2], &[(Lose, 1)])),
        holds("cancel, prune and drain", setup(1, &[2], &[(Lose, 1), (Cancel, 1), (Prune, 1), (Drain, 1)])),
    ];
    assert!(searches.iter().all(|search| search.is_whole));
}

// L4 L6 L17
#[test]
fn no_process_that_is_late_frozen_or_killed_loses_work_for_good() {
    let searches = [
        holds("late", setup(1, &[1, 0], &[(Late, 1)])),
        holds("late worker", late_worker(&[(Late, 1)])),
        holds("killed", setup(1, &[1, 1], &[(Crash, 1), (Lose, 1)])),
        holds("frozen", setup(1, &[1, 0], &[(Freeze, 1)])),
        holds("outage", setup(1, &[1, 1], &[(Outage, 1)])),
        holds("goodbye", setup(1, &[1, 1], &[(Drain, 1), (Lose, 1)])),
    ];
    assert!(searches.iter().all(|search| search.is_whole));
}

// L1 L3 L4 L6 L17
#[test]
fn larger_searches_find_nothing_either() {
    if asked_for().is_none() {
        return;
    }
    holds("timeouts", setup(2, &[1], &[(Over, 1), (Fail, 1), (Lose, 1)]));
    holds("chain", chain(3, &[1, 1], &[(Lose, 1), (Cancel, 1)]));
    holds("late chain", chain(2, &[1, 0], &[(Late, 1), (Lose, 1)]));
    holds("much work", one_by_one(5, 3, &[(Lose, 1), (Locked, 1), (Unread, 1), (Fail, 1)]));
    holds("two workers", setup(3, &[2], &[(Lose, 1), (Cancel, 1), (Prune, 1), (Drain, 1)]));
    holds("three workers", setup(3, &[2, 1], &[(Lose, 1)]));
    holds("killed", setup(2, &[1, 1], &[(Crash, 1), (Lose, 1)]));
    holds("three processes", setup(1, &[1, 1, 1], &[(Crash, 1)]));
    holds("frozen", setup(1, &[1, 1], &[(Freeze, 1)]));
    holds("late in company", setup(1, &[1, 1], &[(Late, 1)]));
    holds("late and lost in company", setup(1, &[1, 1], &[(Late, 1), (Lose, 1)]));
    holds("late and lost", setup(1, &[1, 0], &[(Late, 1), (Lose, 1)]));
    holds("late twice", setup(1, &[1, 0], &[(Late, 2)]));
    holds("late with much work", setup(3, &[1, 0], &[(Late, 1), (Lose, 1), (Over, 1)]));
    holds("late worker", late_worker(&[(Late, 1), (Lose, 1)]));
    holds("poison, two workers", poison(4, &[2, 1], &[0, 2], 5));
    holds("poison and lost replies", Setup { faults: vec![(Lose, 1), (Drain, 1)], ..poison(3, &[1, 1], &[0], 5) });
    holds("outage and killed", setup(2, &[1, 1], &[(Outage, 1), (Crash, 1)]));
    holds("late tries", one_by_one(3, 3, &[(Lose, 2), (Locked, 1)]).without(&[Rule::LostTryEnded]));
    holds("late tries of a late process", setup(1, &[1, 0], &[(Late, 1), (Lose, 2)]).without(&[Rule::LostTryEnded]));
}

/// Pieces of work that kill their process, in programs that are started again; without heartbeats, which nothing here depends on.
fn poison(work: usize, programs: &[usize], poison: &[u8], most_kills: u8) -> Setup {
    Setup { poison: poison.to_vec(), most_kills, is_quiet: true, ..Setup::new(work, programs, &[]) }
}

// L5
#[test]
fn work_that_kills_its_process_costs_nothing_but_its_own_attempts() {
    let searches = [
        holds("one poison", poison(3, &[1, 0], &[0], 4)),
        holds("the last is poison", poison(3, &[1, 0], &[2], 4)),
        holds("two poisons", poison(3, &[1, 0], &[0, 1], 4)),
    ];
    assert!(searches.iter().all(|search| search.is_whole));
    holds("two workers of a process", poison(3, &[2, 0], &[0], 4));
    holds("two processes", poison(2, &[1, 1], &[0], 4));
}

// L5
#[test]
fn each_rule_for_crashes_in_company_is_needed() {
    is_needed(&[Rule::CompanyUsesNone], Violation::AttemptInCompany, poison(2, &[1, 0], &[0], 4));
    is_needed(&[Rule::SuspectsLimited], Violation::TooManySuspects, poison(2, &[1, 0], &[0], 4));
    is_needed(&[Rule::SuspectsCountedLocked], Violation::TooManySuspects, poison(2, &[2, 0], &[0], 4));
    is_needed(&[Rule::OnlySuspectAlone], Violation::PoisonRunsOn, poison(4, &[1, 0], &[0], 4));
    is_needed(&[Rule::AloneWhenEmpty], Violation::CompanyOfAlone, poison(3, &[1, 1], &[0], 4));
    // One piece an exchange, so that a third waits while two are lost.
    let one_by_one = |work, programs: &[usize]| Setup { claim_at_most: 1, ..poison(work, programs, &[0], 4) };
    is_needed(&[Rule::CountedAtEnd], Violation::AttemptInCompany, one_by_one(2, &[1, 0]));
    is_needed(&[Rule::AloneByLock], Violation::CompanyOfAlone, one_by_one(3, &[2, 1]));
    is_needed(&[Rule::AloneKept], Violation::CompanyOfAlone, one_by_one(3, &[1, 0]));
}

// L6
#[test]
fn each_rule_for_ending_and_going_on_is_needed() {
    let late = |times| setup(1, &[1, 0], &[(Late, times)]);
    is_needed(&[Rule::ProcessLock], Violation::TakenFromLiving, late(1));
    is_needed(&[Rule::LookAfterLocks], Violation::TakenFromLiving, late(1));
    is_needed(&[Rule::OwnProcess], Violation::TakenFromLiving, late(2));
    is_needed(&[Rule::LeaseCheckedAgain], Violation::EndedInTime, late(1));
    is_needed(&[Rule::RevivedAfterRecovery], Violation::TakenFromLiving, late(1));
    is_needed(&[Rule::ReviveNamesWorkers], Violation::Stuck, setup(1, &[1, 0], &[(Late, 1), (Lose, 1)]));
    is_needed(&[Rule::ReviveNamesWorkers], Violation::Stuck, late_worker(&[(Late, 1)]));
    let outage = || setup(1, &[1, 1], &[(Outage, 1)]);
    is_needed(&[Rule::PatienceAfterGap], Violation::EndedAfterOutage, outage());
    is_needed(&[Rule::PatienceForAll], Violation::EndedAfterOutage, outage());
    let goodbye = setup(1, &[1, 1], &[(Drain, 1), (Lose, 1)]);
    is_needed(&[Rule::GoodbyeCostsNothing], Violation::AttemptAfterGoodbye, goodbye);
}

// L3 L17
#[test]
fn each_rule_for_repeats_hands_and_heartbeats_is_needed() {
    is_needed(&[Rule::RepeatByNumber], Violation::ListedNowhere, one_by_one(4, 3, &[(Lose, 1)]));
    is_needed(&[Rule::RepeatAnswersBusy], Violation::ResultDropped, one_by_one(2, 3, &[(Lose, 1)]));
    is_needed(&[Rule::HighestNamed], Violation::TakenUnderHandler, setup(1, &[1], &[]));
    is_needed(&[Rule::OutstandingNamed], Violation::TakenUnderHandler, setup(1, &[1], &[]));
    is_needed(&[Rule::OneMoment], Violation::TakenUnderHandler, setup(1, &[1], &[]));
    is_needed(&[Rule::UnknownGivenBack], Violation::Stuck, setup(1, &[1], &[(Unread, 1)]));
    is_needed(&[Rule::FinishedWhenAnswered], Violation::ListedNowhere, setup(3, &[1], &[]));
    is_needed(&[Rule::RowGoesWhole], Violation::ListedNowhere, one_by_one(4, 3, &[]));
    is_needed(&[Rule::OverTaken], Violation::Stuck, setup(1, &[1], &[(Over, 1)]));
    is_needed(&[Rule::OverWithoutResult], Violation::ResultThrownAway, setup(1, &[1], &[(Over, 1)]));
    is_needed(&[Rule::FenceBatch], Violation::ResultOfAnotherClaim, setup(1, &[1], &[(Over, 1), (Lose, 1)]));
}

/// Work of which the last piece belongs to a run that is still to be started; exchanges leave a slot for it.
fn start(work: usize, programs: &[usize], faults: &[(Fault, u8)]) -> Setup {
    Setup { starts: 1, claim_at_most: 1, ..Setup::new(work, programs, faults) }
}

// L3 L17 L23
#[test]
fn no_start_that_hands_over_loses_or_doubles_work() {
    let searches = [
        holds("starts", start(2, &[1], &[(Lose, 1), (GiveUp, 1)])),
        holds("two starts", Setup { starts: 2, ..start(2, &[1], &[(Lose, 1)]) }),
        holds("start of a chain", Setup { is_chain: true, ..start(2, &[1], &[(Lose, 2), (Locked, 1)]) }),
        holds("starts of a late process", start(1, &[1, 0], &[(Late, 1), (GiveUp, 1)])),
        holds("starts of a killed process", start(1, &[1, 1], &[(Crash, 1)])),
        holds("starts of a worker that leaves", start(1, &[2], &[(Drain, 1), (Lose, 1)])),
        holds("starts and cancels", start(1, &[1], &[(Cancel, 1), (Prune, 1), (Lose, 1)])),
    ];
    assert!(searches.iter().all(|search| search.is_whole));
    holds("starts beside poison", Setup { starts: 1, ..poison(3, &[2, 0], &[0], 4) });
    if asked_for().is_some() {
        holds("starts with much work", Setup { starts: 2, ..start(4, &[1], &[(Lose, 1), (GiveUp, 1)]) });
        holds("starts of two processes", start(2, &[1, 1], &[(Lose, 1), (GiveUp, 1)]));
        holds("late and lost starts", start(1, &[1, 0], &[(Late, 1), (Lose, 1), (GiveUp, 1)]));
        holds("frozen starts", start(1, &[1, 0], &[(Freeze, 1), (GiveUp, 1)]));
    }
}

// L17 L23
#[test]
fn each_rule_for_starts_that_hand_over_is_needed() {
    is_needed(&[Rule::StartRepeatByRun], Violation::AnsweredUndone, start(2, &[1], &[]));
    is_needed(&[Rule::RepeatOfExchanges], Violation::AnsweredUndone, start(2, &[1], &[]));
    is_needed(&[Rule::StartLock], Violation::TakenFromLiving, start(1, &[1, 0], &[(Late, 1)]));
    is_needed(&[Rule::LookAfterLocks], Violation::TakenFromLiving, start(1, &[1, 0], &[(Late, 1)]));
    is_needed(&[Rule::OwnProcess], Violation::TakenFromLiving, start(1, &[1, 0], &[(Late, 2)]));
    is_needed(&[Rule::StartListed], Violation::ListedNowhere, start(1, &[1], &[]));
    is_needed(&[Rule::StartOutstandingNamed], Violation::TakenUnderHandler, start(1, &[1], &[]));
    is_needed(&[Rule::StartGivenUp], Violation::Stuck, start(1, &[1], &[(GiveUp, 1)]));
    is_needed(&[Rule::GivenUpIgnored], Violation::TakenUnderHandler, start(1, &[1], &[(GiveUp, 1)]));
    let beside_alone = Setup { starts: 1, claim_at_most: 1, ..poison(3, &[1, 0], &[0], 4) };
    is_needed(&[Rule::AloneKept], Violation::CompanyOfAlone, beside_alone);
}

/// The fence alone decides whether a result counts: a repeat could record results, and has no need to.
// L17
#[test]
fn a_repeat_could_record_results() {
    let repeats = one_by_one(2, 3, &[(Lose, 2), (Locked, 1)]).without(&[Rule::RepeatSettlesNothing]);
    assert!(holds("results of a repeat", repeats).is_whole);
}

/// Three rules keep what was lost from coming late; as long as a lost try has ended before the next one begins, nothing does.
// L17
#[test]
fn either_the_lost_try_has_ended_or_the_rules_for_late_ones_hold() {
    let cases = [
        (Rule::WorkerLock, one_by_one(3, 2, &[(Lose, 1), (Locked, 1)])),
        (Rule::NewestRowStays, one_by_one(1, 3, &[(Lose, 2), (Locked, 2), (Fail, 1)])),
        (Rule::FinishedWhenHandedOut, one_by_one(2, 3, &[(Lose, 1), (Locked, 1)])),
    ];
    for (rule, setup) in cases {
        is_needed(&[rule, Rule::LostTryEnded], Violation::ListedNowhere, setup.clone());
        if asked_for().is_some() {
            holds(&format!("without {rule:?}"), setup.clone().without(&[rule]));
            holds(&format!("with late tries and {rule:?}"), setup.without(&[Rule::LostTryEnded]));
        }
    }
}
