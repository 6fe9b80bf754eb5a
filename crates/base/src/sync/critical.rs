//! Critical sections: stretches in which a panic must end the process.
//!
//! A thread that holds a latch, a mutex, a log slot or a mini-transaction may have changed shared state half.
//! Unwinding would release it as if it were whole, so the panic hook aborts instead. Background threads
//! always abort: the loss of one would go unnoticed.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static BACKGROUND: Cell<bool> = const { Cell::new(false) };
}

/// One open critical section of this thread; ends when dropped.
#[derive(Debug)]
pub struct Section {
    /// The count is the thread's, so the section must end where it began.
    not_send: PhantomData<*const ()>,
}

/// Opens a critical section. Cost: one increment of a thread-local word.
#[inline]
pub fn enter() -> Section {
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    Section { not_send: PhantomData }
}

impl Drop for Section {
    #[inline]
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}

/// How many critical sections this thread has open.
#[inline]
pub fn depth() -> u32 {
    DEPTH.get()
}

/// Declares this thread a background thread: any panic of it ends the process.
pub fn mark_background() {
    BACKGROUND.set(true);
}

/// Whether a panic raised here and now must end the process.
pub fn must_abort() -> bool {
    depth() > 0 || BACKGROUND.get()
}

/// Installs a panic hook that runs the previous hook (which prints the message) and then aborts the process
/// if [`must_abort`]. Call once, at start-up.
pub fn install_abort_hook() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        if must_abort() {
            std::process::abort();
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_nest_and_end_with_their_guards() {
        let outer = enter();
        assert_eq!(depth(), 1);
        drop((enter(), enter()));
        assert_eq!(depth(), 1);
        assert!(must_abort());
        drop(outer);
        assert!(!must_abort());
    }

    #[test]
    fn a_background_thread_is_always_critical() {
        let critical = std::thread::spawn(|| {
            mark_background();
            must_abort()
        });
        assert!(critical.join().unwrap());
        assert!(!must_abort());
    }

    /// Runs this test binary again with `scenario` and returns whether the child died of a signal.
    fn child_is_aborted(scenario: &str) -> bool {
        let out = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sync::critical::tests::scenario_for_the_child", "--nocapture"])
            .env("CRITICAL_SCENARIO", scenario)
            .output()
            .unwrap();
        out.status.code().is_none()
    }

    #[test]
    fn scenario_for_the_child() {
        let Ok(scenario) = std::env::var("CRITICAL_SCENARIO") else { return };
        install_abort_hook();
        let section = (scenario == "inside").then(enter);
        let caught = std::panic::catch_unwind(|| panic!("on purpose"));
        assert!(caught.is_err());
        drop(section);
    }

    #[test]
    fn a_panic_aborts_inside_a_section_and_unwinds_outside() {
        assert!(child_is_aborted("inside"));
        assert!(!child_is_aborted("outside"));
    }
}
