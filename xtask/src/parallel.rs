//! Work on several things at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// `work` on each of `items`, `workers` at a time; results in their order.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<R, String>>> = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((at, item)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    items.get(at).map(|item| (at, item))
                } {
                    let result = work(item);
                    done.lock().expect("no worker panics").insert(at, result);
                }
            });
        }
    });
    done.into_inner().expect("no worker panics").into_values().collect()
}
