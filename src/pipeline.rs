//! Runs work in parallel and consumes the results in order, with a bounded number of them in flight.

use crate::error::{Error, Result};
use rayon::ThreadPool;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error as _;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// At most this many results are buffered; then a worker waits until one is consumed.
const BUFFERED: usize = 2;

/// Starts rayon's global thread pool. Rayon would start it on first use, and panic if that fails.
pub fn start_workers() -> io::Result<()> {
    static STARTED: OnceLock<Option<String>> = OnceLock::new();
    let failed = STARTED.get_or_init(|| {
        let started = rayon::ThreadPoolBuilder::new().build_global();
        // An error without a source says that the pool was started already.
        let failed = started.err().filter(|error| error.source().is_some());
        failed.map(|error| error.to_string())
    });
    match failed {
        None => Ok(()),
        Some(message) => Err(io::Error::other(format!(
            "cannot start worker threads: {message}"
        ))),
    }
}

/// The number of threads of a run, and the pool of its workers.
pub struct Pipeline {
    pool: Option<ThreadPool>,
    threads: usize,
}

impl Pipeline {
    /// `threads` includes the writer; the default is one per core.
    pub fn new(threads: Option<usize>) -> Pipeline {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(cores);
        let pool = match threads {
            0 | 1 => None,
            // The writer often waits for the disk, so there is a worker for every core.
            _ => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|index| format!("parse-{index}"))
                .build()
                .ok(),
        };
        Pipeline { pool, threads }
    }

    /// The number of threads, including the caller's.
    pub fn threads(&self) -> usize {
        match self.is_parallel() {
            true => self.threads,
            false => 1,
        }
    }

    pub fn is_parallel(&self) -> bool {
        self.pool.is_some()
    }

    /// Runs `work` in the background; [`Task::join`] waits for its result. With one thread it runs at once.
    pub fn spawn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
        let (sender, result) = sync_channel(1);
        let work = move || {
            // After an error the receiver is gone.
            drop(sender.send(catch_unwind(AssertUnwindSafe(work))));
        };
        match &self.pool {
            Some(pool) => pool.spawn(work),
            None => work(),
        }
        Task { result }
    }

    /// Calls `work` for every item, and `consume` for the results, one at a time and in the order of the items. There is no
    /// consumer thread: whichever worker finishes when the next result is ready consumes it. Workers wait only if too many
    /// results are buffered. A consumed result is freed on the thread that allocated it, which is cheaper.
    pub fn run_ordered<T: Send, R: Send, C: Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        consumer: C,
        work: impl Fn(T) -> R + Sync,
        consume: impl Fn(&mut C, &mut R) -> Result<()> + Sync,
    ) -> Result<()> {
        let threads = self.threads();
        let queue = Queue {
            items: Mutex::new(items.fuse().enumerate()),
            consumer: Mutex::new(consumer),
            state: Mutex::new(State {
                next: 0,
                ready: BTreeMap::new(),
                is_consuming: false,
                to_free: (0..threads).map(|_| Vec::new()).collect(),
                is_over: false,
                failed: None,
            }),
            consumed: Condvar::new(),
        };
        let each = |thread: usize| {
            let run = || queue.run(thread, &work, &consume);
            // A panic ends all workers: they would wait for the missing result forever.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                lock(&queue.state).is_over = true;
                queue.consumed.notify_all();
                resume_unwind(panic);
            }
        };
        std::thread::scope(|scope| {
            // This thread is a worker too. If the system refuses more threads, fewer are used.
            for thread in 1..threads {
                let builder = std::thread::Builder::new().name(format!("worker-{thread}"));
                if builder.spawn_scoped(scope, move || each(thread)).is_err() {
                    break;
                }
            }
            each(0);
        });
        lock(&queue.state).failed.take().map_or(Ok(()), Err)
    }

    /// Calls `work` for every item on the workers, and `consume` for the results on this thread, in the order of the items.
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
                    // The receiver is gone only after an error.
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

/// Work that runs in the background.
pub struct Task<T> {
    result: Receiver<std::thread::Result<T>>,
}

impl<T> Task<T> {
    /// Waits for the result, and passes a panic on.
    pub fn join(self) -> T {
        let result = self.result.recv().expect("it sends a result or a panic");
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// The shared state of [`Pipeline::run_ordered`].
struct Queue<I, R, C> {
    items: Mutex<I>,
    consumer: Mutex<C>,
    state: Mutex<State<R>>,
    /// Notified when a result was consumed.
    consumed: Condvar,
}

struct State<R> {
    /// The number of the item whose result is consumed next.
    next: usize,
    /// Buffered results by the numbers of their items, with the threads that allocated them.
    ready: BTreeMap<usize, (usize, R)>,
    is_consuming: bool,
    /// For each thread, its consumed results.
    to_free: Vec<Vec<R>>,
    /// After an error or a panic nothing more is consumed.
    is_over: bool,
    failed: Option<Error>,
}

impl<T, I: Iterator<Item = (usize, T)>, R, C> Queue<I, R, C> {
    /// Works until there are no more items. The last thread to finish has consumed all results.
    fn run(
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
            state.ready.insert(number, (thread, result));
            loop {
                if state.is_over {
                    return;
                }
                let next = state.next;
                let ready = match state.is_consuming {
                    true => None,
                    false => state.ready.remove(&next),
                };
                if let Some((owner, mut result)) = ready {
                    state.is_consuming = true;
                    drop(state);
                    let consumed = consume(&mut lock(&self.consumer), &mut result);
                    state = lock(&self.state);
                    state.is_consuming = false;
                    state.next += 1;
                    state.to_free[owner].push(result);
                    if let Err(error) = consumed {
                        state.failed = Some(error);
                        state.is_over = true;
                    }
                    self.consumed.notify_all();
                } else if state.ready.len() > BUFFERED {
                    let woken = self.consumed.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                } else {
                    break;
                }
            }
            let to_free = std::mem::take(&mut state.to_free[thread]);
            drop(state);
            drop(to_free);
        }
    }
}

/// Ignores poisoning: the panic is passed on when all threads have ended.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn results_are_in_the_order_of_the_items() {
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
                .run_ordered(0..1000, &mut results, twice, push)
                .unwrap();
            let expected = || (0..1000).map(twice);
            assert!(expected().chain(expected()).eq(results));
        }
    }

    #[test]
    fn a_task_returns_its_result_or_its_panic() {
        for threads in [1, 2] {
            let pipeline = Pipeline::new(Some(threads));
            let tasks: Vec<_> = (0..9)
                .map(|number| pipeline.spawn(move || number))
                .collect();
            let results: Vec<_> = tasks.into_iter().map(Task::join).collect();
            assert_eq!(results, (0..9).collect::<Vec<_>>());
            let failing = pipeline.spawn(|| assert_eq!(1, 2, "a fault"));
            assert!(catch_unwind(AssertUnwindSafe(|| failing.join())).is_err());
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
        let stop_ordered = |(): &mut (), number: &mut u64| stop_at_five(*number);
        assert!(pipeline.run_ordered(0.., (), same, stop_ordered).is_err());
        assert_eq!(seen.into_inner(), 6);
    }

    #[test]
    fn a_panic_ends_all_threads() {
        let pipeline = Pipeline::new(Some(4));
        let fail = |number: u64| assert_ne!(number, 7, "a fault");
        let run = || pipeline.run_ordered(0..1000, (), fail, |(), ()| Ok(()));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        let fail = |(): &mut (), number: &mut u64| {
            assert_ne!(*number, 7, "a fault");
            Ok(())
        };
        let run = || pipeline.run_ordered(0..1000, (), |number| number, fail);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn a_panic_during_a_consumption_is_not_lost() {
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
        let run = || pipeline.run_ordered(0..1000, (), work, consume);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
