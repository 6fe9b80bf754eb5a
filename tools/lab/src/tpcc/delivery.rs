//! Delivery, clause 2.7: the oldest new order of each district of a warehouse.
//!
//! Rows are updated before they are read without a lock: a transaction sees its own changes, even of orders
//! that were inserted after its snapshot was taken.

use crate::tpcc::answer::Row;
use crate::tpcc::dialect::Dialect;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::DISTRICTS;
use crate::tpcc::session::{Failure, Outcome, Param, Session};

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

    pub(super) async fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<()> {
        session.plain("BEGIN").await?;
        match dialect {
            Dialect::Batched => self.deliver_batched(session).await?,
            Dialect::Rowwise => {
                for district in 1..=DISTRICTS {
                    self.deliver_one(session, district).await?;
                }
            }
        }
        session.plain("COMMIT").await
    }

    /// A district without new orders is left out, clause 2.7.4.2.
    async fn deliver_one(&self, session: &mut Session, district: usize) -> Outcome<()> {
        let (w, d) = (Param::from(self.warehouse), Param::from(district));
        let oldest = session.get(SELECT_MIN, &[w, d], |row| row.int(0)).await?;
        let Some(order) = oldest else { return Ok(()) };
        let key = [w, d, order.into()];
        session.execute(DELETE_ONE, &key).await?;
        session.execute(UPDATE_ORDER, &[self.carrier.into(), w, d, order.into()]).await?;
        let customer = session.get(SELECT_ORDER, &key, |row| row.int(0)).await?;
        let customer = customer.ok_or(Failure::Missing(SELECT_ORDER))?;
        session.execute(UPDATE_LINES, &key).await?;
        let amount = session.get(SUM_LINES, &key, |row| row.text(0)).await?;
        session.execute(UPDATE_CUSTOMER, &[amount.as_str().into(), w, d, customer.into()]).await
    }

    async fn deliver_batched(&self, session: &mut Session) -> Outcome<()> {
        let w = Param::from(self.warehouse);
        let mut keys: Vec<Param<'_>> = Vec::with_capacity(DISTRICTS * 3);
        for d in (1..=DISTRICTS).map(Param::from) {
            if let Some(order) = session.find(SELECT_OLDEST, &[w, d], |row| row.int(0)).await?.flatten() {
                keys.extend([w, d, order.into()]);
            }
        }
        let count = keys.len() / 3;
        if count == 0 {
            return Ok(());
        }
        let with_carrier: Vec<Param<'_>> =
            std::iter::once(self.carrier.into()).chain(keys.iter().copied()).collect();
        session.execute_many(DELETE_ALL, count, &keys).await?;
        session.execute_many(UPDATE_ORDERS, count, &with_carrier).await?;
        let customers =
            session.rows_many(SELECT_ORDERS, count, &keys, |row| (row.int(0), row.int(1))).await?;
        session.execute_many(UPDATE_ALL_LINES, count, &keys).await?;
        let read = |row: &Row<'_>| (row.int(0), row.text(1));
        let mut amounts = session.rows_many(SUM_ALL_LINES, count, &keys, read).await?;
        // In the districts' order, as the other dialect: locks are taken in one order.
        amounts.sort_unstable();
        for (district, amount) in amounts {
            let of_district = customers.iter().find(|customer| customer.0 == district);
            let (Some(district), Some(&(_, Some(customer)))) = (district, of_district) else {
                return Err(Failure::Missing(SELECT_ORDERS));
            };
            let params = [amount.as_str().into(), w, district.into(), customer.into()];
            session.execute(UPDATE_CUSTOMER, &params).await?;
        }
        Ok(())
    }
}
