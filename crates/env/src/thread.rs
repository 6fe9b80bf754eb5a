//! Named threads.

use std::path::Path;

use base::sync::critical;

use crate::error::{IoError, IoOp, Result};

/// A started thread.
#[derive(Debug)]
pub struct Thread<T>(std::thread::JoinHandle<T>);

impl<T> Thread<T> {
    /// Waits for the end; `None` if the thread panicked.
    pub fn join(self) -> Option<T> {
        self.0.join().ok()
    }

    /// Whether this is the calling thread.
    pub fn is_current(&self) -> bool {
        self.0.thread().id() == std::thread::current().id()
    }
}

/// Starts a thread called `name` (at most 15 bytes are shown by the system).
pub fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<Thread<T>> {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(Thread).map_err(|error| IoError {
        op: IoOp::Spawn,
        path: Path::new(name).to_path_buf(),
        kind: error.kind(),
        errno: error.raw_os_error().unwrap_or(0),
    })
}

/// How many threads the machine can run at once; 1 if it does not tell.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Starts a background thread: a panic in it ends the process (`base::sync::critical`).
pub fn spawn_background<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Thread<T>> {
    spawn(name, move || {
        critical::mark_background();
        work()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_name_and_hands_back_its_result() {
        let name = || std::thread::current().name().map(str::to_owned);
        assert_eq!(spawn("named", name).unwrap().join().unwrap().as_deref(), Some("named"));
    }

    #[test]
    fn a_background_thread_is_marked() {
        assert_eq!(spawn_background("marked", critical::must_abort).unwrap().join(), Some(true));
    }
}
