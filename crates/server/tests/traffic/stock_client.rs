//! The stock command-line client runs every form of statement and shows what `tests/client/*.out` says.
//!
//! Each `.sql` file runs in one client, which continues after errors and repeats every statement in its
//! output. A difference leaves the whole output in a file whose name the failure tells.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::{Path, PathBuf};

use testkit::server::TestServer;
use testkit::tool::{self, Outcome};

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client")
}

fn start() -> TestServer {
    TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &["--local-infile=1"]).unwrap()
}

fn client(server: &TestServer, args: &[&str], input: &str) -> Outcome {
    let socket = format!("--socket={}", server.socket.display());
    let args = [&["--no-defaults", &socket], args].concat();
    tool::run("mariadb", &args, &scripts(), input).unwrap()
}

/// Runs a script as root and compares what the client shows.
fn compare(server: &TestServer, name: &str) {
    compare_with(server, name, &[]);
}

/// As [`compare`], with further options of the client.
fn compare_with(server: &TestServer, name: &str, options: &[&str]) {
    let text = std::fs::read_to_string(scripts().join(name).with_extension("sql")).unwrap();
    let args = ["--user=root", "--local-infile=1", "--table", "--verbose", "--verbose", "--force"];
    let outcome = client(server, &[&args, options].concat(), &text);
    let expected = std::fs::read_to_string(scripts().join(name).with_extension("out")).unwrap_or_default();
    if let Some(told) = tool::difference(&expected, &outcome.output) {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("out");
        std::fs::write(&actual, &outcome.output).unwrap();
        panic!("{name}: the output in {} differs at {told}", actual.display());
    }
}

#[test]
fn definitions_are_made_and_shown() {
    compare(&start(), "definitions");
}

#[test]
fn every_type_is_stored_and_clocks_are_read() {
    compare(&start(), "types");
}

#[test]
fn rows_are_changed_and_loaded() {
    compare(&start(), "changes");
}

#[test]
fn compression_changes_no_answer() {
    for name in ["changes", "queries"] {
        compare_with(&start(), name, &["--compress"]);
    }
}

#[test]
fn queries_are_answered() {
    compare(&start(), "queries");
}

#[test]
fn sessions_set_variables_prepare_and_commit() {
    compare(&start(), "sessions");
}

#[test]
fn every_form_of_show_answers() {
    compare(&start(), "show");
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    compare(&start(), "absent");
}

#[test]
fn accounts_log_in_by_both_plugins() {
    let server = start();
    compare(&server, "accounts");
    let ask = |user: &str, password: &str, over: &[&str]| {
        let (user, password) = (format!("--user={user}"), format!("--password={password}"));
        let args = [&[user.as_str(), password.as_str(), "--skip-column-names"], over].concat();
        client(&server, &args, "SELECT CURRENT_USER()").output
    };
    let port = format!("--port={}", server.port);
    let tcp = ["--protocol=tcp", "--host=127.0.0.1", port.as_str()];
    assert_eq!(ask("ada", "new", &[]), "ada@localhost\n");
    assert_eq!(ask("ada", "new", &tcp), "ada@localhost\n");
    assert_eq!(ask("bob", "native", &[]), "bob@%\n");
    assert_eq!(ask("bob", "native", &tcp), "bob@%\n");
    assert_eq!(ask("cleo", "sha2", &tcp), "cleo@127.0.0.1\n");
    for (user, password) in [("ada", "old"), ("bob", "sha2"), ("nobody", "x")] {
        let denied = format!(
            "ERROR 1045 (28000): Access denied for user '{user}'@'localhost' (using password: YES)\n"
        );
        assert_eq!(ask(user, password, &[]), denied);
    }
    let own = ["--user=bob", "--password=native"];
    assert_eq!(client(&server, &own, "SET PASSWORD = 'changed'").output, "");
    assert_eq!(ask("bob", "changed", &[]), "bob@%\n");
}

/// On a terminal the client asks for databases, tables, their columns and the server's version before its
/// prompt.
#[test]
fn the_client_starts_up_on_a_terminal() {
    let server = start();
    let made =
        client(&server, &["--user=root"], "CREATE DATABASE shop; CREATE TABLE shop.item (id INT, name TEXT)");
    assert_eq!((made.output.as_str(), made.success), ("", true));
    let command = format!("mariadb --no-defaults --user=root --socket={}", server.socket.display());
    let input = "use shop;\nstatus\nSELECT COUNT(*) AS rows_there FROM item;\nexit\n";
    let args = ["--quiet", "--return", "--command", &command, "/dev/null"];
    let outcome = tool::run("script", &args, Path::new("/"), input).unwrap();
    for line in [
        "Server version: 8.4.6-ratchet",
        "Database changed",
        "Current database:\tshop",
        "Current user:\t\troot@localhost",
        "Client characterset:\tutf8mb3",
        "Threads: 1  Questions: ",
        "| rows_there |",
        "Bye",
    ] {
        assert!(outcome.output.replace('\r', "").contains(line), "{line:?} is not in:\n{}", outcome.output);
    }
    assert!(!outcome.output.contains("ERROR"), "{}", outcome.output);
}
