//! What MySQL offers and this server does not answers with error 1235 and leaves the session as it was.

#![allow(clippy::unwrap_used, reason = "test code")]

use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder};

use crate::support::TestServer;

fn connect(server: &TestServer) -> Conn {
    let options = OptsBuilder::from_opts(Opts::default())
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(server.port)
        .prefer_socket(false)
        .max_allowed_packet(Some(1 << 20))
        .user(Some("root"));
    Conn::new(options).unwrap()
}

/// Each of `statements` fails with 1235, which names `what`; the session then still answers.
fn refused(statements: &[&str], what: &str) {
    let server = TestServer::start(&[]);
    let mut conn = connect(&server);
    conn.query_drop("CREATE DATABASE test").unwrap();
    conn.query_drop("USE test").unwrap();
    conn.query_drop("CREATE TABLE emp (id INT PRIMARY KEY, dept INT, name VARCHAR(20))").unwrap();
    conn.query_drop("INSERT INTO emp VALUES (1, 1, 'ann'), (2, NULL, 'bob')").unwrap();
    for sql in statements {
        let error = match conn.query_drop(sql) {
            Err(mysql::Error::MySqlError(error)) => (error.code, error.state, error.message),
            other => panic!("{sql}: {other:?}"),
        };
        let message = format!("This version of MySQL doesn't yet support '{what}'");
        assert_eq!(error, (1235, "42000".to_owned(), message), "{sql}");
    }
    assert_eq!(conn.query_first("SELECT COUNT(*) FROM emp").unwrap(), Some(2));
}

#[test]
fn regular_expressions_are_refused() {
    refused(
        &[
            "SELECT 'abc' REGEXP 'b', 'abc' RLIKE '^a.c$', 'abc' NOT REGEXP 'd'",
            "SELECT id FROM emp WHERE name REGEXP '^a'",
            "DELETE FROM emp WHERE name NOT REGEXP '^a'",
        ],
        "REGEXP",
    );
}

#[test]
fn rollup_is_refused() {
    refused(
        &[
            "SELECT dept, COUNT(*) FROM emp GROUP BY dept WITH ROLLUP",
            "SELECT dept, COUNT(*) FROM emp GROUP BY dept WITH ROLLUP HAVING dept IS NULL",
        ],
        "WITH ROLLUP",
    );
}
