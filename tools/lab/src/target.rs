//! A server under measurement: where it is, who it is, its process.

use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row, Value};

use crate::config::TargetConfig;
use crate::error::{Error, Result};
use crate::process;

/// A server that does not take a connection or tell its version for so long is down.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// No statement of the lab's own takes longer: an index of a large table, for one.
const STATEMENT_MAX: Duration = Duration::from_secs(7200);

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Name or number.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Account.
    pub user: String,
    /// Its password, perhaps empty.
    pub password: String,
    /// Path of its Unix socket, by which connections are made instead of TCP.
    pub socket: Option<String>,
}

impl Address {
    /// Reads `mysql://user:password@host:port?socket=path`; user root, port 3306, and no socket unless named.
    pub fn parse(url: &str) -> Result<Address> {
        let refuse =
            || Error::Config(format!("{url:?} is not mysql://user:password@host:port[?socket=path]"));
        let rest = url.strip_prefix("mysql://").ok_or_else(refuse)?;
        let (rest, socket) = match rest.split_once("?socket=") {
            Some((rest, path)) if path.starts_with('/') => (rest, Some(path.to_owned())),
            Some(_) => return Err(refuse()),
            None => (rest, None),
        };
        let rest = rest.trim_end_matches('/');
        let (account, place) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| refuse())?),
            None => (place, 3306),
        };
        if host.is_empty() || user.is_empty() || host.contains('/') {
            return Err(refuse());
        }
        // The socket of "localhost" may be another server's.
        let host = if host == "localhost" { "127.0.0.1" } else { host };
        Ok(Address { host: host.into(), port, user: user.into(), password: password.into(), socket })
    }

    /// A connection for statements of any length; or the server's word, or the connection's error. Prepared
    /// statements stay until the connection ends.
    pub fn connect(&self) -> std::result::Result<Conn, mysql::Error> {
        self.connect_for(STATEMENT_MAX)
    }

    /// One on which nothing takes longer than this.
    fn connect_for(&self, answer_max: Duration) -> std::result::Result<Conn, mysql::Error> {
        let Address { host, port, user, password, socket } = self;
        let options = OptsBuilder::new()
            .ip_or_hostname(Some(host.clone()))
            .tcp_port(*port)
            .user(Some(user.clone()))
            .pass(Some(password.clone()))
            .tcp_connect_timeout(Some(ANSWER_MAX))
            .read_timeout(Some(answer_max))
            // The driver's cache closes statements that are still in use.
            .stmt_cache_size(0)
            .socket(socket.clone())
            .prefer_socket(false);
        Conn::new(options)
    }

    fn is_here(&self) -> bool {
        self.host.starts_with("127.")
    }
}

/// A server that answers.
#[derive(Debug)]
pub struct Target {
    /// As configured.
    pub config: TargetConfig,
    /// Where it is.
    pub address: Address,
    /// What it says of itself.
    pub version: String,
    /// Its process, when it is on this machine and may be seen.
    pub pid: Option<u32>,
    /// Its directory, when it tells.
    pub datadir: Option<String>,
    started_here: bool,
}

impl Target {
    /// Connects, starting the server first when it does not answer and there is a command for that.
    pub fn reach(config: &TargetConfig) -> Result<Target> {
        let address = Address::parse(&config.url)?;
        let mut target = Target {
            config: config.clone(),
            address,
            version: String::new(),
            pid: None,
            datadir: None,
            started_here: false,
        };
        if let Some(start) = &config.start
            && target.connect().is_err()
        {
            shell(start)?;
            target.started_here = true;
        }
        if config.replays.is_some() {
            target.version.push_str("replayed answers");
        } else {
            target.introduce()?;
        }
        target.look_for_process();
        Ok(target)
    }

    /// Stops it and starts it again, where it was started here.
    pub fn start_again(&mut self) -> Result<()> {
        let (true, Some(stop), Some(start)) = (self.started_here, &self.config.stop, &self.config.start)
        else {
            return Ok(());
        };
        if let Some(pid) = self.pid {
            process::set_paused(pid, false);
        }
        shell(stop)?;
        shell(start)?;
        self.look_for_process();
        Ok(())
    }

    /// Finds its process: at first, and when it may be gone, for another process may have its number soon.
    pub fn look_for_process(&mut self) {
        self.pid = if self.address.is_here() { process::listener_of(self.address.port) } else { None };
    }

    fn introduce(&mut self) -> Result<()> {
        let mut connection = self.connect_for(ANSWER_MAX)?;
        let version: Option<String> =
            connection.query_first("SELECT VERSION()").map_err(|e| self.refused(&e))?;
        self.version = version.unwrap_or_default();
        if is_debug_build(&self.version) {
            let what = format!("{} is a build with debug assertions: its speed says nothing", self.version);
            return Err(Error::Server { target: self.config.name.clone(), what });
        }
        // A server may keep it to itself.
        self.datadir = connection.query_first("SELECT @@datadir").ok().flatten();
        Ok(())
    }

    /// A connection of the lab's own.
    pub fn connect(&self) -> Result<Conn> {
        self.connect_for(STATEMENT_MAX)
    }

    fn connect_for(&self, answer_max: Duration) -> Result<Conn> {
        self.address.connect_for(answer_max).map_err(|e| self.refused(&e))
    }

    /// Runs statements one by one.
    pub fn execute(&self, statements: &[String]) -> Result<()> {
        let mut connection = self.connect()?;
        for statement in statements {
            connection.query_drop(statement).map_err(|e| self.refused(&e))?;
        }
        Ok(())
    }

    /// The rows of a query, each as text.
    pub fn rows(&self, query: &str) -> Result<Vec<String>> {
        self.rows_on(&mut self.connect()?, query)
    }

    fn rows_on(&self, connection: &mut Conn, query: &str) -> Result<Vec<String>> {
        let rows: Vec<Row> = connection.query(query).map_err(|e| self.refused(&e))?;
        Ok(rows
            .into_iter()
            .map(|row| row.unwrap().iter().map(as_text).collect::<Vec<_>>().join("\t"))
            .collect())
    }

    /// The rows of queries in a database, as [`Target::rows`].
    pub fn answers(&self, database: &str, queries: &[String]) -> Result<Vec<String>> {
        let mut connection = self.connect()?;
        connection.query_drop(format!("USE {database}")).map_err(|e| self.refused(&e))?;
        queries.iter().map(|query| Ok(self.rows_on(&mut connection, query)?.join("\n"))).collect()
    }

    /// A counter of `SHOW GLOBAL STATUS`, if the server has it.
    pub fn status(&self, name: &str) -> Option<f64> {
        let row = self.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).ok()?.into_iter().next()?;
        row.split('\t').nth(1)?.parse().ok()
    }

    /// Stops what was started here.
    pub fn leave(&self) {
        if let Some(pid) = self.pid {
            process::set_paused(pid, false);
        }
        if let (true, Some(stop)) = (self.started_here, &self.config.stop) {
            // What does not stop is the user's to see to: the report is not to suffer from it.
            if let Err(error) = shell(stop) {
                eprintln!("lab: {error}");
            }
        }
    }

    /// The error for what this server said.
    pub(crate) fn refused(&self, error: &mysql::Error) -> Error {
        Error::Server { target: self.config.name.clone(), what: error.to_string() }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // However a run ends, no server is left standing still.
        if let Some(pid) = self.pid {
            process::set_paused(pid, false);
        }
    }
}

fn shell(command: &str) -> Result<()> {
    let failed = |what| Error::Program { program: command.to_owned(), what };
    // Its output would end up in the report's place; a server in background would keep a pipe open.
    let status = std::process::Command::new("sh")
        .args(["-c", command])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status()
        .map_err(|e| failed(e.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}

/// Builds of this project say so; of others nothing is known.
fn is_debug_build(version: &str) -> bool {
    version.contains("-ratchet-") && version.ends_with("-debug")
}

fn as_text(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".to_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let address = Address::parse("mysql://me:secret@db:3307/").unwrap();
        assert_eq!((&address.host[..], address.port), ("db", 3307));
        assert_eq!((&address.user[..], &address.password[..]), ("me", "secret"));
        let address = Address::parse("mysql://root@127.0.0.1:3307?socket=/run/a.sock").unwrap();
        assert_eq!((address.port, address.socket.as_deref()), (3307, Some("/run/a.sock")));
        assert!(Address::parse("mysql://root@127.0.0.1:3307?socket=a.sock").is_err());
        let address = Address::parse("mysql://localhost").unwrap();
        assert_eq!((&address.host[..], address.port, &address.user[..]), ("127.0.0.1", 3306, "root"));
        for bad in ["127.0.0.1:3306", "mysql://", "mysql://a:b", "mysql://host:port", "mysql://@host"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn own_debug_builds_are_told_by_their_version() {
        assert!(is_debug_build("8.4.6-ratchet-0.1.0-debug"));
        assert!(!is_debug_build("8.4.6-ratchet-0.1.0") && !is_debug_build("9.7.4-debug"));
    }
}
