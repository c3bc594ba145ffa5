//! Work in parallel, results in order, a fixed number of them in flight.

use crate::error::Result;
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, sync_channel};

/// How many threads a run may use, and the pool of those that parse.
pub struct Pipeline {
    pool: Option<ThreadPool>,
    window: usize,
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
        Pipeline {
            pool,
            window: 4 * threads + 4,
        }
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

    /// Does `work` for every item, and gives the results to `consume` one by one in the order of the items.
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
                while pending.len() < self.window
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in [1, 2, 8] {
            let mut results = Vec::new();
            Pipeline::new(Some(threads))
                .run(
                    0..1000,
                    |number| number * 2,
                    |result| {
                        results.push(result);
                        Ok(())
                    },
                )
                .unwrap();
            assert!(
                results
                    .iter()
                    .copied()
                    .eq((0..1000).map(|number| number * 2))
            );
        }
    }

    #[test]
    fn an_error_stops_the_rest() {
        let mut seen = 0;
        let result = Pipeline::new(Some(4)).run(
            0..,
            |number: u64| number,
            |number| {
                seen += 1;
                match number {
                    5 => Err(crate::error::Error::Usage("stop".into())),
                    _ => Ok(()),
                }
            },
        );
        assert!(result.is_err());
        assert_eq!(seen, 6);
    }
}
