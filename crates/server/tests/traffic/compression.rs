//! The compressed protocol, byte by byte and by a driver: what is agreed, every kind of exchange, and frames
//! that are wrong.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{RawClient, TestServer, error};
use mysql::prelude::Queryable as _;

const ZLIB: u32 = 1 << 5;
const LOCAL_FILES: u32 = 1 << 7;
const MULTI: u32 = 1 << 16 | 1 << 17;
const ZSTD: u32 = 1 << 26;

/// What the tests' own client compresses with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    Zlib,
    Zstd(u8),
}

const BOTH: [With; 2] = [With::Zlib, With::Zstd(3)];

impl With {
    /// A login with an empty password that asks for it.
    fn login(self, user: &str, capabilities: u32) -> Vec<u8> {
        let (flag, level) = match self {
            With::Zlib => (ZLIB, None),
            With::Zstd(level) => (ZSTD, Some(level)),
        };
        let mut packet = RawClient::login_packet(user, b"mysql_native_password", b"", capabilities | flag);
        packet.extend(level);
        packet
    }

    fn compress(self, content: &[u8]) -> Vec<u8> {
        match self {
            With::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            With::Zstd(level) => zstd::bulk::compress(content, i32::from(level)).unwrap(),
        }
    }

    fn decompress(self, body: &[u8], len: usize) -> Vec<u8> {
        let mut content = Vec::new();
        match self {
            With::Zlib => flate2::read::ZlibDecoder::new(body).read_to_end(&mut content).unwrap(),
            With::Zstd(_) => {
                zstd::stream::read::Decoder::new(body).unwrap().read_to_end(&mut content).unwrap()
            }
        };
        assert_eq!(content.len(), len, "the length that the header declares");
        content
    }
}

/// A client whose packets are in frames. Counts frames in both directions, and checks the server's numbers.
struct Framed<S> {
    socket: S,
    with: With,
    next: u8,
    content: VecDeque<u8>,
    /// Frames of the server that were compressed, and that were not.
    seen: (usize, usize),
}

fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let mut header = (body.len() as u32).to_le_bytes();
    header[3] = number;
    [&header, body].concat()
}

fn frame(number: u8, body: &[u8], decompressed: usize) -> Vec<u8> {
    let mut header = (body.len() as u32).to_le_bytes();
    header[3] = number;
    [&header, &(decompressed as u32).to_le_bytes()[..3], body].concat()
}

impl Framed<TcpStream> {
    fn connect(server: &TestServer, with: With, capabilities: u32) -> Self {
        let mut raw = server.raw();
        raw.send(1, &with.login("root", capabilities));
        assert_eq!(raw.read().1[0], 0);
        Framed::new(raw.another(), with)
    }
}

impl<S: Read + Write> Framed<S> {
    fn new(socket: S, with: With) -> Self {
        Framed { socket, with, next: 0, content: VecDeque::new(), seen: (0, 0) }
    }

    /// Sends a part of the packet stream as one frame.
    fn send_part(&mut self, part: &[u8]) {
        let bytes = if part.len() < 50 {
            frame(self.next, part, 0)
        } else {
            frame(self.next, &self.with.compress(part), part.len())
        };
        self.next = self.next.wrapping_add(1);
        self.socket.write_all(&bytes).unwrap();
        self.socket.flush().unwrap();
    }

    fn begin(&mut self, body: &[u8]) {
        self.next = 0;
        self.send_part(&packet(0, body));
    }

    fn take(&mut self, len: usize) -> Option<Vec<u8>> {
        while self.content.len() < len {
            let mut header = [0; 7];
            self.socket.read_exact(&mut header).ok()?;
            assert_eq!(header[3], self.next, "the number of the frame");
            self.next = self.next.wrapping_add(1);
            let length = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b));
            let (body, decompressed) = (length(&header[..3]), length(&header[4..]));
            let mut bytes = vec![0; body];
            self.socket.read_exact(&mut bytes).ok()?;
            if decompressed == 0 {
                self.seen.1 += 1;
                self.content.extend(bytes);
            } else {
                self.seen.0 += 1;
                assert!(body < decompressed, "a frame that did not get shorter");
                self.content.extend(self.with.decompress(&bytes, decompressed));
            }
        }
        Some(self.content.drain(..len).collect())
    }

    fn try_read(&mut self) -> Option<Vec<u8>> {
        let header = self.take(4)?;
        self.take(usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16)
    }

    fn read(&mut self) -> Vec<u8> {
        self.try_read().expect("the server closed the connection")
    }

    fn command(&mut self, body: &[u8]) -> Vec<u8> {
        self.begin(body);
        self.read()
    }

    /// The rows of one result set, each as it was sent.
    fn rows(&mut self, sql: &str) -> Vec<Vec<u8>> {
        let first = self.command(&[b"\x03", sql.as_bytes()].concat());
        assert_ne!(first[0], 0xff, "{}", String::from_utf8_lossy(&first));
        self.rest(usize::from(first[0]))
    }

    fn rest(&mut self, columns: usize) -> Vec<Vec<u8>> {
        for _ in 0..=columns {
            self.read();
        }
        let mut rows = Vec::new();
        loop {
            let row = self.read();
            if row[0] == 0xfe && row.len() < 9 {
                return rows;
            }
            rows.push(row);
        }
    }
}

/// The server's answer to a login.
fn answer(server: &TestServer, login: &[u8]) -> Vec<u8> {
    let mut client = server.raw();
    client.send(1, login);
    client.read().1
}

#[test]
fn the_variable_says_what_is_offered_and_allowed() {
    let server = TestServer::start(&[]);
    let mut admins: Vec<_> = BOTH.map(|with| Framed::connect(&server, with, 0)).into();
    let offered = || {
        let greeting = server.raw().greeting;
        let at = greeting.iter().position(|&byte| byte == 0).unwrap() + 1 + 4 + 8 + 1;
        let low = u32::from(u16::from_le_bytes([greeting[at], greeting[at + 1]]));
        let high = u32::from(u16::from_le_bytes([greeting[at + 5], greeting[at + 6]]));
        (low | high << 16) & (ZLIB | ZSTD)
    };
    let plain = RawClient::login_packet("root", b"mysql_native_password", b"", 0);
    let (zlib, zstd) = (With::Zlib.login("root", 0), With::Zstd(3).login("root", 0));
    let both = |level| With::Zstd(level).login("root", ZLIB);
    let refused = |named| (3922, format!("#HY000Invalid compression algorithm '{named}'."));
    let wrong_level = (3923, "#HY000Invalid zstd compression level for algorithm 'zstd'.".to_owned());
    let is_let_in = |login: &[u8]| answer(&server, login)[0] == 0;
    for (list, flags) in [
        ("zlib,zstd,uncompressed", ZLIB | ZSTD),
        ("ZSTD,zlib", ZLIB | ZSTD),
        ("zlib", ZLIB),
        ("zstd", ZSTD),
        ("uncompressed", 0),
        ("zstd,uncompressed", ZSTD),
    ] {
        let set = format!("\x03SET GLOBAL protocol_compression_algorithms = '{list}'");
        assert_eq!(admins[0].command(set.as_bytes())[0], 0);
        assert_eq!(offered(), flags, "{list}");
        if list.contains("uncompressed") {
            assert!(is_let_in(&plain));
        } else {
            assert_eq!(error(&answer(&server, &plain)), refused("uncompressed"));
        }
        for (flag, login, name) in [(ZLIB, &zlib, "zlib"), (ZSTD, &zstd, "zstd")] {
            if flags & flag == 0 {
                assert_eq!(error(&answer(&server, login)), refused(name), "{list}");
            } else {
                assert!(is_let_in(login), "{list}");
            }
        }
        // zlib has no level to be wrong.
        match flags {
            0 => {}
            ZSTD => assert_eq!(error(&answer(&server, &both(99))), wrong_level),
            _ => assert!(is_let_in(&both(99))),
        }
        for level in [0, 23, 255] {
            if flags & ZSTD != 0 {
                let login = With::Zstd(level).login("root", 0);
                assert_eq!(error(&answer(&server, &login)), wrong_level);
            }
        }
        let without_level = RawClient::login_packet("root", b"mysql_native_password", b"", ZSTD);
        if flags & ZSTD != 0 {
            assert_eq!(error(&answer(&server, &without_level)), wrong_level);
        }
    }
    for admin in &mut admins {
        assert_eq!(admin.command(b"\x0e")[0], 0, "those who are in stay in");
    }
    let said = TestServer::refuse(&["--protocol-compression-algorithms=zlib,lz4"]);
    assert!(said.contains("protocol"), "{said}");
}

#[test]
fn status_shows_the_compression_of_the_connection() {
    let server = TestServer::start(&[]);
    let status = |client: &mut Framed<TcpStream>, pattern: &str| -> Vec<String> {
        let rows = client.rows(&format!("SHOW STATUS LIKE '{pattern}'"));
        rows.iter().map(|row| String::from_utf8_lossy(&row[2 + usize::from(row[0])..]).into_owned()).collect()
    };
    for (with, name, level) in
        [(With::Zlib, "zlib", "6"), (With::Zstd(1), "zstd", "1"), (With::Zstd(22), "zstd", "22")]
    {
        let mut client = Framed::connect(&server, with, 0);
        assert_eq!(status(&mut client, "Compression%"), ["ON", name, level]);
        let sent = |client: &mut Framed<TcpStream>| status(client, "Bytes_sent")[0].parse::<u64>().unwrap();
        let before = sent(&mut client);
        assert_eq!(client.rows("SELECT REPEAT('x', 1000000)").len(), 1);
        assert!(sent(&mut client) - before < 20_000, "bytes of frames are counted");
    }
    let target = testkit::runner::Target { port: server.port, user: "root".to_owned() };
    let plain: Vec<(String, String)> =
        target.connect(None).unwrap().query("SHOW STATUS LIKE 'Compression%'").unwrap();
    assert_eq!(plain.into_iter().map(|(_, value)| value).collect::<Vec<_>>(), ["OFF", "", "0"]);
}

#[test]
fn answers_of_every_kind_come_in_frames() {
    let server = TestServer::start(&["--local-infile=1"]);
    for with in BOTH {
        let mut client = Framed::connect(&server, with, MULTI | LOCAL_FILES);
        assert_eq!(client.command(b"\x0e")[0], 0);
        assert_eq!(client.seen, (0, 1), "a short answer is not compressed");
        assert_eq!(error(&client.command(b"\x03SELEC")).0, 1064);
        assert_eq!(client.seen, (1, 1));
        for len in [0, 10, 30, 65_000, 65_536, 3_000_000] {
            let rows = client.rows(&format!("SELECT REPEAT('ab', {}), 'end'", len / 2));
            assert!(rows.len() == 1 && rows[0].len() > len && rows[0].ends_with(b"\x03end"), "{len}");
        }
        load_file(&mut client);
        let rows = client.rows("SELECT a, REPEAT('x', 1000) FROM z.t LIMIT 900");
        assert_eq!(rows.len(), 900);
        // More frames than there are numbers.
        let rows = client.rows("SELECT REPEAT(SHA2(a, 512), 300) FROM z.t LIMIT 300");
        assert_eq!(rows.len(), 300);
        // Several result sets.
        let first = client.command(b"\x03SELECT 1; DO 1; SELECT REPEAT('y', 70000)");
        assert_eq!(client.rest(usize::from(first[0])).len(), 1);
        assert_eq!(client.read()[0], 0);
        let columns = client.read()[0];
        assert_eq!(client.rest(usize::from(columns))[0].len(), 70_004);
        // Long statements, and prepared ones.
        let long = format!("SELECT LENGTH('{}')", "0123456789".repeat(300_000));
        assert_eq!(client.rows(&long), [b"\x073000000"]);
        let prepared = client.command(b"\x16SELECT CONCAT(?, 'z')");
        assert_eq!((prepared[0], prepared[5], prepared[7]), (0, 1, 1));
        for _ in 0..4 {
            client.read();
        }
        let argument = [&b"\xfd\x40\x0d\x03"[..], &vec![b'p'; 200_000]].concat();
        let head = [b"\x17", &prepared[1..5], b"\0\x01\0\0\0\0\x01\xfd\0"].concat();
        let first = client.command(&[head, argument].concat());
        assert_eq!(client.rest(usize::from(first[0]))[0].len(), 1 + 1 + 4 + 200_001);
        change_user(&mut client);
    }
}

/// LOAD DATA LOCAL, whose packets are numbered as the client likes.
fn load_file(client: &mut Framed<TcpStream>) {
    for sql in ["DROP DATABASE IF EXISTS z", "CREATE DATABASE z", "CREATE TABLE z.t (a INT, b TEXT)"] {
        assert_eq!(client.command(&[b"\x03", sql.as_bytes()].concat())[0], 0, "{sql}");
    }
    let asked = client.command(b"\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE z.t");
    assert_eq!(asked, b"\xfbf");
    let lines: Vec<String> = (0..20_000).map(|n| format!("{n}\tline number {n}\n")).collect();
    for chunk in lines.chunks(3_000) {
        client.send_part(&packet(77, chunk.concat().as_bytes()));
    }
    client.send_part(&packet(3, b""));
    let loaded = client.read();
    assert!(String::from_utf8_lossy(&loaded).contains("Records: 20000"), "{loaded:?}");
    assert_eq!(client.rows("SELECT COUNT(*), SUM(a) FROM z.t"), [b"\x0520000\x09199990000"]);
}

/// COM_CHANGE_USER, with another plugin and an exchange, stays compressed.
fn change_user(client: &mut Framed<TcpStream>) {
    client.command(b"\x03CREATE USER IF NOT EXISTS z IDENTIFIED WITH mysql_native_password BY 'pw'");
    let asked = client.command(b"\x11root\0\0\0\x2d\0caching_sha2_password\0");
    let answer = if asked[0] == 0xfe {
        client.send_part(&packet(9, b""));
        client.read()
    } else {
        asked
    };
    assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
    assert_eq!(client.rows("SELECT CURRENT_USER()").len(), 1);
    let denied = client.command(b"\x11z\0\0\0\x2d\0mysql_native_password\0");
    let denied = if denied[0] == 0xfe {
        client.send_part(&packet(0, b"wrong"));
        client.read()
    } else {
        denied
    };
    assert_eq!(error(&denied).0, 1045);
    assert_eq!(client.try_read(), None);
}

#[test]
fn a_packet_may_be_cut_into_frames_anywhere() {
    let server = TestServer::start(&[]);
    for with in BOTH {
        let mut client = Framed::connect(&server, with, 0);
        let command = packet(0, format!("\x03SELECT '{}'", "a1".repeat(100)).as_bytes());
        for cut in (1..command.len()).step_by(7) {
            client.next = 0;
            client.send_part(&command[..cut]);
            client.send_part(&command[cut..]);
            let first = client.read();
            assert_eq!(client.rest(usize::from(first[0])).len(), 1, "{with:?}, {cut}");
        }
        // Bytes that come one by one.
        let bytes = frame(0, &with.compress(&command), command.len());
        client.next = 1;
        for byte in bytes {
            client.socket.write_all(&[byte]).unwrap();
        }
        let first = client.read();
        assert_eq!(client.rest(usize::from(first[0])).len(), 1);
    }
}

#[test]
fn a_packet_of_more_than_16_mib_spans_frames() {
    let server = TestServer::start(&[]);
    for with in BOTH {
        let mut client = Framed::connect(&server, with, 0);
        let text = "0123456789abcdef".repeat((18 << 20) / 16);
        let body = format!("\x03SELECT LENGTH('{text}') AS l, REPEAT('x', 17000000)").into_bytes();
        let longest = (1 << 24) - 1;
        let stream = [packet(0, &body[..longest]), packet(1, &body[longest..])].concat();
        client.next = 0;
        for part in stream.chunks(longest) {
            client.send_part(part);
        }
        let first = client.read();
        let columns = usize::from(first[0]);
        for _ in 0..=columns {
            client.read();
        }
        let row = [client.read(), client.read()].concat();
        assert!(row.starts_with(b"\x0818874368\xfe\x40\x66\x03\x01\0\0\0\0xxx"), "{:?}", &row[..20]);
        assert_eq!(row.len(), 9 + 9 + 17_000_000);
    }
}

#[test]
fn wrong_frames_end_the_connection() {
    const CORRUPT: (u16, &str) = (1157, "#08S01Couldn't uncompress communication packet");
    const DISORDER: (u16, &str) = (1156, "#08S01Got packets out of order");
    let server = TestServer::start(&[]);
    let select = packet(0, &[b"\x03SELECT ".as_slice(), &b"1+".repeat(100), b"1"].concat());
    for with in BOTH {
        let body = with.compress(&select);
        let zeros = with.compress(&vec![b'x'; 1 << 25]);
        let ping = packet(0, b"\x0e");
        let cases: [(Vec<u8>, u8, (u16, &str)); 9] = [
            (frame(0, &body, select.len() + 1), 1, CORRUPT),
            (frame(0, &body, select.len() - 1), 1, CORRUPT),
            (frame(0, &[&body[..], b"x"].concat(), select.len()), 1, CORRUPT),
            (frame(0, &body[..body.len() - 1], select.len()), 1, CORRUPT),
            (frame(0, &[b'x'; 60], 100), 1, CORRUPT),
            (frame(0, &zeros, select.len()), 1, CORRUPT),
            (frame(0, b"", 0), 0, CORRUPT),
            (frame(5, &ping, 0), 0, DISORDER),
            ([frame(0, &ping[..3], 0), frame(2, &ping[3..], 0)].concat(), 1, DISORDER),
        ];
        for (at, (bytes, number, (code, text))) in cases.into_iter().enumerate() {
            let mut client = Framed::connect(&server, with, 0);
            client.socket.write_all(&bytes).unwrap();
            client.next = number;
            assert_eq!(error(&client.read()), (code, text.to_owned()), "case {at} of {with:?}");
            assert_eq!(client.try_read(), None);
        }
        // The client leaves within a frame.
        let mut client = Framed::connect(&server, with, 0);
        client.socket.write_all(&frame(0, &body, select.len())[..20]).unwrap();
        client.socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(client.try_read(), None);
        assert_eq!(Framed::connect(&server, with, 0).command(b"\x0e")[0], 0, "the server lives");
    }
}

#[test]
fn a_client_that_stops_within_a_frame_is_given_up() {
    let server = TestServer::start(&[]);
    let mut client = Framed::connect(&server, With::Zlib, 0);
    assert_eq!(client.command(b"\x03SET net_read_timeout = 1")[0], 0);
    client.socket.write_all(&frame(0, &With::Zlib.compress(&[b'x'; 60]), 60)[..10]).unwrap();
    client.next = 1;
    assert_eq!(error(&client.read()).0, 1159);
    let mut client = Framed::connect(&server, With::Zlib, 0);
    assert_eq!(client.command(b"\x03SET wait_timeout = 1")[0], 0);
    client.next = 0;
    assert_eq!(error(&client.read()).0, 4031);
}

/// Nothing is decompressed before the OK of the login, and frames may arrive with its last packet.
#[test]
fn frames_begin_after_the_login() {
    let server = TestServer::start(&[]);
    let login = packet(1, &With::Zlib.login("root", 0));
    let mut client = server.raw();
    client.send_bytes(&[login, frame(0, &packet(0, b"\x0e"), 0)].concat());
    let (number, answer) = client.read();
    assert_eq!((number, answer[0]), (2, 0));
    let mut client = Framed::new(client.another(), With::Zlib);
    client.next = 1;
    assert_eq!(client.read()[0], 0);
    let mut client = server.raw();
    client.send(1, &With::Zlib.login("nobody", 0));
    assert_eq!(client.read().1[0], 0xfe);
    client.send(3, b"");
    assert_eq!(error(&client.read().1).0, 1045, "an error of the login is no frame");
}

fn driver(server: &TestServer, compress: bool) -> mysql::Conn {
    let compress = compress.then(mysql::Compression::default);
    let opts = mysql::OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .user(Some("root"))
        .read_timeout(Some(Duration::from_secs(60)))
        .prefer_socket(false)
        .compress(compress);
    let mut conn = mysql::Conn::new(opts).unwrap();
    conn.set_local_infile_handler(Some(mysql::LocalInfileHandler::new(|_, out| {
        for n in 0..100_000 {
            writeln!(out, "{n}\tname of {n}")?;
        }
        Ok(())
    })));
    conn
}

/// A driver that checks the numbers of frames and packets has the same results with compression and without.
#[test]
fn a_driver_has_the_same_results_with_compression() {
    let server = TestServer::start(&["--local-infile=1"]);
    let mut results: Vec<Vec<String>> = Vec::new();
    for compress in [false, true] {
        let mut conn = driver(&server, compress);
        let mut said = Vec::new();
        for sql in ["DROP DATABASE IF EXISTS z", "CREATE DATABASE z", "CREATE TABLE z.t (a INT, b TEXT)"] {
            conn.query_drop(sql).unwrap();
        }
        conn.query_drop("LOAD DATA LOCAL INFILE 'x' INTO TABLE z.t").unwrap();
        said.push(format!("{:?}", conn.query::<(i32, String), _>("SELECT * FROM z.t").unwrap()));
        let mut several = conn.query_iter("SELECT 1; DO 2; SELECT a FROM z.t LIMIT 500; SELECT 'x'").unwrap();
        while let Some(result) = several.iter() {
            said.push(format!("{:?}", result.map(Result::unwrap).collect::<Vec<_>>()));
        }
        drop(several);
        let rows: Vec<(i32, String)> =
            conn.exec("SELECT a, b FROM z.t WHERE a < ? AND b LIKE ?", (3_000, "%7")).unwrap();
        said.push(format!("{rows:?}"));
        let long = "l".repeat(5_000_000);
        said.push(conn.exec_first::<String, _, _>("SELECT MD5(?)", (&long,)).unwrap().unwrap());
        said.push(conn.query_drop("SELEC").unwrap_err().to_string());
        conn.reset().unwrap();
        said.push(format!("{:?}", conn.query_first::<i32, _>("SELECT 7").unwrap()));
        results.push(said);
    }
    assert!(results[0] == results[1]);
}
