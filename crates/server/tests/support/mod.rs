//! Starts a server of its own for each test, and speaks the protocol to it byte by byte.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::server::binary_under_test;

/// A running server on a temporary data directory and a free port.
pub struct TestServer {
    child: Child,
    dir: TempDir,
    /// TCP port.
    pub port: u16,
}

impl TestServer {
    /// Starts a server with further arguments and waits until it is ready.
    pub fn start(args: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), args)
    }

    /// As [`TestServer::start`], with the data directory `data` in `dir`, which may be there.
    pub fn start_in(dir: TempDir, args: &[&str]) -> Self {
        let mut child = command(&dir, args).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = Vec::new();
        let port = loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("the server ended before it was ready: {seen:?}");
            };
            if let Some(rest) = line.strip_prefix("ratchetd: ready for connections. port: ") {
                break rest.split(' ').next().unwrap().parse().unwrap();
            }
            seen.push(line);
        };
        std::thread::spawn(move || lines.for_each(drop));
        TestServer { child, dir, port }
    }

    /// Runs a server that is expected to refuse to start; what it said.
    pub fn refuse(args: &[&str]) -> String {
        let (code, said) = Self::run_to_end(&tempfile::tempdir().unwrap(), args);
        assert_eq!(code, Some(1));
        said
    }

    /// Runs a server that ends by itself, with the data directory `data` in `dir`: its exit code, and what it
    /// said.
    pub fn run_to_end(dir: &TempDir, args: &[&str]) -> (Option<i32>, String) {
        let output = command(dir, args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// The directory of a server that has ended.
    pub fn into_dir(mut self) -> TempDir {
        std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap())
    }

    /// Path of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("sock")
    }

    /// Path of the pid file.
    pub fn pid_file(&self) -> PathBuf {
        self.dir.path().join("data/ratchetd.pid")
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and waits; whether the server ended cleanly.
    pub fn terminate(&mut self) -> bool {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
        self.child.wait().unwrap().success()
    }

    /// A TCP connection that has read the greeting.
    pub fn raw(&self) -> RawClient {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut client = RawClient { socket, greeting: Vec::new() };
        client.greeting = client.read().1;
        client
    }

    /// A TCP connection logged in as root.
    pub fn root(&self) -> RawClient {
        self.root_with(0)
    }

    /// As [`TestServer::root`], with further capabilities.
    pub fn root_with(&self, capabilities: u32) -> RawClient {
        let mut client = self.raw();
        client.send(1, &RawClient::login_packet("root", b"mysql_native_password", b"", capabilities));
        let (_, answer) = client.read();
        assert_eq!(answer[0], 0, "login failed: {}", String::from_utf8_lossy(&answer));
        client
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(dir: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(binary_under_test(Path::new(env!("CARGO_BIN_EXE_ratchetd"))));
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", dir.path().join("data").display()))
        .arg(format!("--socket={}", dir.path().join("sock").display()))
        .arg("--port=0")
        .args(args)
        .stderr(Stdio::piped());
    command
}

/// A client that sends whatever bytes it is told to.
pub struct RawClient {
    socket: TcpStream,
    /// The server's greeting.
    pub greeting: Vec<u8>,
}

impl RawClient {
    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    /// Its socket once more, to send by while something is read.
    pub fn another(&self) -> TcpStream {
        self.socket.try_clone().unwrap()
    }

    /// Sends one packet.
    pub fn send(&mut self, sequence: u8, body: &[u8]) {
        let mut packet = (body.len() as u32).to_le_bytes();
        packet[3] = sequence;
        self.send_bytes(&[&packet[..], body].concat());
    }

    /// Reads one packet: sequence number and body.
    pub fn read(&mut self) -> (u8, Vec<u8>) {
        self.try_read().expect("the server closed the connection")
    }

    /// Reads one packet; `None` at the end of the connection.
    pub fn try_read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header).ok()?;
        let sequence = std::mem::take(&mut header[3]);
        let mut body = vec![0; u32::from_le_bytes(header) as usize];
        self.socket.read_exact(&mut body).ok()?;
        Some((sequence, body))
    }

    /// Whether bytes from the server can be read. Does not wait.
    pub fn has_answer(&self) -> bool {
        self.socket.set_nonblocking(true).unwrap();
        let arrived = self.socket.peek(&mut [0]).is_ok();
        self.socket.set_nonblocking(false).unwrap();
        arrived
    }

    /// Sends a command and reads the first packet of its answer.
    pub fn command(&mut self, code: u8, args: &[u8]) -> Vec<u8> {
        self.send(0, &[&[code], args].concat());
        self.read().1
    }

    /// Sends a packet that the server may refuse before it has read all of it.
    pub fn send_lossy(&mut self, sequence: u8, body: &[u8]) {
        let mut header = (body.len().min(0xff_ffff) as u32).to_le_bytes();
        header[3] = sequence;
        let _ = self.socket.write_all(&[&header[..], body].concat());
    }

    /// Sends a handshake response with the native plugin.
    pub fn login(&mut self, user: &str, auth: &[u8]) {
        self.login_with(user, b"mysql_native_password", auth);
    }

    /// Sends a handshake response with `plugin` and its answer to the challenge.
    pub fn login_with(&mut self, user: &str, plugin: &[u8], auth: &[u8]) {
        self.send(1, &Self::login_packet(user, plugin, auth, 0));
    }

    /// A handshake response; `capabilities` are further ones.
    pub fn login_packet(user: &str, plugin: &[u8], auth: &[u8], capabilities: u32) -> Vec<u8> {
        let mut body = (0x0008_a205 | capabilities).to_le_bytes().to_vec();
        body.extend_from_slice(&[0; 4]);
        body.push(45);
        body.extend_from_slice(&[0; 23]);
        body.extend_from_slice(user.as_bytes());
        body.push(0);
        body.push(auth.len() as u8);
        body.extend_from_slice(auth);
        body.extend_from_slice(plugin);
        body.push(0);
        body
    }

    /// The challenge in the greeting.
    pub fn nonce(&self) -> Vec<u8> {
        let version_end = self.greeting.iter().position(|&byte| byte == 0).unwrap();
        let rest = &self.greeting[version_end + 5..];
        [&rest[..8], &rest[27..39]].concat()
    }

    /// Closes the sending side.
    pub fn half_close(&self) {
        self.socket.shutdown(std::net::Shutdown::Write).unwrap();
    }
}

/// Number and message of an ERR packet.
pub fn error(packet: &[u8]) -> (u16, String) {
    assert_eq!(packet[0], 0xff, "no error: {packet:?}");
    let message = String::from_utf8_lossy(&packet[3..]).into_owned();
    (u16::from_le_bytes([packet[1], packet[2]]), message)
}

/// Waits until `condition` holds, for at most half a minute: other tests run beside, on few cores.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
