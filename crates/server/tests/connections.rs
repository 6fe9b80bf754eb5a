//! Crowds and slow clients: how many may connect, and how long each may let the server wait.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use support::{TestServer, error, eventually};

/// Connections that are opened at once.
const CROWD: usize = 900;

fn connect(server: &TestServer, user: &str) -> Result<Conn, mysql::Error> {
    let options = mysql::OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .user(Some(user))
        .prefer_socket(false);
    Conn::new(options)
}

fn root(server: &TestServer) -> Conn {
    connect(server, "root").unwrap()
}

fn status(conn: &mut Conn, name: &str) -> u64 {
    let row: (String, u64) = conn.query_first(format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap().unwrap();
    row.1
}

fn code<T>(result: Result<T, mysql::Error>) -> u16 {
    match result {
        Ok(_) => 0,
        Err(mysql::Error::MySqlError(error)) => error.code,
        Err(error) => panic!("{error}"),
    }
}

/// As many open files as the system allows, for this process and the servers it starts.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
}

fn signal(server: &TestServer, name: &str) {
    assert!(Command::new("kill").args([name, &server.pid().to_string()]).status().unwrap().success());
}

/// Stops the server, so that nothing is accepted, opens connections by `connect`, and lets the server
/// continue.
fn crowd<S: Read>(server: &TestServer, connect: impl Fn() -> S) -> Vec<S> {
    signal(server, "-STOP");
    let sockets = (0..CROWD).map(|_| connect()).collect();
    signal(server, "-CONT");
    sockets
}

fn assert_greeted(mut socket: impl Read) {
    let mut head = [0; 5];
    socket.read_exact(&mut head).unwrap();
    assert_eq!(head[3..], [0, 10], "a greeting");
}

#[test]
fn nine_hundred_clients_that_connect_at_once_are_all_greeted() {
    allow_many_files();
    let server = TestServer::start(&["--max-connections=2000", "--connect-timeout=60"]);
    let timeout = Duration::from_secs(30);
    let address = ([127, 0, 0, 1], server.port).into();
    let crowd_tcp = crowd(&server, || {
        let socket = TcpStream::connect_timeout(&address, timeout).unwrap();
        socket.set_read_timeout(Some(timeout)).unwrap();
        socket
    });
    crowd_tcp.iter().for_each(assert_greeted);
    let crowd_unix = crowd(&server, || {
        let socket = UnixStream::connect(server.socket()).unwrap();
        socket.set_read_timeout(Some(timeout)).unwrap();
        socket
    });
    crowd_unix.iter().for_each(assert_greeted);
}

#[test]
fn the_connection_beyond_the_limit_is_an_administrators() {
    let server = TestServer::start(&["--max-connections=2"]);
    let mut admin = root(&server);
    admin.query_drop("CREATE USER bob").unwrap();
    let bob = connect(&server, "bob").unwrap();
    assert_eq!(code(connect(&server, "bob")), 1040);
    let second = root(&server);
    assert_eq!(code(connect(&server, "root")), 1040, "there is one such connection");
    eventually("the end of what was refused", || status(&mut admin, "Threads_connected") == 3);
    assert_eq!(status(&mut admin, "Connection_errors_max_connections"), 2);
    drop((bob, second));
    eventually("a free place", || connect(&server, "bob").is_ok());
}

/// A client that logs in a byte at a time and never finishes.
struct Dripping(TcpStream);

impl Dripping {
    fn connect(server: &TestServer) -> Self {
        let socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        socket.set_nonblocking(true).unwrap();
        // The header of a packet of 200 bytes.
        (&socket).write_all(&[200, 0, 0, 1]).unwrap();
        Dripping(socket)
    }

    /// Sends a byte; whether the server still holds the connection.
    fn drip(&self) -> bool {
        let _ = (&self.0).write(&[0]);
        let mut waste = [0; 256];
        loop {
            match (&self.0).read(&mut waste) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(e) => return e.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    }
}

#[test]
fn clients_that_drip_their_handshakes_end_in_time_and_keep_no_administrator_out() {
    const SLOW: usize = 200;
    const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
    // So that no packet is whole before the timeout, however fast the administrator is refused.
    const PAUSE: Duration = Duration::from_millis(50);
    let server = TestServer::start(&["--max-connections=151", "--connect-timeout=5"]);
    let began = Instant::now();
    let mut slow: Vec<Dripping> = (0..SLOW).map(|_| Dripping::connect(&server)).collect();
    let drip_all = |slow: &mut Vec<Dripping>| slow.retain(Dripping::drip);
    let mut next = began;
    let mut admin = loop {
        if next <= Instant::now() {
            drip_all(&mut slow);
            next = Instant::now() + PAUSE;
        }
        match connect(&server, "root") {
            Ok(conn) => break conn,
            Err(_) => assert!(began.elapsed() < CONNECT_TIMEOUT, "the administrator is kept out"),
        }
    };
    drip_all(&mut slow);
    assert!(slow.len() > 100, "{} clients still drip", slow.len());
    while !slow.is_empty() {
        drip_all(&mut slow);
        let elapsed = began.elapsed();
        assert!(
            elapsed < CONNECT_TIMEOUT + Duration::from_secs(5),
            "{} are left after {elapsed:?}",
            slow.len()
        );
    }
    eventually("the end of all their threads", || status(&mut admin, "Threads_connected") == 1);
    assert!(status(&mut admin, "Aborted_connects") >= 151);
}

#[test]
fn connect_timeout_bounds_the_whole_handshake_and_a_change_of_user() {
    let server = TestServer::start(&["--connect-timeout=2"]);
    for change in [false, true] {
        let mut client = if change { server.root() } else { server.raw() };
        if change {
            // A plugin that is not the account's: the server asks for another answer and waits for it.
            client.send(0, b"\x11root\0\x01x\0\x2d\0mysql_native_password\0");
            client.read();
        }
        let began = Instant::now();
        let (mut drips, over) = (client.another(), AtomicBool::new(false));
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                let header = [200, 0, 0, if change { 2 } else { 1 }];
                for byte in header.into_iter().chain(std::iter::repeat(0)) {
                    if over.load(Ordering::Relaxed) || drips.write(&[byte]).is_err() {
                        break;
                    }
                    std::thread::park_timeout(Duration::from_millis(50));
                }
            });
            let answer = client.try_read();
            over.store(true, Ordering::Relaxed);
            answer
        });
        let waited = began.elapsed();
        let (sequence, answer) =
            answer.unwrap_or_else(|| panic!("closed after {waited:?}, change of user: {change}"));
        assert_eq!(error(&answer), (1159, "#08S01Got timeout reading communication packets".to_owned()));
        assert!(
            sequence > 0 && waited > Duration::from_millis(1900) && waited < Duration::from_secs(8),
            "{waited:?}"
        );
    }
}

#[test]
fn a_packet_that_stops_in_its_middle_is_waited_for_as_net_read_timeout_says() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let option = format!("--log-error={}", log.display());
    let server = TestServer::start(&["--log-error-verbosity=3", &option]);
    let mut silent = server.root();
    assert_eq!(silent.command(3, b"SET net_read_timeout = 1")[0], 0);
    for part in [&b"\x20\0"[..], b"\x20\0\0\0\x03SELECT"] {
        let mut client = server.root();
        assert_eq!(client.command(3, b"SET net_read_timeout = 1, wait_timeout = 1000")[0], 0);
        let began = Instant::now();
        client.send_bytes(part);
        let (_, answer) = client.read();
        assert_eq!(error(&answer).0, 1159);
        assert!(began.elapsed() >= Duration::from_millis(900));
        assert_eq!(client.try_read(), None);
    }
    let line =
        "to db: 'unconnected' user: 'root' host: 'localhost' (Got timeout reading communication packets)";
    eventually("a line of each in the log", || {
        std::fs::read_to_string(&log).unwrap().matches(line).count() == 2
    });
    assert_eq!(silent.command(0x0e, b"")[0], 0, "a client that is silent between commands has wait_timeout");
}

#[test]
fn a_client_that_sends_no_more_of_its_file_is_ended() {
    let server = TestServer::start(&["--local-infile=ON"]);
    let mut watcher = root(&server);
    watcher.query_drop("CREATE DATABASE d").unwrap();
    watcher.query_drop("CREATE TABLE d.t (a INT)").unwrap();
    let mut client = server.root_with(0x80);
    assert_eq!(client.command(3, b"SET net_read_timeout = 1")[0], 0);
    assert_eq!(client.command(3, b"LOAD DATA LOCAL INFILE 'f' INTO TABLE d.t"), b"\xfbf");
    client.send(2, b"1\n2\n");
    assert_eq!(error(&client.read().1).0, 1159);
    assert_eq!(client.try_read(), None);
    let rows: Option<u64> = watcher.query_first("SELECT COUNT(*) FROM d.t").unwrap();
    assert_eq!(rows, Some(0));
}

#[test]
fn a_client_that_does_not_read_loses_its_connection_and_its_locks() {
    let server = TestServer::start(&[]);
    let mut watcher = root(&server);
    watcher.query_drop("CREATE DATABASE d").unwrap();
    watcher.query_drop("CREATE TABLE d.t (a INT PRIMARY KEY, b LONGTEXT)").unwrap();
    watcher.query_drop("INSERT INTO d.t VALUES (1, REPEAT('x', 1000000))").unwrap();
    let mut deaf = server.root();
    assert_eq!(deaf.command(3, b"SET SESSION net_write_timeout = 1")[0], 0);
    assert_eq!(deaf.command(3, b"BEGIN")[0], 0);
    assert_eq!(deaf.command(0x1b, b"\0\0")[0], 0xfe, "several statements in one");
    // Answers of 60 MB, more than sockets hold.
    deaf.send(0, &[b"\x03", "SELECT * FROM d.t FOR UPDATE;".repeat(60).as_bytes()].concat());
    eventually("the lock", || {
        let unlocked: Option<u8> = watcher.query_first("SELECT a FROM d.t FOR UPDATE SKIP LOCKED").unwrap();
        unlocked.is_none()
    });
    let began = Instant::now();
    watcher.query_drop("UPDATE d.t SET b = '' WHERE a = 1").unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    eventually("the end of its connection", || status(&mut watcher, "Threads_connected") == 1);
    assert_eq!(status(&mut watcher, "Aborted_clients"), 1);
}

/// The first packet that a client gets who connects from an address of this machine that no host but a remote
/// one has.
fn knock(server: &TestServer) -> (TcpStream, Vec<u8>) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let address = |ip: [u8; 4], port: u16| std::net::SocketAddr::from((ip, port)).into();
    socket.bind(&address([127, 0, 0, 2], 0)).unwrap();
    socket.connect(&address([127, 0, 0, 1], server.port)).unwrap();
    let mut socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut header = [0; 4];
    socket.read_exact(&mut header).unwrap();
    let mut packet = vec![0; usize::from(header[0])];
    socket.read_exact(&mut packet).unwrap();
    (socket, packet)
}

/// Sends what is no handshake, and reads to the end of the connection.
fn break_handshake(server: &TestServer) {
    let (mut socket, greeting) = knock(server);
    assert!(matches!(greeting[0], 10 | 0xff), "{greeting:?}");
    let _ = socket.write_all(b"\x01\0\0\x01x");
    let _ = socket.read_to_end(&mut Vec::new());
}

#[test]
fn a_host_of_broken_handshakes_is_blocked_and_loopback_is_not() {
    let server = TestServer::start(&["--max-connect-errors=3"]);
    let mut admin = root(&server);
    let blocked = || knock(&server).1[0] == 0xff;
    for unblock in
        ["FLUSH HOSTS", "TRUNCATE TABLE performance_schema.host_cache", "SET GLOBAL host_cache_size = 10"]
    {
        (0..3).for_each(|_| break_handshake(&server));
        eventually("the block", blocked);
        let text = "Host '127.0.0.2' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'";
        assert_eq!(error(&knock(&server).1), (1129, text.to_owned()));
        // Handshakes that were broken off a moment ago may still be counted.
        eventually("the end of the block", || {
            admin.query_drop(unblock).unwrap();
            !blocked()
        });
    }
    for _ in 0..5 {
        let mut client = server.raw();
        client.send(1, b"x");
        assert_eq!(error(&client.read().1).0, 1043);
    }
    assert_eq!(server.raw().greeting[0], 10, "loopback is exempt");
    assert_eq!(code(admin.query_drop("SELECT * FROM performance_schema.host_cache")), 1146);
}
