//! A server with certificates of its own and the accounts that `tests/clients/logins.tsv` names, and the
//! certificate of an authority that is not the server's.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::fresh;
use crate::server_process::ServerProcess;

const ACCOUNTS: &str = "CREATE DATABASE d;
CREATE USER native IDENTIFIED WITH mysql_native_password BY 'native-secret';
CREATE USER native_required IDENTIFIED WITH mysql_native_password BY 'native-secret' REQUIRE SSL;
CREATE USER sha_key IDENTIFIED WITH caching_sha2_password BY 'sha2-secret';
CREATE USER sha_tls IDENTIFIED WITH caching_sha2_password BY 'sha2-secret';
CREATE USER sha_socket IDENTIFIED WITH caching_sha2_password BY 'sha2-secret';
CREATE USER sha_required IDENTIFIED WITH caching_sha2_password BY 'sha2-secret' REQUIRE SSL;
GRANT ALL ON d.* TO native, native_required, sha_key, sha_tls, sha_socket, sha_required;
SET GLOBAL connection_control_failed_connections_threshold = 0;";

/// A running server in a folder of its own, which is removed at the end.
pub(super) struct Place {
    server: Option<ServerProcess>,
    folder: PathBuf,
    socket: PathBuf,
    own: PathBuf,
    other: PathBuf,
    /// The port it listens on.
    pub(super) port: u16,
}

impl Place {
    /// Starts `binary` for what `name` says.
    pub(super) fn start(binary: &Path, name: &str) -> Result<Self, String> {
        // A socket's path is short of letters: the target directory may be too deep.
        let id = std::process::id();
        let folder = fresh(&std::env::temp_dir().join(format!("ratchet-compat-{id}-{name}")))?;
        let mut place = Place {
            server: None,
            socket: folder.join("server.sock"),
            own: folder.join("data/ca.pem"),
            other: folder.join("other/ca.pem"),
            port: free_port()?,
            folder,
        };
        // A server that makes certificates and is gone again.
        place.serve(binary, "other")?.stop()?;
        place.server = Some(place.serve(binary, "data")?);
        place.make_accounts()?;
        Ok(place)
    }

    fn serve(&self, binary: &Path, folder: &str) -> Result<ServerProcess, String> {
        let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
        ServerProcess::start(
            Command::new(binary)
                .arg(option("datadir", &self.folder.join(folder)))
                .arg(option("socket", &self.socket))
                .arg(format!("--port={}", self.port)),
        )
    }

    fn make_accounts(&self) -> Result<(), String> {
        let made = Command::new("mariadb")
            .args(["--no-defaults", "--user=root", "--execute", ACCOUNTS])
            .arg(format!("--socket={}", self.socket.display()))
            .output()
            .map_err(|error| format!("mariadb: {error}"))?;
        if made.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&made.stderr).into_owned()) }
    }

    /// The Unix socket.
    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// The certificate of the authority that signed the server's.
    pub(super) fn own_authority(&self) -> &Path {
        &self.own
    }

    /// That of another.
    pub(super) fn other_authority(&self) -> &Path {
        &self.other
    }

    /// A clean shutdown.
    pub(super) fn stop(mut self) -> Result<(), String> {
        self.server.take().map_or(Ok(()), ServerProcess::stop)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server = None;
        // A folder that stays in the system's temporary directory does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}
