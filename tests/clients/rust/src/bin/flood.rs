//! `flood PORT SECONDS`: two thousand wrong logins a second as `victim`, beside good logins as `good` and
//! point selects.
//!
//! Prints how long good logins took, and what point selects made without the flood and beside it. The
//! server needs root without a password, and an account `good` with the password `good-secret`.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use mysql_async::{Conn, OptsBuilder};

const LOGINS_PER_SECOND: u32 = 2000;
const ATTACKERS: u32 = 256;
/// An attacker waits no longer than this for an answer.
const PATIENCE: Duration = Duration::from_millis(100);
const GOOD_EVERY: Duration = Duration::from_millis(100);

/// What happened.
#[derive(Default)]
struct Counts {
    denied: AtomicU64,
    turned_away: AtomicU64,
    given_up: AtomicU64,
    selects: AtomicU64,
    is_over: AtomicBool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u16>());
    let (Some(Ok(port)), Some(Ok(seconds))) = (args.next(), args.next()) else {
        return Err("usage: flood PORT SECONDS".into());
    };
    let (counts, length) = (Counts::default(), Duration::from_secs(seconds.into()));
    let quiet = Duration::from_secs(u64::from(seconds / 4));
    std::thread::scope(|scope| {
        let selects = scope.spawn(|| select(port, &counts));
        let before = phase(&counts, quiet, || good_logins(port, quiet));
        let times = phase(&counts, length, || {
            std::thread::scope(|attack| {
                for first in 0..ATTACKERS {
                    let counts = &counts;
                    attack.spawn(move || flood(port, first, length, counts));
                }
                good_logins(port, length)
            })
        });
        let after = phase(&counts, quiet, || good_logins(port, quiet));
        counts.is_over.store(true, Relaxed);
        for (name, (rate, times)) in [("before", before), ("flood", times), ("after", after)] {
            let mut times = times.map_err(|error| error.to_string())?;
            times.sort();
            let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
            println!(
                "{name}: {rate:.0} selects/s; good logins {}: median {:.1}, 95 % {:.1}, longest {:.1} ms",
                times.len(),
                at(50),
                at(95),
                at(100)
            );
        }
        let [denied, away, given_up] =
            [&counts.denied, &counts.turned_away, &counts.given_up].map(|count| count.load(Relaxed));
        println!("wrong logins: {denied} denied, {away} turned away (1040), {given_up} given up");
        selects.join().map_err(|_| "the selects panicked")?.map_err(|error| error.to_string())?;
        Ok::<(), Box<dyn std::error::Error>>(())
    })
}

/// Runs `work` and returns the selects a second meanwhile, with its result.
fn phase<T>(counts: &Counts, length: Duration, work: impl FnOnce() -> T) -> (f64, T) {
    let before = counts.selects.load(Relaxed);
    let result = work();
    ((counts.selects.load(Relaxed) - before) as f64 / length.as_secs_f64(), result)
}

/// How long each good login took; one that was refused took for ever.
fn good_logins(port: u16, length: Duration) -> Result<Vec<Duration>, mysql_async::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(port).prefer_socket(false);
    let options = options.user(Some("good")).pass(Some("good-secret"));
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < length {
        let login = Instant::now();
        match runtime.block_on(async { Conn::new(options.clone()).await?.disconnect().await }) {
            Ok(()) => times.push(login.elapsed()),
            Err(mysql_async::Error::Server(error)) => {
                println!("a good login: {error}");
                times.push(Duration::MAX);
            }
            Err(error) => return Err(error),
        }
        std::thread::sleep(GOOD_EVERY.saturating_sub(login.elapsed()));
    }
    Ok(times)
}

/// One attacker: a wrong login in each interval, whatever came of the last.
fn flood(port: u16, first: u32, length: Duration, counts: &Counts) {
    let interval = Duration::from_secs(1) * ATTACKERS / LOGINS_PER_SECOND;
    let begun = Instant::now() + interval * first / ATTACKERS;
    for n in 0.. {
        let due = begun + interval * n;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if begun.elapsed() >= length {
            return;
        }
        let count = match wrong_login(port) {
            Ok(answer) if answer.ends_with(b"Too many connections") => &counts.turned_away,
            Ok(answer) if answer.first() == Some(&0xff) => &counts.denied,
            _ => &counts.given_up,
        };
        count.fetch_add(1, Relaxed);
    }
}

fn wrong_login(port: u16) -> io::Result<Vec<u8>> {
    let mut socket = connect(port, b"victim", &[7; 32])?;
    let answer = read_packet(&mut socket)?;
    if answer != [1, 4] {
        return Ok(answer);
    }
    send(&mut socket, 3, b"wrong\0")?;
    read_packet(&mut socket)
}

/// Greets the server and answers as `user`, for `caching_sha2_password`.
fn connect(port: u16, user: &[u8], answer: &[u8]) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    read_packet(&mut socket)?;
    // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH.
    let head = [&0x0008_8201_u32.to_le_bytes()[..], &[0, 0, 0, 1, 45], &[0; 23]].concat();
    let length = [u8::try_from(answer.len()).map_err(io::Error::other)?];
    let body = [&head[..], user, &[0], &length, answer, b"caching_sha2_password\0"].concat();
    send(&mut socket, 1, &body)?;
    Ok(socket)
}

fn send(socket: &mut TcpStream, sequence: u8, body: &[u8]) -> io::Result<()> {
    let mut packet = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes().to_vec();
    packet[3] = sequence;
    packet.extend(body);
    socket.write_all(&packet)
}

fn read_packet(socket: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    socket.read_exact(&mut header)?;
    header[3] = 0;
    let mut body = vec![0; u32::from_le_bytes(header) as usize];
    socket.read_exact(&mut body)?;
    Ok(body)
}

/// Point selects, one after the other.
fn select(port: u16, counts: &Counts) -> io::Result<()> {
    let mut socket = connect(port, b"root", b"")?;
    socket.set_read_timeout(None)?;
    if read_packet(&mut socket)?.first() != Some(&0) {
        return Err(io::Error::other("root is not let in"));
    }
    let mut ask = |sql: &str| {
        send(&mut socket, 0, &[b"\x03", sql.as_bytes()].concat())?;
        let mut ends = 0;
        // The column count, columns, EOF, rows, EOF; or OK alone.
        while ends < 2 {
            let packet = read_packet(&mut socket)?;
            match packet.first() {
                Some(0) => ends = 2,
                Some(0xff) => return Err(io::Error::other(String::from_utf8_lossy(&packet).into_owned())),
                Some(0xfe) => ends += 1,
                _ => {}
            }
        }
        Ok(())
    };
    ask("CREATE DATABASE IF NOT EXISTS flood")?;
    ask("CREATE TABLE IF NOT EXISTS flood.t (id INT PRIMARY KEY, c CHAR(100))")?;
    for id in 0..1000 {
        ask(&format!("REPLACE INTO flood.t VALUES ({id}, REPEAT('x', 100))"))?;
    }
    for n in 0_u64.. {
        if counts.is_over.load(Relaxed) {
            break;
        }
        ask(&format!("SELECT c FROM flood.t WHERE id = {}", n * 7919 % 1000))?;
        counts.selects.fetch_add(1, Relaxed);
    }
    Ok(())
}
