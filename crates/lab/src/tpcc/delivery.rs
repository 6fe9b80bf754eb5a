//! Delivery, clause 2.7: the oldest new order of each district of a warehouse.
//!
//! Rows are updated before they are read without a lock: a transaction sees its own changes, even of orders that were inserted
//! after its snapshot was taken.

use mysql::{Params, Value};

use crate::tpcc::dialect::Dialect;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::DISTRICTS;
use crate::tpcc::session::{Outcome, Session};

const SELECT_OLDEST: &str = "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? \
     ORDER BY no_o_id LIMIT 1 FOR UPDATE";
const SELECT_MIN: &str = "SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = ? AND no_d_id = ? FOR UPDATE";
const DELETE_ONE: &str = "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?";
const UPDATE_ORDER: &str = "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?";
const SELECT_ORDER: &str = "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?";
const UPDATE_LINES: &str =
    "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
const SUM_LINES: &str =
    "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
const UPDATE_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
     WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";

const DELETE_ALL: &str = "DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN ({(?, ?, ?)})";
const UPDATE_ORDERS: &str =
    "UPDATE orders SET o_carrier_id = ? WHERE (o_w_id, o_d_id, o_id) IN ({(?, ?, ?)})";
const SELECT_ORDERS: &str = "SELECT o_d_id, o_c_id FROM orders WHERE (o_w_id, o_d_id, o_id) IN ({(?, ?, ?)})";
const UPDATE_ALL_LINES: &str =
    "UPDATE order_line SET ol_delivery_d = NOW() WHERE (ol_w_id, ol_d_id, ol_o_id) IN ({(?, ?, ?)})";
const SUM_ALL_LINES: &str = "SELECT ol_d_id, SUM(ol_amount) FROM order_line \
     WHERE (ol_w_id, ol_d_id, ol_o_id) IN ({(?, ?, ?)}) GROUP BY ol_d_id";

/// The input of one transaction.
#[derive(Debug)]
pub(super) struct Delivery {
    warehouse: usize,
    carrier: usize,
}

impl Delivery {
    pub(super) fn draw(warehouse: usize, generator: &mut Generator) -> Delivery {
        Delivery { warehouse, carrier: generator.uniform(1, 10) }
    }

    pub(super) fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<()> {
        session.plain("BEGIN")?;
        match dialect {
            Dialect::Batched => self.deliver_batched(session)?,
            Dialect::Rowwise => {
                (1..=DISTRICTS).try_for_each(|district| self.deliver_one(session, district))?;
            }
        }
        session.plain("COMMIT")
    }

    /// A district without new orders is left out, clause 2.7.4.2.
    fn deliver_one(&self, session: &mut Session, d: usize) -> Outcome<()> {
        let w = self.warehouse;
        let (oldest,): (Option<i64>,) = session.get(SELECT_MIN, (w, d))?;
        let Some(order) = oldest else { return Ok(()) };
        session.execute(DELETE_ONE, (w, d, order))?;
        session.execute(UPDATE_ORDER, (self.carrier, w, d, order))?;
        let customer: i64 = session.get(SELECT_ORDER, (w, d, order))?;
        session.execute(UPDATE_LINES, (w, d, order))?;
        let amount: String = session.get(SUM_LINES, (w, d, order))?;
        session.execute(UPDATE_CUSTOMER, (amount, w, d, customer))
    }

    fn deliver_batched(&self, session: &mut Session) -> Outcome<()> {
        let w = self.warehouse;
        let mut keys: Vec<Value> = Vec::with_capacity(DISTRICTS * 3);
        for d in 1..=DISTRICTS {
            if let Some(order) = session.find::<i64>(SELECT_OLDEST, (w, d))? {
                keys.extend([Value::from(w), Value::from(d), Value::from(order)]);
            }
        }
        let count = keys.len() / 3;
        if count == 0 {
            return Ok(());
        }
        let all = || Params::Positional(keys.clone());
        let with_carrier: Vec<Value> =
            std::iter::once(Value::from(self.carrier)).chain(keys.iter().cloned()).collect();
        session.execute_many(DELETE_ALL, count, all())?;
        session.execute_many(UPDATE_ORDERS, count, Params::Positional(with_carrier))?;
        let customers: Vec<(i64, i64)> = session.rows_many(SELECT_ORDERS, count, all())?;
        session.execute_many(UPDATE_ALL_LINES, count, all())?;
        let mut amounts: Vec<(i64, String)> = session.rows_many(SUM_ALL_LINES, count, all())?;
        // In the districts' order, as the other dialect: locks are taken in one order.
        amounts.sort_unstable();
        for (district, amount) in amounts {
            let of_district = customers.iter().find(|customer| customer.0 == district);
            let &(_, customer) = of_district.ok_or(crate::tpcc::session::Failure::Missing(SELECT_ORDERS))?;
            session.execute(UPDATE_CUSTOMER, (amount, w, district, customer))?;
        }
        Ok(())
    }
}
