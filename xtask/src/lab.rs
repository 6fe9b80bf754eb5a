//! Servers that this tool builds, under the lab.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{fresh, output, run, target_dir};
use crate::server_process::ServerProcess;

/// Builds the release server with these options of cargo and copies it to `copy`.
pub(crate) fn build_server(copy: &Path, options: &[&str]) -> Result<(), String> {
    run("cargo", &[&["build", "--release", "--package", "server", "--bin", "ratchetd"], options].concat())?;
    let built = target_dir().join("release/ratchetd");
    fs::copy(built, copy).map(|_| ()).map_err(|e| format!("{}: {e}", copy.display()))
}

/// Runs `ratchet lab` with `args`; what it says.
pub(crate) fn command(args: &[&str]) -> Result<String, String> {
    let said = output("cargo", &[&["run", "--quiet", "--package", "ratchet", "--", "lab"], args].concat())?;
    print!("{said}");
    Ok(said)
}

/// Compares servers (names, executables), each on a new data directory in `place`, with `settings` of a
/// configuration's section `[run]`. The folder with the reports.
pub(crate) fn compare(servers: &[(&str, PathBuf)], settings: &str, place: &Path) -> Result<PathBuf, String> {
    let out = fresh(&place.join("lab"))?;
    let mut config = format!("[run]\n{settings}out = '{}'\n", out.display());
    let mut running = Vec::new();
    for (name, executable) in servers {
        let data = fresh(&place.join(format!("data-{name}")))?;
        let port = free_port()?;
        let mut command = Command::new(executable);
        command.args(["--no-defaults", "--innodb-buffer-pool-size=1G", &format!("--port={port}")]);
        command.arg(format!("--datadir={}", data.display())).arg(format!("--socket={}.sock", data.display()));
        running.push(ServerProcess::start(&mut command)?);
        config.push_str(&format!("[[target]]\nname = '{name}'\nurl = 'mysql://root@127.0.0.1:{port}'\n"));
    }
    let file = place.join("lab.toml");
    fs::write(&file, config).map_err(|e| format!("{}: {e}", file.display()))?;
    command(&["compare", "--config", &file.to_string_lossy()])?;
    running.into_iter().try_for_each(ServerProcess::stop)?;
    Ok(out)
}

/// A port that nobody listens at.
pub(crate) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|e| e.to_string())
}
