//! Where recorded answers come from: a MySQL server with the settings of 8.4.

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::script::Entry;

/// What the first line of a script says before the version of the server that its answers are from.
const RECORDED_FROM: &str = " recorded from MySQL ";

/// Settings in which newer servers differ from 8.4, and their values there.
const OF_8_4: [(&str, &str); 3] = [
    ("explain_format", "TRADITIONAL"),
    ("explain_json_format_version", "1"),
    ("innodb_native_foreign_keys", "ON"),
];

/// A server that answers may be recorded from.
#[derive(Clone, Debug)]
pub(crate) struct Source(String);

impl Source {
    /// That at the other end of `conn`.
    ///
    /// # Errors
    /// It is one of this project, or has settings that 8.4 does not have.
    pub(crate) fn of(conn: &mut Conn) -> Result<Source, String> {
        let version: Option<String> = conn.query_first("SELECT VERSION()").map_err(|e| e.to_string())?;
        let version = version.unwrap_or_default();
        if version.contains("ratchet") {
            return Err(format!("answers are recorded from MySQL, and this is {version}"));
        }
        for (name, wanted) in OF_8_4 {
            let query = format!("SHOW GLOBAL VARIABLES LIKE '{name}'");
            let found: Option<(String, String)> = conn.query_first(query).map_err(|e| e.to_string())?;
            if let Some((_, value)) = found.filter(|(_, value)| value != wanted) {
                return Err(format!(
                    "answers are those of MySQL 8.4: start {version} with --{name}={wanted}, not {value}"
                ));
            }
        }
        Ok(Source(version))
    }

    /// Its version.
    pub(crate) fn version(&self) -> &str {
        &self.0
    }

    /// Lets a script say where its answers are from.
    pub(crate) fn stamp(&self, entries: &mut [Entry]) {
        if let Some(first) = entries.first_mut() {
            first.comments.retain(|line| !line.contains(RECORDED_FROM));
            first.comments.insert(0, format!("# Answers{RECORDED_FROM}{}, settings of 8.4.", self.0));
        }
    }
}
