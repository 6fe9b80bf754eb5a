//! Runs scripts of several sessions, of which some wait for others.
//!
//! ```text
//! [a] UPDATE t SET v = 1 WHERE id = 1
//! ----
//! ok 1 rows
//!
//! [b] DELETE FROM t WHERE id = 1
//! ----
//! waits
//!
//! [a] COMMIT
//! ----
//! ok 0 rows
//!
//! [b] answer
//! ----
//! ok 1 rows
//! ```
//! The format is that of [`crate::script`]. A statement whose answer is `waits` is still at work after a
//! while; the entry `answer` of the same connection has what it came to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::recording::Source;
use crate::runner::{Target, connect_fresh, difference};
use crate::{answer, script};

/// A statement that takes longer is taken to wait for another session.
const WAITS: Duration = Duration::from_millis(400);
/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection and the thread that uses it.
struct Session {
    statements: Sender<String>,
    answers: Receiver<Result<Vec<String>, String>>,
}

impl Session {
    fn start(mut conn: mysql::Conn) -> Self {
        let (statements, work) = channel::<String>();
        let (done, answers) = channel();
        std::thread::spawn(move || {
            for sql in work {
                if done.send(answer::of_text(&mut conn, &sql, false)).is_err() {
                    return;
                }
            }
        });
        Session { statements, answers }
    }

    /// What the statement at work comes to; `waits` if that takes longer than `limit`.
    fn answer(&self, limit: Duration) -> Result<Vec<String>, String> {
        match self.answers.recv_timeout(limit) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Ok(vec!["waits".to_owned()]),
            Err(RecvTimeoutError::Disconnected) => Err("a connection's thread has ended".to_owned()),
        }
    }
}

/// Runs one script file and returns what differs, one message per statement. With `record`, the file is
/// rewritten with the answers of this server instead.
pub fn run_file(path: &Path, target: &Target, record: bool) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = script::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let (mut first, schema) = connect_fresh(target)?;
    let source = if record { Some(Source::of(&mut first)?) } else { None };
    let mut sessions = HashMap::from([(String::new(), Session::start(first))]);
    let mut differences = Vec::new();
    for entry in &mut entries {
        if !sessions.contains_key(&entry.connection) {
            let conn = target.connect(Some(schema))?;
            sessions.insert(entry.connection.clone(), Session::start(conn));
        }
        let session = &sessions[&entry.connection];
        if entry.sql != "answer" {
            session.statements.send(entry.sql.clone()).map_err(|e| e.to_string())?;
        }
        let may_wait = record || entry.expected == ["waits"];
        let actual = session.answer(if may_wait && entry.sql != "answer" { WAITS } else { PATIENCE })?;
        if record {
            entry.expected = actual;
        } else if actual != entry.expected {
            differences.push(difference(path, entry, &actual));
        }
    }
    if let Some(source) = source {
        source.stamp(&mut entries);
        std::fs::write(path, script::print(&entries)).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(differences)
}
