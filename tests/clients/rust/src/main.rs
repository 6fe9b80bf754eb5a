//! Logs in by `mysql_async` as the lines on standard input say.
//!
//! A line: name, account, password, socket or -, TLS (no, yes or a version), file of the authority or -,
//! outcome, key or -.

use std::path::PathBuf;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Params, Row, SslOpts, Value};

const CREATE: &str = "CREATE TABLE round_trip (id INT PRIMARY KEY, words VARCHAR(100), big BIGINT, \
    exact DECIMAL(20,6), approximate DOUBLE, day DATE, moment DATETIME(6), bytes VARBINARY(100), nothing INT) \
    DEFAULT CHARSET utf8mb4";

type AnyError = Box<dyn std::error::Error>;

struct Login {
    name: String,
    account: String,
    password: String,
    socket: Option<String>,
    has_tls: bool,
    authority: Option<PathBuf>,
    wanted: String,
}

impl Login {
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[name, account, password, socket, tls, authority, wanted, _key] = fields.as_slice() else {
            return None;
        };
        Some(Login {
            name: name.to_owned(),
            account: account.to_owned(),
            password: password.to_owned(),
            socket: (socket != "-").then(|| socket.to_owned()),
            has_tls: tls != "no",
            authority: (authority != "-").then(|| authority.into()),
            wanted: wanted.to_owned(),
        })
    }

    fn options(&self, port: u16) -> Opts {
        let tls = self.has_tls.then(|| {
            // The certificate names no host.
            let options = SslOpts::default().with_danger_skip_domain_validation(true);
            match &self.authority {
                Some(file) => {
                    options.with_disable_built_in_roots(true).with_root_certs(vec![file.clone().into()])
                }
                None => options.with_danger_accept_invalid_certs(true),
            }
        });
        OptsBuilder::default()
            .ip_or_hostname("127.0.0.1")
            .tcp_port(port)
            .prefer_socket(false)
            .socket(self.socket.clone())
            .user(Some(&self.account))
            .pass(Some(&self.password))
            .db_name(Some("d"))
            .ssl_opts(tls)
            .into()
    }
}

fn row() -> Vec<Value> {
    vec![
        Value::from(-7),
        Value::from("naïve 🦀 中文 o'brien \\"),
        Value::from(-9_007_199_254_740_993_i64),
        Value::from("12345678901234.567890"),
        Value::from(0.1),
        Value::Date(2024, 2, 29, 0, 0, 0, 0),
        Value::Date(2024, 2, 29, 23, 59, 59, 123_456),
        Value::from(&b"\x00\xff'\\"[..]),
        Value::NULL,
    ]
}

fn expect<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<(), AnyError> {
    if found == wanted { Ok(()) } else { Err(format!("{found:?} in place of {wanted:?}").into()) }
}

async fn round_trip(conn: &mut Conn, login: &Login) -> Result<(), AnyError> {
    let user: Option<String> = conn.query_first("SELECT CURRENT_USER()").await?;
    expect(user, Some(format!("{}@%", login.account)))?;
    let status: Option<(String, String)> = conn.query_first("SHOW STATUS LIKE 'Ssl_version'").await?;
    expect(status.is_some_and(|(_, version)| version.starts_with("TLSv1")), login.has_tls)?;
    conn.query_drop("DROP TABLE IF EXISTS round_trip").await?;
    conn.query_drop(CREATE).await?;
    let insert = conn.prep("INSERT INTO round_trip VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").await?;
    conn.exec_drop(&insert, Params::Positional(row())).await?;
    let query = conn.prep("SELECT * FROM round_trip WHERE id = ? AND words = ?").await?;
    let key = row().into_iter().take(2).collect();
    let rows: Vec<Row> = conn.exec(&query, Params::Positional(key)).await?;
    expect(rows.into_iter().map(Row::unwrap).collect(), vec![row()])
}

/// `in`, the number of the server's error, `refused`, or `round`; and the error.
async fn outcome(port: u16, login: &Login) -> (String, Option<AnyError>) {
    let mut conn = match Conn::new(login.options(port)).await {
        Ok(conn) => conn,
        Err(mysql_async::Error::Server(error)) => return (error.code.to_string(), Some(error.into())),
        Err(error) => return ("refused".to_owned(), Some(error.into())),
    };
    let result = round_trip(&mut conn, login).await;
    let end = conn.disconnect().await;
    match result.and(end.map_err(Into::into)) {
        Ok(()) => ("in".to_owned(), None),
        Err(error) => ("round".to_owned(), Some(error)),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    let port = std::env::args().nth(1).ok_or("usage: clients PORT")?.parse()?;
    for line in std::io::stdin().lines() {
        let line = line?;
        let login = Login::read(&line).ok_or_else(|| format!("no login: {line}"))?;
        let (found, error) = outcome(port, &login).await;
        let is_refused = login.wanted == "refused" && found != "in" && found != "round";
        if found == login.wanted || is_refused {
            println!("ok {}", login.name);
        } else {
            println!("wrong {}: wanted {}, found {found} ({error:?})", login.name, login.wanted);
        }
    }
    Ok(())
}
