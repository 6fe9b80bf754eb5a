//! TPC-C on a server of this build: both dialects run, retries included, and leave the tables consistent.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use lab::target::Address;
use lab::tpcc::check::check_consistency;
use lab::tpcc::dialect::Dialect;
use lab::tpcc::load;
use lab::tpcc::measure::{Load, measure};
use lab::tpcc::scale::Scale;
use mysql::prelude::Queryable;
use testkit::server::{TestServer, built_with_this_test};

const DATABASE: &str = "tpcc";
/// Violations of the consistency conditions, each made by hand: a check that never fails shows nothing.
const FAULTS: [(&str, &str); 6] = [
    ("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1", "3.3.2.1"),
    ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3", "3.3.2.2"),
    ("DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 4 AND ol_o_id = 5 AND ol_number = 2", "3.3.2.4"),
    ("UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = 3", "3.3.2.5"),
    ("DELETE FROM history WHERE h_w_id = 1 AND h_c_id = 3", "3.3.2.8"),
    (
        "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        "3.3.2.10",
    ),
];

#[test]
fn both_dialects_leave_the_tables_consistent() {
    let server = TestServer::start(&built_with_this_test(), &["--innodb-lock-wait-timeout=5"]).unwrap();
    let address = Address::parse(&format!("mysql://root@127.0.0.1:{}", server.port)).unwrap();
    let scale = Scale::tiny(2);
    load(&address, DATABASE, &scale, 7).unwrap();
    let mut connection = address.connect().unwrap();
    connection.query_drop(format!("USE {DATABASE}")).unwrap();
    assert_eq!(check_consistency(&mut connection, true).unwrap(), Vec::<String>::new());
    for (dialect, is_bound) in [(Dialect::Batched, true), (Dialect::Rowwise, false)] {
        let load = Load {
            scale,
            database: DATABASE.to_owned(),
            dialect,
            terminals: 8,
            client_threads: 2,
            is_bound,
            warmup: Duration::ZERO,
            measured: Duration::from_secs(3),
            seed: 11,
        };
        let figures = measure(&address, &load, &AtomicBool::new(false)).unwrap();
        for kind in &figures.kinds {
            assert!(kind.count > 0 && kind.p99_ms > 0.0, "{dialect:?}: {figures:?}");
        }
        assert!(figures.tpm_c > 0.0, "{figures:?}");
        assert_eq!(check_consistency(&mut connection, true).unwrap(), Vec::<String>::new(), "{dialect:?}");
    }
    for (fault, clause) in FAULTS {
        connection.query_drop(fault).unwrap();
        let violated = check_consistency(&mut connection, true).unwrap();
        assert!(violated.iter().any(|v| v.starts_with(clause)), "{fault}: {violated:?}");
    }
}
