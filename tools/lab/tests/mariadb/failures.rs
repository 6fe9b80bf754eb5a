//! Targets that are down, refuse, die, have no room or answer otherwise: a row says so, and the others are
//! measured.

use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use crate::proxy::{self, Fate, Habit};
use crate::server::Mariadb;
use lab::config::TargetConfig;
use lab::journal::Journal;
use lab::report::{Row, TargetResult};

/// An answer to the packet of number 0.
fn answer(payload: &[u8]) -> Fate {
    let mut packet = vec![payload.len() as u8, 0, 0, 1];
    packet.extend_from_slice(payload);
    Fate::Answer(packet)
}

fn refusal(number: u16, message: &str) -> Fate {
    let mut payload = vec![0xff];
    payload.extend(number.to_le_bytes());
    payload.extend(b"#HY000");
    payload.extend(message.as_bytes());
    answer(&payload)
}

/// Says yes to all that changes the server, without doing it, but no to statements that begin with `refused`.
fn refuse(refused: &'static str, number: u16, message: &'static str) -> Habit {
    Box::new(move |packet| match packet.get(5..) {
        Some(text) if text.starts_with(refused.as_bytes()) => refusal(number, message),
        Some(text) if is_change(text) => answer(&[0, 0, 0, 2, 0, 0, 0]),
        _ => Fate::Pass,
    })
}

fn is_change(text: &[u8]) -> bool {
    ["DROP ", "CREATE ", "INSERT "].iter().any(|word| text.starts_with(word.as_bytes()))
}

/// Gives a wrong answer to one query of the comparison.
fn answer_otherwise() -> Habit {
    let mut habit = refuse("nothing", 0, "");
    Box::new(move |packet| {
        let found = packet.windows(6).position(|w| w == b"SUM(k)");
        if let Some(at) = found {
            packet[at..at + 3].copy_from_slice(b"MAX");
        }
        habit(packet)
    })
}

/// A server of the last century: its greeting is of a protocol that nobody speaks any more.
fn ancient() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            // A client that has left is as good as one that understands.
            let _ = client.write_all(b"\x12\0\0\0\x093.22.32\0\x01\0\0\0salt");
        }
    });
    port
}

/// Ends a server as soon as a cell of it has been measured.
fn kill_when_measured(server: Mariadb, name: &'static str, out: PathBuf) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let Ok((_, cells)) = Journal::read(&out) else { continue };
            if cells.iter().any(|cell| cell.target == name) {
                return drop(server);
            }
        }
    })
}

fn failed(rows: &[Row], row: usize, target: usize) -> &str {
    match &rows[row].results[target] {
        TargetResult::Failed(why) => why,
        other => panic!("row {row}, target {target}: {other:?}"),
    }
}

#[test]
fn what_goes_wrong_with_a_target_is_said_in_its_rows_and_the_others_are_measured() {
    let _turn = crate::TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let start = |name: &str| Mariadb::start(&folder.path().join(name), &[]);
    let (server, mortal) = (start("server"), start("mortal"));
    let out = folder.path().join("out");
    let at = |name: &str, port: u16| TargetConfig {
        url: format!("mysql://root@127.0.0.1:{port}"),
        ..server.target(name)
    };
    let through = |name: &str, habit: fn() -> Habit| at(name, proxy::before(server.port, habit));
    let targets = vec![
        at("base", server.port),
        at("dies", mortal.port),
        at("ancient", ancient()),
        through("old", || refuse("CREATE DATABASE", 1115, "Unknown character set: 'utf8mb4'")),
        through("full", || refuse("INSERT ", 1114, "The table 'sbtest1' is full")),
        through("refuses", || refuse("UPDATE ", 1235, "no updates here")),
        through("other", answer_otherwise),
    ];
    let mut config = crate::config(&out, targets);
    config.run.pause_others = false;
    (config.run.repetitions, config.run.confirmations) = (3, 0);
    config.run.workloads = vec!["point-query".to_owned(), "update-nonindex".to_owned()];
    let killer = kill_when_measured(mortal, "dies", out);
    let (rows, text) = crate::measured(&config);
    killer.join().unwrap();
    let updates = usize::from(rows[0].key.workload != "update-nonindex");
    for row in [0, 1] {
        assert!(matches!(rows[row].results[0], TargetResult::Measured(_, None)), "{text}");
        assert!(failed(&rows, row, 2).starts_with("ancient: "), "{text}");
        assert!(failed(&rows, row, 3).contains("Unknown character set"), "{text}");
        assert!(failed(&rows, row, 4).contains("is full"), "{text}");
        assert!(failed(&rows, row, 6).contains("answers otherwise than base: SELECT COUNT(*)"), "{text}");
    }
    assert!(failed(&rows, updates, 5).contains("no updates here"), "{text}");
    assert!(matches!(rows[1 - updates].results[5], TargetResult::Measured(_, Some(_))), "{text}");
    // The one that died has what it did before, and later rows without a number.
    assert!(matches!(rows[0].results[1], TargetResult::Measured(..)), "{text}");
    assert!(failed(&rows, 1, 1).contains("connect"), "{text}");
}

#[test]
fn without_the_base_there_is_no_comparison() {
    let out = tempfile::tempdir().unwrap();
    let down = |name: &str| TargetConfig {
        name: name.to_owned(),
        url: "mysql://root@127.0.0.1:1".to_owned(),
        start: None,
        stop: None,
        replays: None,
    };
    let error = lab::compare::run(&crate::config(out.path(), vec![down("base"), down("other")]));
    assert!(error.unwrap_err().to_string().starts_with("base: "));
    assert!(!out.path().join("results.jsonl").exists());
}
