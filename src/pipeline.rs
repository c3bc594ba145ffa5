//! Work in parallel, results in order, a fixed number of them in flight.

use crate::error::{Error, Result};
use rayon::ThreadPool;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error as _;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// So many results may wait to be consumed while their threads go on to work.
const WAITING: usize = 2;

/// Starts the threads that work on several files at once. Without memory for them, rayon would panic where it needs them.
pub fn start_workers() -> io::Result<()> {
    static STARTED: OnceLock<Option<String>> = OnceLock::new();
    let failed = STARTED.get_or_init(|| {
        let started = rayon::ThreadPoolBuilder::new().build_global();
        // Somebody may have started them already, and that is no failure.
        let failed = started.err().filter(|error| error.source().is_some());
        failed.map(|error| error.to_string())
    });
    match failed {
        None => Ok(()),
        Some(message) => Err(io::Error::other(format!(
            "no threads can be started: {message}"
        ))),
    }
}

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

    /// How many threads may be used, the caller's included.
    pub fn threads(&self) -> usize {
        match self.is_parallel() {
            true => self.threads,
            false => 1,
        }
    }

    /// Whether more than one thread may be used.
    pub fn is_parallel(&self) -> bool {
        self.pool.is_some()
    }

    /// Begins some work that the caller waits for later. With one thread it is done at once.
    pub fn begin<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Begun<T> {
        let (sender, result) = sync_channel(1);
        let work = move || {
            // Nobody waits for it any more after an error.
            drop(sender.send(catch_unwind(AssertUnwindSafe(work))));
        };
        match &self.pool {
            Some(pool) => pool.spawn(work),
            None => work(),
        }
        Begun { result }
    }

    /// Does `work` for every item, and has the results consumed one by one in the order of the items, by whichever thread is
    /// done when one is next. Nobody waits for its turn as long as there is other work; and a result goes back to the thread
    /// that made it, to be let go where its memory comes from.
    pub fn run_in_turn<T: Send, R: Send, C: Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        consumer: C,
        work: impl Fn(T) -> R + Sync,
        consume: impl Fn(&mut C, &mut R) -> Result<()> + Sync,
    ) -> Result<()> {
        let threads = self.threads();
        let turns = Turns {
            items: Mutex::new(items.fuse().enumerate()),
            consumer: Mutex::new(consumer),
            state: Mutex::new(State {
                next: 0,
                waiting: BTreeMap::new(),
                is_consuming: false,
                consumed: (0..threads).map(|_| Vec::new()).collect(),
                is_over: false,
                failed: None,
            }),
            passed: Condvar::new(),
        };
        let each = |thread: usize| {
            let take_turns = || turns.take(thread, &work, &consume);
            // Nobody waits for one that panicked.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(take_turns)) {
                lock(&turns.state).is_over = true;
                turns.passed.notify_all();
                resume_unwind(panic);
            }
        };
        std::thread::scope(|scope| {
            // This thread is one of them. Where the system has no more, fewer do.
            for thread in 1..threads {
                let builder = std::thread::Builder::new().name(format!("turn-{thread}"));
                if builder.spawn_scoped(scope, move || each(thread)).is_err() {
                    break;
                }
            }
            each(0);
        });
        lock(&turns.state).failed.take().map_or(Ok(()), Err)
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

/// Work that was begun.
pub struct Begun<T> {
    result: Receiver<std::thread::Result<T>>,
}

impl<T> Begun<T> {
    /// Waits for its result.
    pub fn finish(self) -> T {
        let result = self.result.recv().expect("it tells when it panics, too");
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Items, results that wait to be consumed, and what consumes them.
struct Turns<I, R, C> {
    items: Mutex<I>,
    consumer: Mutex<C>,
    state: Mutex<State<R>>,
    /// Wakes those that have to wait when a result is consumed.
    passed: Condvar,
}

struct State<R> {
    /// Whose turn it is.
    next: usize,
    /// Results by the numbers of their items, and the threads that made them.
    waiting: BTreeMap<usize, (usize, R)>,
    is_consuming: bool,
    /// For each thread its results that are to be let go.
    consumed: Vec<Vec<R>>,
    /// After a failure nothing more is consumed.
    is_over: bool,
    failed: Option<Error>,
}

impl<T, I: Iterator<Item = (usize, T)>, R, C> Turns<I, R, C> {
    /// Works as long as there are items. Who is the last one has consumed all results that were left.
    fn take(
        &self,
        thread: usize,
        work: &impl Fn(T) -> R,
        consume: &impl Fn(&mut C, &mut R) -> Result<()>,
    ) {
        loop {
            let item = lock(&self.items).next();
            let Some((number, item)) = item else { return };
            let result = work(item);
            let mut state = lock(&self.state);
            state.waiting.insert(number, (thread, result));
            loop {
                if state.is_over {
                    return;
                }
                let next = state.next;
                let due = match state.is_consuming {
                    true => None,
                    false => state.waiting.remove(&next),
                };
                if let Some((maker, mut result)) = due {
                    state.is_consuming = true;
                    drop(state);
                    let consumed = consume(&mut lock(&self.consumer), &mut result);
                    state = lock(&self.state);
                    state.is_consuming = false;
                    state.next += 1;
                    state.consumed[maker].push(result);
                    if let Err(error) = consumed {
                        state.failed = Some(error);
                        state.is_over = true;
                    }
                    self.passed.notify_all();
                } else if state.waiting.len() > WAITING {
                    let woken = self.passed.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                } else {
                    break;
                }
            }
            let consumed = std::mem::take(&mut state.consumed[thread]);
            drop(state);
            drop(consumed);
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
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

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
            let push = |results: &mut &mut Vec<_>, result: &mut i32| {
                results.push(*result);
                Ok(())
            };
            pipeline
                .run_in_turn(0..1000, &mut results, twice, push)
                .unwrap();
            let expected = || (0..1000).map(twice);
            assert!(expected().chain(expected()).eq(results));
        }
    }

    #[test]
    fn work_that_was_begun_gives_its_result_or_its_panic() {
        for threads in [1, 2] {
            let pipeline = Pipeline::new(Some(threads));
            let begun: Vec<_> = (0..9)
                .map(|number| pipeline.begin(move || number))
                .collect();
            let results: Vec<_> = begun.into_iter().map(Begun::finish).collect();
            assert_eq!(results, (0..9).collect::<Vec<_>>());
            let failing = pipeline.begin(|| assert_eq!(1, 2, "a fault"));
            assert!(catch_unwind(AssertUnwindSafe(|| failing.finish())).is_err());
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
        let stop_in_turn = |(): &mut (), number: &mut u64| stop_at_five(*number);
        assert!(pipeline.run_in_turn(0.., (), same, stop_in_turn).is_err());
        assert_eq!(seen.into_inner(), 6);
    }

    #[test]
    fn a_panic_in_turn_ends_all_threads() {
        let pipeline = Pipeline::new(Some(4));
        let fail = |number: u64| assert_ne!(number, 7, "a fault");
        let run = || pipeline.run_in_turn(0..1000, (), fail, |(), ()| Ok(()));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        let fail = |(): &mut (), number: &mut u64| {
            assert_ne!(*number, 7, "a fault");
            Ok(())
        };
        let run = || pipeline.run_in_turn(0..1000, (), |number| number, fail);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn a_panic_is_not_forgotten_by_one_that_consumes_meanwhile() {
        let pipeline = Pipeline::new(Some(2));
        let has_failed = AtomicBool::new(false);
        let work = |number: u64| {
            has_failed.fetch_or(number == 1, Ordering::Relaxed);
            assert_ne!(number, 1, "a fault");
            number
        };
        let consume = |(): &mut (), number: &mut u64| {
            while *number == 0 && !has_failed.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        };
        let run = || pipeline.run_in_turn(0..1000, (), work, consume);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
