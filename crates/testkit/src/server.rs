//! A server process under test: started on a folder of its own, stopped when dropped.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A running `ratchetd`. `folder` is held for its deletion at the end.
pub struct TestServer {
    child: Child,
    /// Port it listens on.
    pub port: u16,
    /// Its data directory.
    pub datadir: PathBuf,
    /// Its unix socket.
    pub socket: PathBuf,
    /// What it said before it was ready.
    pub startup_log: Vec<String>,
    folder: Option<tempfile::TempDir>,
}

/// How long a start may take before the test fails.
const START_TIMEOUT: Duration = Duration::from_secs(60);

impl TestServer {
    /// Starts `binary` on a new, empty data directory with further `options`.
    pub fn start(binary: &Path, options: &[&str]) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut server = Self::start_on(binary, &folder.path().join("data"), options)?;
        server.folder = Some(folder);
        Ok(server)
    }

    /// Starts `binary` on `datadir`; the caller keeps the folder.
    pub fn start_on(binary: &Path, datadir: &Path, options: &[&str]) -> Result<Self, String> {
        let socket = datadir.with_extension("sock");
        let mut child = command(binary, datadir, options)
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", binary.display()))?;
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let port = line.split_once("ready for connections. port: ").and_then(|(_, rest)| {
                    rest.split_whitespace().next().and_then(|number| number.parse::<u16>().ok())
                });
                // The receiver is gone once the port is known; later lines are read only to keep the pipe
                // empty.
                let _ = sender.send(port.ok_or(line));
            }
        });
        let mut log = Vec::new();
        loop {
            match receiver.recv_timeout(START_TIMEOUT) {
                Ok(Ok(port)) => {
                    let datadir = datadir.to_owned();
                    return Ok(TestServer { child, port, datadir, socket, startup_log: log, folder: None });
                }
                Ok(Err(line)) => log.push(line),
                Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("the server did not start:\n{}", log.join("\n")));
                }
            }
        }
    }

    /// Runs `binary`, which is to refuse `datadir` or `options`; what it says on standard error.
    ///
    /// # Errors
    /// It was not refused.
    pub fn refuse(binary: &Path, datadir: &Path, options: &[&str]) -> Result<String, String> {
        let mut child = command(binary, datadir, options)
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", binary.display()))?;
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let mut said = String::new();
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            said.push_str(&line);
            said.push('\n');
            if line.contains("ready for connections") {
                child.kill().map_err(|e| e.to_string())?;
            }
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        if status.code().is_none_or(|code| code == 0) {
            Err(format!("it was not refused: {said}"))
        } else {
            Ok(said)
        }
    }

    /// Starts `binary` on `datadir` and ends the process after `pause` as a power failure would. True if it
    /// was not ready by then: its recovery was cut short.
    pub(crate) fn kill_start(
        binary: &Path,
        datadir: &Path,
        options: &[&str],
        pause: Duration,
    ) -> Result<bool, String> {
        let mut child = command(binary, datadir, options)
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", binary.display()))?;
        std::thread::sleep(pause);
        child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
        let mut said = String::new();
        let mut stderr = child.stderr.take().ok_or("no stderr")?;
        stderr.read_to_string(&mut said).map_err(|e| e.to_string())?;
        Ok(!said.contains("ready for connections"))
    }

    /// Ends the process as a power failure would: no handler runs.
    pub fn kill(mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(|_| ()).map_err(|e| e.to_string())
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks for a clean shutdown and waits; an error if the process did not end with status 0.
    pub fn shut_down(&mut self) -> Result<(), String> {
        let status =
            Command::new("kill").arg(self.child.id().to_string()).status().map_err(|e| e.to_string())?;
        if !status.success() {
            return Err("the server is gone already".to_owned());
        }
        self.wait_for_end()
    }

    /// Waits for a clean shutdown that is under way; an error if the process did not end with status 0.
    pub fn wait_for_end(&mut self) -> Result<(), String> {
        let status = self.child.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("shutdown ended with {status}")) }
    }
}

/// Names the server that tests start.
const UNDER_TEST: &str = "RATCHETD_UNDER_TEST";

/// Returns the server that tests start in place of `built`, a `ratchetd` that cargo made with the test: the
/// one that the environment variable [`UNDER_TEST`] names, if it names one. So the same tests run
/// against the server of another profile, such as the released one. Programs of other names stay, such as
/// scripts that start a server.
pub fn binary_under_test(built: &Path) -> PathBuf {
    let named = std::env::var_os(UNDER_TEST).filter(|_| built.ends_with("ratchetd"));
    named.map_or_else(|| built.to_owned(), PathBuf::from)
}

/// [`binary_under_test`] for tests of other crates than the server: `ratchetd` in the folder of the profile
/// that this test was built with. `cargo test --workspace` builds it; a test alone takes it as it is there.
pub fn built_with_this_test() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let folder = test.ancestors().nth(2).unwrap_or(Path::new(""));
    binary_under_test(&folder.join("ratchetd"))
}

/// Whether the server under test is optimised, without debug assertions: the released one, or the one of a
/// test built that way.
pub fn is_released() -> bool {
    std::env::var_os(UNDER_TEST).is_some() || !cfg!(debug_assertions)
}

/// What a test takes for a server without optimisation, which may be twenty times slower, and for an
/// optimised one.
pub fn of_build<T>(plain: T, optimised: T) -> T {
    if crate::IS_OPTIMISED || is_released() { optimised } else { plain }
}

fn command(binary: &Path, datadir: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(binary_under_test(binary));
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", datadir.display()))
        .arg(format!("--socket={}", datadir.with_extension("sock").display()))
        .arg("--port=0")
        .args(options)
        .stderr(Stdio::piped())
        .stdout(Stdio::null());
    command
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // Killing a child that has ended already is not an error worth reporting.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
