//! Stock-Level, clause 2.8: how many items of a district's last 20 orders are short.

use crate::tpcc::dialect::Dialect;
use crate::tpcc::random::Generator;
use crate::tpcc::session::{Failure, Outcome, Param, Session};

/// Orders that are read.
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

    pub(super) async fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<()> {
        let (w, d) = (Param::from(self.warehouse), Param::from(self.district));
        let threshold = Param::from(self.threshold);
        session.plain("BEGIN").await?;
        let next = session.get(SELECT_DISTRICT, &[w, d], |row| row.int(0)).await?;
        let next = next.ok_or(Failure::Missing(SELECT_DISTRICT))?;
        let orders = [w, d, next.into(), (next - ORDERS).into()];
        match dialect {
            Dialect::Batched => {
                let [_, _, end, begin] = orders;
                session.see(COUNT_SHORT, &[w, d, end, begin, w, threshold]).await?;
            }
            Dialect::Rowwise => {
                for item in session.rows(SELECT_ITEMS, &orders, |row| row.int(0)).await? {
                    let item = item.ok_or(Failure::Missing(SELECT_ITEMS))?;
                    session.see(COUNT_SHORT_ITEM, &[w, item.into(), threshold]).await?;
                }
            }
        }
        session.plain("COMMIT").await
    }
}
