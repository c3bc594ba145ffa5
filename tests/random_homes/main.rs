//! Random homes: whatever a home holds, in whatever order, in however many syncs, the database has the same content, every
//! check passes, and every byte comes back.
//!
//! `tests/faults/random_homes` is the long form. `CC_ETL_RANDOM_HOMES` sets how many homes there are, `CC_ETL_SEED` the first
//! seed, `CC_ETL_JOBS` how many are tried at once and `CC_ETL_SHOWN` how many kinds of failure are minimized and printed.

mod case;
mod legs;
mod minimize;
mod random;
mod records;
#[path = "../sandbox/mod.rs"]
mod sandbox;

use case::Case;
use legs::{LEGS, Ways};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many homes `cargo test` tries.
const HOMES: u64 = 24;

#[test]
fn random_homes_give_the_same_content_in_every_way() {
    let count = setting("CC_ETL_RANDOM_HOMES", HOMES);
    let first = setting("CC_ETL_SEED", 1);
    let failures = failures(first, count);
    let shown = setting("CC_ETL_SHOWN", 3);
    for (kind, seeds) in failures.iter().take(shown as usize) {
        tell(kind, seeds[0]);
    }
    for ((leg, what), seeds) in &failures {
        let examples = &seeds[..seeds.len().min(12)];
        println!(
            "{}: {what}: {} homes, seeds {examples:?}",
            LEGS[*leg].0,
            seeds.len()
        );
    }
    let failed = failures.values().flatten().collect::<BTreeSet<_>>().len();
    println!("{count} random homes, {failed} failed");
    assert_eq!(failed, 0, "homes failed");
}

/// The number of a leg, and what was not as it must be.
type Kind = (usize, String);

/// The seeds that failed, by kind.
fn failures(first: u64, count: u64) -> BTreeMap<Kind, Vec<u64>> {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let jobs = setting("CC_ETL_JOBS", processors);
    let next = AtomicU64::new(0);
    let work = || {
        let mut failures = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return failures;
            }
            if number > 0 && number.is_multiple_of(100) {
                println!("{number} of {count} homes");
            }
            let seed = first + number;
            for (leg, what) in failures_of(seed) {
                println!("seed {seed}, {}: {what}", LEGS[leg].0);
                failures.push(((leg, what), seed));
            }
        }
    };
    let all: Vec<(Kind, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let done = threads.into_iter();
        done.flat_map(|thread| thread.join().expect("a failure is no panic"))
            .collect()
    });
    let mut failures: BTreeMap<Kind, Vec<u64>> = BTreeMap::new();
    for (kind, seed) in all {
        failures.entry(kind).or_default().push(seed);
    }
    failures
}

fn failures_of(seed: u64) -> Vec<Kind> {
    let case = Case::new(seed);
    let ways = Ways::of(&case);
    let legs = LEGS.iter().enumerate();
    legs.filter_map(|(number, leg)| Some((number, leg.1(&ways).err()?.what)))
        .collect()
}

/// Prints the smallest home found that fails as this seed does.
fn tell((leg, what): &Kind, seed: u64) {
    let leg = &LEGS[*leg];
    println!("\nseed {seed}, {}: {what}", leg.0);
    match minimize::minimized(Case::new(seed), leg, what) {
        Some((smallest, failure)) => {
            println!("{}\n{}", failure.details, minimize::told(&smallest));
        }
        None => println!("it failed only once"),
    }
}

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value
            .parse()
            .unwrap_or_else(|_| panic!("{name} is not a number")),
        Err(_) => default,
    }
}
