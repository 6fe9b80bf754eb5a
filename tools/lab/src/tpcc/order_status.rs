//! Order-Status, clause 2.6.

use crate::tpcc::payment::Customer;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::session::{Failure, Outcome, Session};

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

    pub(super) async fn run(&self, session: &mut Session) -> Outcome<()> {
        session.plain("BEGIN").await?;
        let key @ [w, d, _] = self.customer.key(session).await?;
        session.see(SELECT_CUSTOMER, &key).await?;
        let order = session.get(SELECT_LAST_ORDER, &key, |row| row.int(0)).await?;
        let order = order.ok_or(Failure::Missing(SELECT_LAST_ORDER))?;
        session.rows(SELECT_LINES, &[w, d, order.into()], |_| ()).await?;
        session.plain("COMMIT").await
    }
}
