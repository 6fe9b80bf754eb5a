//! The consistency conditions of clause 3.3.2, each as a query that counts the rows which violate it.

use mysql::Conn;
use mysql::prelude::Queryable;

/// A condition: its clause, and a query that returns the number of violations.
struct Condition {
    clause: &'static str,
    violations: &'static str,
}

/// Conditions that read few rows.
const CHEAP: [Condition; 4] = [
    Condition {
        clause: "3.3.2.1: W_YTD is the sum of D_YTD",
        violations: "SELECT COUNT(*) FROM warehouse, \
             (SELECT d_w_id, SUM(d_ytd) AS total FROM district GROUP BY d_w_id) AS d \
             WHERE d_w_id = w_id AND w_ytd <> total",
    },
    Condition {
        clause: "3.3.2.2: D_NEXT_O_ID - 1 is the largest O_ID",
        violations: "SELECT COUNT(*) FROM district, \
             (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) AS o \
             WHERE o_w_id = d_w_id AND o_d_id = d_id AND d_next_o_id - 1 <> last",
    },
    Condition {
        clause: "3.3.2.2: D_NEXT_O_ID - 1 is the largest NO_O_ID",
        violations: "SELECT COUNT(*) FROM district, \
             (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) AS n \
             WHERE no_w_id = d_w_id AND no_d_id = d_id AND d_next_o_id - 1 <> last",
    },
    Condition {
        clause: "3.3.2.3: NO_O_ID has no gaps in a district",
        violations: "SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id FROM new_order GROUP BY no_w_id, no_d_id \
             HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) AS n",
    },
];

/// Conditions that read all orders, lines or payments.
const THOROUGH: [Condition; 10] = [
    Condition {
        clause: "3.3.2.4: the sum of O_OL_CNT is the number of order lines of a district",
        violations: "SELECT COUNT(*) FROM \
             (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS expected FROM orders GROUP BY o_w_id, o_d_id) AS o, \
             (SELECT ol_w_id, ol_d_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) AS l \
             WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND expected <> found",
    },
    Condition {
        clause: "3.3.2.5: O_CARRIER_ID is NULL for new orders",
        violations: "SELECT COUNT(*) FROM orders LEFT JOIN new_order \
             ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
             WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    },
    Condition {
        clause: "3.3.2.5: every new order is an order",
        violations: "SELECT COUNT(*) FROM new_order LEFT JOIN orders \
             ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id WHERE o_id IS NULL",
    },
    Condition {
        clause: "3.3.2.6: O_OL_CNT is the number of an order's lines",
        violations: "SELECT COUNT(*) FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS found \
             FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l \
             ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> COALESCE(found, 0)",
    },
    Condition {
        clause: "3.3.2.7: OL_DELIVERY_D is NULL where O_CARRIER_ID is",
        violations: "SELECT COUNT(*) FROM order_line, orders \
             WHERE o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
             AND (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    },
    Condition {
        clause: "3.3.2.8: W_YTD is the sum of H_AMOUNT",
        violations: "SELECT COUNT(*) FROM warehouse, \
             (SELECT h_w_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id) AS h \
             WHERE h_w_id = w_id AND w_ytd <> total",
    },
    Condition {
        clause: "3.3.2.9: D_YTD is the sum of H_AMOUNT",
        violations: "SELECT COUNT(*) FROM district, \
             (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id, h_d_id) AS h \
             WHERE h_w_id = d_w_id AND h_d_id = d_id AND d_ytd <> total",
    },
    Condition {
        clause: "3.3.2.10: C_BALANCE is the sum of OL_AMOUNT of delivered lines less that of H_AMOUNT",
        violations: "SELECT COUNT(*) FROM customer LEFT JOIN \
             (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders, order_line \
             WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL \
             GROUP BY o_w_id, o_d_id, o_c_id) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
             LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history \
             GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
             WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0)",
    },
    Condition {
        clause: "3.3.2.12: C_BALANCE + C_YTD_PAYMENT is the sum of OL_AMOUNT of delivered lines",
        violations: "SELECT COUNT(*) FROM customer LEFT JOIN \
             (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders, order_line \
             WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL \
             GROUP BY o_w_id, o_d_id, o_c_id) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
             WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0)",
    },
    Condition {
        clause: "2.4.2.2: S_QUANTITY is 10 to 100, S_YTD at least S_ORDER_CNT, and that at least S_REMOTE_CNT",
        violations: "SELECT COUNT(*) FROM stock WHERE s_quantity NOT BETWEEN 10 AND 100 \
             OR s_ytd < s_order_cnt OR s_order_cnt < s_remote_cnt",
    },
];

/// Returns the conditions that are violated in the connection's database, with the number of violations.
/// Without `is_thorough`, only those that read few rows are read.
pub fn check_consistency(connection: &mut Conn, is_thorough: bool) -> Result<Vec<String>, mysql::Error> {
    let thorough: &[Condition] = if is_thorough { &THOROUGH } else { &[] };
    let mut violated = Vec::new();
    for condition in CHEAP.iter().chain(thorough) {
        let count: Option<u64> = connection.query_first(condition.violations)?;
        if count != Some(0) {
            violated.push(format!("{} ({} violations)", condition.clause, count.unwrap_or_default()));
        }
    }
    Ok(violated)
}
