//! Order-Status, clause 2.6.

use mysql::{Row, Value};

use crate::tpcc::payment::Customer;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::session::{Outcome, Session};

const SELECT_CUSTOMER: &str =
    "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
const SELECT_LAST_ORDER: &str = "SELECT o_id, o_carrier_id, o_entry_d FROM orders \
     WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1";
const SELECT_LINES: &str = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
     WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";

/// The input of one transaction.
#[derive(Debug)]
pub(super) struct OrderStatus {
    customer: Customer,
}

impl OrderStatus {
    pub(super) fn draw(warehouse: usize, scale: &Scale, generator: &mut Generator) -> OrderStatus {
        let district = generator.uniform(1, DISTRICTS);
        OrderStatus { customer: Customer::draw(warehouse, district, scale, generator) }
    }

    pub(super) fn run(&self, session: &mut Session) -> Outcome<()> {
        session.plain("BEGIN")?;
        let key @ (w, d, _) = self.customer.key(session)?;
        let _: Row = session.get(SELECT_CUSTOMER, key)?;
        let (order, ..): (i64, Value, Value) = session.get(SELECT_LAST_ORDER, key)?;
        let _: Vec<Row> = session.rows(SELECT_LINES, (w, d, order))?;
        session.plain("COMMIT")
    }
}
