//! Stock-Level, clause 2.8: how many items of a district's last 20 orders are short.

use mysql::Row;

use crate::tpcc::dialect::Dialect;
use crate::tpcc::random::Generator;
use crate::tpcc::session::{Outcome, Session};

/// Orders that are looked at.
const ORDERS: i64 = 20;

const SELECT_DISTRICT: &str = "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?";
const COUNT_SHORT: &str = "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
     WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? \
     AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?";
const SELECT_ITEMS: &str = "SELECT DISTINCT ol_i_id FROM order_line \
     WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?";
const COUNT_SHORT_ITEM: &str =
    "SELECT COUNT(*) FROM stock WHERE s_w_id = ? AND s_i_id = ? AND s_quantity < ?";

/// The input of one transaction.
#[derive(Debug)]
pub(super) struct StockLevel {
    warehouse: usize,
    district: usize,
    threshold: usize,
}

impl StockLevel {
    pub(super) fn draw(warehouse: usize, district: usize, generator: &mut Generator) -> StockLevel {
        StockLevel { warehouse, district, threshold: generator.uniform(10, 20) }
    }

    pub(super) fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<()> {
        let StockLevel { warehouse: w, district: d, threshold } = *self;
        session.plain("BEGIN")?;
        let next: i64 = session.get(SELECT_DISTRICT, (w, d))?;
        match dialect {
            Dialect::Batched => {
                let _: Row = session.get(COUNT_SHORT, (w, d, next, next - ORDERS, w, threshold))?;
            }
            Dialect::Rowwise => {
                let items: Vec<i64> = session.rows(SELECT_ITEMS, (w, d, next, next - ORDERS))?;
                for item in items {
                    let _: Row = session.get(COUNT_SHORT_ITEM, (w, item, threshold))?;
                }
            }
        }
        session.plain("COMMIT")
    }
}
