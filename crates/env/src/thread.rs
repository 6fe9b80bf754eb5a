//! Named threads.

use std::path::Path;

use base::sync::critical;
use base::sync::sim::{self, SimThread};

use crate::error::{IoError, IoOp, Result};

/// A started thread.
#[derive(Debug)]
pub struct Thread<T> {
    handle: std::thread::JoinHandle<T>,
    /// Its place in the simulation of the thread that started it.
    member: Option<SimThread>,
}

impl<T> Thread<T> {
    /// Waits for the end; `None` if the thread panicked.
    pub fn join(self) -> Option<T> {
        if let Some(member) = self.member.filter(|_| sim::is_simulated()) {
            member.wait_for_end();
        }
        self.handle.join().ok()
    }

    /// Whether this is the calling thread.
    pub fn is_current(&self) -> bool {
        self.handle.thread().id() == std::thread::current().id()
    }
}

/// Starts a thread called `name` (at most 15 bytes are shown by the system).
pub fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<Thread<T>> {
    spawn_member(name, sim::register(name), work)
}

/// [`spawn`] with a place in a simulation, or none.
pub(crate) fn spawn_member<T: Send + 'static>(
    name: &str,
    member: Option<SimThread>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Thread<T>> {
    let place = member.clone();
    let work = move || match place {
        Some(place) => place.run(work),
        None => work(),
    };
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(|handle| Thread { handle, member }).map_err(|error| IoError {
        op: IoOp::Spawn,
        path: Path::new(name).to_path_buf(),
        kind: error.kind(),
        errno: error.raw_os_error().unwrap_or(0),
    })
}

/// Ends the process because a background thread cannot continue: by a panic, which does that there. In a
/// simulation that ends instead, as its process.
#[cold]
pub fn end_process(why: &str) -> ! {
    sim::stop(why);
    panic!("{why}");
}

/// Upper bound on simulated processors.
const SIMULATED_PROCESSORS_MAX: u64 = 4;

/// How many threads the machine can run at once; 1 if that is unknown. In a simulation its seed decides.
pub fn processors() -> usize {
    if let Some(bits) = sim::random() {
        return 1 + (bits % SIMULATED_PROCESSORS_MAX) as usize;
    }
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
