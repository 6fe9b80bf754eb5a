//! Digests that MySQL 8.4 has and newer servers leave to a component, so that none is recorded from those.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// Of RFC 1321 and FIPS 180.
const KNOWN: [(&str, &str); 8] = [
    ("MD5('')", "d41d8cd98f00b204e9800998ecf8427e"),
    ("MD5('a')", "0cc175b9c0f1b6a831c399e269772661"),
    ("MD5('message digest')", "f96b697d7cb7938d525a2f31aaf161d0"),
    ("md5(x'616263')", "900150983cd24fb0d6963f7d28e17f72"),
    ("SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("SHA('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("SHA1('')", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("SHA1(REPEAT('a', 1000000))", "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
];

#[test]
fn digests_are_those_of_the_standards() {
    let server = TestServer::start(Path::new(env!("CARGO_BIN_EXE_ratchetd")), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    for (call, digest) in KNOWN {
        let query = format!("SELECT {call}, LENGTH({call}), CHARSET({call})");
        let found: Option<(String, u64, String)> = conn.query_first(query).unwrap();
        assert_eq!(found, Some((digest.to_owned(), digest.len() as u64, "utf8mb4".to_owned())), "{call}");
    }
    let nulls: Option<(Option<String>, Option<String>)> =
        conn.query_first("SELECT MD5(NULL), SHA1(NULL)").unwrap();
    assert_eq!(nulls, Some((None, None)));
    for call in ["MD5()", "SHA1('a', 'b')", "SHA()"] {
        let error = conn.query_drop(format!("SELECT {call}")).unwrap_err().to_string();
        assert!(error.contains("1582"), "{call}: {error}");
    }
}
