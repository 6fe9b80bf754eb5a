//! A server that a command of this tool starts, waits for and stops.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::process::run;

/// A running server; killed when dropped before it was stopped.
pub(crate) struct ServerProcess(Child);

impl ServerProcess {
    /// Runs `command`, which starts `ratchetd`, and waits until it takes connections.
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let mut child =
            command.stderr(Stdio::piped()).spawn().map_err(|e| format!("cannot start ratchetd: {e}"))?;
        let stderr = child.stderr.take().ok_or("a child without its standard error")?;
        let server = ServerProcess(child);
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let mut said = Vec::new();
        let ready = lines.by_ref().any(|line| {
            let ready = line.contains("ready for connections");
            said.push(line);
            ready
        });
        if !ready {
            return Err(format!("ratchetd did not start:\n{}", said.join("\n")));
        }
        // What the server still says is read to the end, or it would block one day.
        std::thread::spawn(move || lines.count());
        Ok(server)
    }

    /// A clean shutdown.
    pub(crate) fn stop(mut self) -> Result<(), String> {
        run("kill", &["-TERM", &self.0.id().to_string()])?;
        let status = self.0.wait().map_err(|e| format!("cannot wait for ratchetd: {e}"))?;
        if status.success() { Ok(()) } else { Err(format!("ratchetd ended with {status}")) }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // After a clean stop there is nothing left to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
