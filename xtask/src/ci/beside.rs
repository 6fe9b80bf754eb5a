//! Programs that run beside a step at a low priority, and take what processors it leaves.

use std::ffi::{OsStr, OsString};
use std::process::{Child, Command};
use std::time::Instant;

use super::output::Output;
use crate::process::root;

/// The lowest priority.
const NICENESS: u32 = 19;
/// That of a job that goes ahead of others.
const AHEAD: u32 = 12;

/// A program to run.
pub(super) struct Job {
    name: &'static str,
    niceness: u32,
    /// The program with its arguments.
    command: Vec<OsString>,
}

impl Job {
    /// `program` with `args`, in the workspace root.
    pub(super) fn new(name: &'static str, program: impl AsRef<OsStr>, args: &[&str]) -> Self {
        let args = args.iter().map(OsString::from);
        let command = std::iter::once(program.as_ref().to_owned()).chain(args).collect();
        Job { name, niceness: NICENESS, command }
    }

    /// The same, ahead of the other jobs.
    pub(super) fn ahead(self) -> Self {
        Job { niceness: AHEAD, ..self }
    }
}

/// What runs; it is ended when this is dropped.
pub(super) struct Beside(Vec<Running>);

struct Running {
    name: &'static str,
    child: Child,
    output: Output,
}

impl Beside {
    /// Starts all of `jobs`.
    pub(super) fn start(jobs: Vec<Job>) -> Result<Self, String> {
        let mut running = Beside(Vec::new());
        for job in jobs {
            running.0.push(Running::start(job)?);
        }
        Ok(running)
    }

    /// Waits for all and prints what they said; an error if one failed.
    pub(super) fn finish(mut self) -> Result<(), String> {
        self.0.iter_mut().try_for_each(Running::finish)
    }
}

impl Running {
    fn start(job: Job) -> Result<Self, String> {
        let output = Output::of(job.name);
        let mut command = Command::new("nice");
        command.args(["-n", &job.niceness.to_string()]).args(job.command).current_dir(root());
        output.redirect(&mut command)?;
        let child = command.spawn().map_err(|e| format!("cannot run nice: {e}"))?;
        println!("== {}, beside it", job.name);
        Ok(Running { name: job.name, child, output })
    }

    fn finish(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        let status = self.child.wait().map_err(|e| format!("{}: {e}", self.name))?;
        print!("== {}\n{}", self.name, self.output.read()?);
        println!("ci: {}: beside it, and {} s more", self.name, begun.elapsed().as_secs());
        if status.success() { Ok(()) } else { Err(format!("failed: {}", self.name)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is not ended twice.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_are_waited_for_and_one_that_fails_is_told() {
        let good = || Job::new("good", "true", &[]);
        assert_eq!(Beside::start(vec![good(), good()]).unwrap().finish(), Ok(()));
        let failing = Beside::start(vec![good(), Job::new("bad", "false", &[])]).unwrap();
        assert_eq!(failing.finish(), Err("failed: bad".to_owned()));
    }

    #[test]
    fn what_is_not_waited_for_is_ended() {
        let endless = Beside::start(vec![Job::new("endless", "sleep", &["1000"])]).unwrap();
        let process = format!("/proc/{}", endless.0[0].child.id());
        assert!(fs::exists(&process).unwrap());
        drop(endless);
        assert!(!fs::exists(&process).unwrap());
    }
}
