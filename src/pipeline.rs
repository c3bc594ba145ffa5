//! Work in parallel, results in order, a fixed number of them in flight.

use crate::error::{Error, Result};
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So many threads more than there are cores: those whose turn has not come wait, and others use the cores meanwhile.
const WAITING: usize = 2;

/// How many threads a run may use, and the pool of those that parse.
pub struct Pipeline {
    pool: Option<ThreadPool>,
    threads: usize,
}

impl Pipeline {
    /// A pipeline with so many threads, the writing one included; without a number, one per core.
    pub fn new(threads: Option<usize>) -> Pipeline {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(cores);
        let pool = match threads {
            0 | 1 => None,
            // The writer often waits for the disk, so the parsers may fill every core.
            _ => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|index| format!("parse-{index}"))
                .build()
                .ok(),
        };
        Pipeline { pool, threads }
    }

    /// Whether more than one thread may be used.
    pub fn is_parallel(&self) -> bool {
        self.pool.is_some()
    }

    /// Does `work` for every item, in any order.
    pub fn for_each<T: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        match &self.pool {
            Some(pool) => pool.install(|| items.into_par_iter().with_max_len(1).try_for_each(work)),
            None => items.into_iter().try_for_each(work),
        }
    }

    /// Does `work` for every item, which ends by taking its turn at the consumer: turns come one by one in the order of the
    /// items. So whoever did the work also has it consumed, while what it is made of is still at hand.
    pub fn run_in_turn<T: Send, C: Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        consumer: C,
        work: impl Fn(T, Turn<'_, C>) -> Taken + Sync,
    ) -> Result<()> {
        let items = Mutex::new(items.fuse().enumerate());
        let turns = Turns {
            state: Mutex::new(State {
                next: 0,
                consumer,
                is_over: false,
                failed: None,
            }),
            passed: [const { Condvar::new() }; 64],
        };
        let take_turns = || {
            loop {
                let item = lock(&items).next();
                let Some((number, item)) = item else { return };
                let turn = Turn {
                    number,
                    turns: &turns,
                };
                if work(item, turn).is_over {
                    return;
                }
            }
        };
        let each = || {
            // Nobody waits for one that panicked.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(take_turns)) {
                lock(&turns.state).is_over = true;
                turns.wake_all();
                resume_unwind(panic);
            }
        };
        let threads = match self.is_parallel() {
            true => self.threads + WAITING,
            false => 1,
        };
        std::thread::scope(|scope| {
            // This thread is one of them. Where the system has no more, fewer do.
            for index in 1..threads {
                let thread = std::thread::Builder::new().name(format!("turn-{index}"));
                if thread.spawn_scoped(scope, each).is_err() {
                    break;
                }
            }
            each();
        });
        let state = turns.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), Err)
    }

    /// Does `work` for every item, and gives the results to `consume` one by one in the order of the items, on this thread.
    pub fn run<T: Send, R: Send>(
        &self,
        items: impl Iterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
        mut consume: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        let Some(pool) = &self.pool else {
            for item in items {
                consume(work(item))?;
            }
            return Ok(());
        };
        let mut items = items.fuse();
        let work = &work;
        pool.in_place_scope_fifo(|scope| {
            let mut pending: VecDeque<Receiver<R>> = VecDeque::new();
            loop {
                while pending.len() < 4 * self.threads + 4
                    && let Some(item) = items.next()
                {
                    let (sender, receiver) = sync_channel(1);
                    // The receiver is gone only after an error, and then nobody waits for the result.
                    scope.spawn_fifo(move |_| drop(sender.send(work(item))));
                    pending.push_back(receiver);
                }
                match pending.pop_front() {
                    Some(receiver) => consume(
                        receiver
                            .recv()
                            .expect("a worker that panicked ends the scope"),
                    )?,
                    None => return Ok(()),
                }
            }
        })
    }
}

/// A place in the order of the items.
pub struct Turn<'t, C> {
    number: usize,
    turns: &'t Turns<C>,
}

/// Says that a turn was taken.
pub struct Taken {
    is_over: bool,
}

struct Turns<C> {
    state: Mutex<State<C>>,
    /// Those that wait, by the last digits of their numbers: only the next one is woken.
    passed: [Condvar; 64],
}

impl<C> Turns<C> {
    fn waiting(&self, number: usize) -> &Condvar {
        &self.passed[number % self.passed.len()]
    }

    fn wake_all(&self) {
        self.passed.iter().for_each(Condvar::notify_all);
    }
}

struct State<C> {
    /// Whose turn it is.
    next: usize,
    consumer: C,
    /// After a failure nothing more is consumed.
    is_over: bool,
    failed: Option<Error>,
}

impl<C> Turn<'_, C> {
    /// Waits until all before have taken their turns, and has the consumer to itself then.
    pub fn take(self, consume: impl FnOnce(&mut C) -> Result<()>) -> Taken {
        let Turn { number, turns } = self;
        let mut state = lock(&turns.state);
        while state.next != number && !state.is_over {
            let woken = turns.waiting(number).wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_over {
            state.failed = consume(&mut state.consumer).err();
            state.is_over = state.failed.is_some();
            state.next += 1;
            match state.is_over {
                true => turns.wake_all(),
                false => turns.waiting(state.next).notify_all(),
            }
        }
        Taken {
            is_over: state.is_over,
        }
    }
}

/// Locks; after a panic of somebody else, too: it is passed on when all threads have ended.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in [1, 2, 8] {
            let pipeline = Pipeline::new(Some(threads));
            let twice = |number| number * 2;
            let mut results = Vec::new();
            let push = |result| {
                results.push(result);
                Ok(())
            };
            pipeline.run(0..1000, twice, push).unwrap();
            let take_turn = |number, turn: Turn<'_, &mut Vec<_>>| {
                let result = twice(number);
                turn.take(|results| {
                    results.push(result);
                    Ok(())
                })
            };
            pipeline
                .run_in_turn(0..1000, &mut results, take_turn)
                .unwrap();
            let expected = || (0..1000).map(twice);
            assert!(expected().chain(expected()).eq(results));
        }
    }

    #[test]
    fn an_error_stops_the_rest() {
        let pipeline = Pipeline::new(Some(4));
        let seen = AtomicUsize::new(0);
        let stop_at_five = |number: u64| {
            seen.fetch_add(1, Ordering::Relaxed);
            match number {
                5 => Err(Error::Usage("stop".into())),
                _ => Ok(()),
            }
        };
        let same = |number| number;
        assert!(pipeline.run(0.., same, stop_at_five).is_err());
        assert_eq!(seen.swap(0, Ordering::Relaxed), 6);
        let take_turn = |number, turn: Turn<'_, _>| turn.take(|_: &mut ()| stop_at_five(number));
        assert!(pipeline.run_in_turn(0.., (), take_turn).is_err());
        assert_eq!(seen.into_inner(), 6);
    }

    #[test]
    fn a_panic_in_turn_ends_all_threads() {
        let pipeline = Pipeline::new(Some(4));
        let take_turn = |number: u64, turn: Turn<'_, _>| match number {
            7 => panic!("a fault"),
            _ => turn.take(|()| Ok(())),
        };
        let run = || pipeline.run_in_turn(0..1000, (), take_turn);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
