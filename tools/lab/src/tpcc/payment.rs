//! Payment, clause 2.5, and how a customer is chosen, clauses 2.5.1.2 and 2.6.1.2.

use crate::tpcc::new_order::other_warehouse;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::session::{Failure, Outcome, Param, Session, decimal};

const UPDATE_WAREHOUSE: &str = "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?";
const SELECT_WAREHOUSE: &str =
    "SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?";
const UPDATE_DISTRICT: &str = "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?";
const SELECT_DISTRICT: &str = "SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?";
const SELECT_BY_NAME: &str =
    "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first";
const SELECT_CUSTOMER: &str = "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
     c_phone, c_credit_lim, c_discount, c_balance, c_since FROM customer \
     WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE";
const SELECT_DATA: &str = "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
const UPDATE_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
     c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
const UPDATE_CUSTOMER_AND_DATA: &str = "UPDATE customer SET c_balance = c_balance - ?, \
     c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ? \
     WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
const INSERT_HISTORY: &str = "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
     VALUES (?, ?, ?, ?, ?, NOW(), ?, ?)";

/// Bytes of `c_data`.
const DATA_BYTES_MAX: usize = 500;

/// A customer of a district: by number, or the middle one of those of a last name.
#[derive(Debug)]
pub(super) struct Customer {
    warehouse: usize,
    district: usize,
    by: By,
}

#[derive(Debug)]
enum By {
    Id(usize),
    LastName(String),
}

impl Customer {
    /// Chooses a customer of this district, 60 of 100 by last name.
    pub(super) fn draw(
        warehouse: usize,
        district: usize,
        scale: &Scale,
        generator: &mut Generator,
    ) -> Customer {
        let by = if generator.percent(60) {
            By::LastName(generator.last_name(scale))
        } else {
            By::Id(generator.customer(scale))
        };
        Customer { warehouse, district, by }
    }

    /// Returns the customer's key.
    pub(super) async fn key(&self, session: &mut Session) -> Outcome<[Param<'static>; 3]> {
        let Customer { warehouse: w, district: d, ref by } = *self;
        let (w, d) = (w.into(), d.into());
        let id = match by {
            By::Id(id) => Some(*id as i64),
            By::LastName(name) => {
                let params = [w, d, name.as_str().into()];
                let ids = session.rows(SELECT_BY_NAME, &params, |row| row.int(0)).await?;
                ids.get(ids.len().saturating_sub(1) / 2).copied().flatten()
            }
        };
        Ok([w, d, id.ok_or(Failure::Missing(SELECT_BY_NAME))?.into()])
    }
}

/// The input of one transaction.
#[derive(Debug)]
pub(super) struct Payment {
    warehouse: usize,
    district: usize,
    customer: Customer,
    amount: i64,
}

impl Payment {
    pub(super) fn draw(warehouse: usize, scale: &Scale, generator: &mut Generator) -> Payment {
        let district = generator.uniform(1, DISTRICTS);
        let is_remote = scale.warehouses > 1 && generator.percent(15);
        let (customer_warehouse, customer_district) = if is_remote {
            (other_warehouse(warehouse, scale, generator), generator.uniform(1, DISTRICTS))
        } else {
            (warehouse, district)
        };
        let customer = Customer::draw(customer_warehouse, customer_district, scale, generator);
        Payment { warehouse, district, customer, amount: generator.uniform(100, 500_000) as i64 }
    }

    pub(super) async fn run(&self, session: &mut Session) -> Outcome<()> {
        let (w, d) = (Param::from(self.warehouse), Param::from(self.district));
        let amount = decimal(self.amount);
        let amount = Param::from(amount.as_str());
        session.plain("BEGIN").await?;
        session.execute(UPDATE_WAREHOUSE, &[amount, w]).await?;
        let of_warehouse = session.get(SELECT_WAREHOUSE, &[w], |row| row.text(5)).await?;
        session.execute(UPDATE_DISTRICT, &[amount, w, d]).await?;
        let of_district = session.get(SELECT_DISTRICT, &[w, d], |row| row.text(5)).await?;
        let key @ [c_w, c_d, c] = self.customer.key(session).await?;
        self.update_customer(session, key, amount).await?;
        let data = format!("{of_warehouse}    {of_district}");
        let history = [c_d, c_w, c, d, w, amount, data.as_str().into()];
        session.execute(INSERT_HISTORY, &history).await?;
        session.plain("COMMIT").await
    }

    async fn update_customer(
        &self,
        session: &mut Session,
        key @ [w, d, c]: [Param<'_>; 3],
        amount: Param<'_>,
    ) -> Outcome<()> {
        let credit = session.get(SELECT_CUSTOMER, &key, |row| row.text(0)).await?;
        if credit != "BC" {
            return session.execute(UPDATE_CUSTOMER, &[amount, amount, w, d, c]).await;
        }
        // Clause 2.5.2.2: a customer of bad credit keeps a record of payments.
        let before = session.get(SELECT_DATA, &key, |row| row.text(0)).await?;
        let mut data = format!("{c} {d} {w} {} {} {amount} | {before}", self.district, self.warehouse);
        data.truncate(DATA_BYTES_MAX);
        let params = [amount, amount, data.as_str().into(), w, d, c];
        session.execute(UPDATE_CUSTOMER_AND_DATA, &params).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_of_a_hundred_are_remote_and_sixty_by_last_name() {
        let scale = Scale::full(4);
        let mut generator = Generator::of_run(6);
        let payments: Vec<Payment> = (0..20_000).map(|_| Payment::draw(2, &scale, &mut generator)).collect();
        let share = |of: &dyn Fn(&Payment) -> bool| {
            payments.iter().filter(|payment| of(payment)).count() as f64 / payments.len() as f64
        };
        let remote = share(&|payment| payment.customer.warehouse != 2);
        assert!((0.14..0.16).contains(&remote), "{remote}");
        let by_name = share(&|payment| matches!(payment.customer.by, By::LastName(_)));
        assert!((0.58..0.62).contains(&by_name), "{by_name}");
        assert!(payments.iter().all(|payment| (100..=500_000).contains(&payment.amount)));
    }
}
