//! New-Order, clause 2.4.

use std::collections::BTreeMap;

use crate::tpcc::answer::Row;
use crate::tpcc::dialect::Dialect;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::session::{Failure, Outcome, Param, Session, decimal, hundredths};

const SELECT_CUSTOMER_AND_WAREHOUSE: &str = "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
     WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?";
const SELECT_WAREHOUSE: &str = "SELECT w_tax FROM warehouse WHERE w_id = ?";
const SELECT_CUSTOMER: &str =
    "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
const SELECT_DISTRICT: &str =
    "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE";
const UPDATE_DISTRICT: &str = "UPDATE district SET d_next_o_id = ? WHERE d_w_id = ? AND d_id = ?";
const INSERT_ORDER: &str = "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
     VALUES (?, ?, ?, ?, NOW(), ?, ?)";
const INSERT_NEW_ORDER: &str = "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)";
const SELECT_ITEM: &str = "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?";
const SELECT_ITEMS: &str = "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({?})";
const SELECT_STOCKS: &str = "SELECT s_w_id, s_i_id, s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, \
     s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock \
     WHERE (s_w_id, s_i_id) IN ({(?, ?)}) FOR UPDATE";
const UPDATE_STOCK: &str = "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
     s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?";
const INSERT_LINES: &str = "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, \
     ol_quantity, ol_amount, ol_dist_info) VALUES {(?, ?, ?, ?, ?, ?, ?, ?, ?)}";

/// A row of `stock` by district: the query differs in one column.
const SELECT_STOCK: [&str; DISTRICTS] = [
    "SELECT s_quantity, s_data, s_dist_01 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_02 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_03 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_04 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_05 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_06 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_07 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_08 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_09 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    "SELECT s_quantity, s_data, s_dist_10 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
];

/// An order line as it is ordered.
#[derive(Clone, Copy, Debug)]
struct Line {
    item: usize,
    supply: usize,
    quantity: i64,
}

/// The input of one transaction.
#[derive(Debug)]
pub(super) struct NewOrder {
    warehouse: usize,
    district: usize,
    customer: usize,
    lines: Vec<Line>,
}

/// What is known of a stock row while the transaction changes it.
struct Stock {
    quantity: i64,
    district_text: String,
}

impl NewOrder {
    pub(super) fn draw(warehouse: usize, scale: &Scale, generator: &mut Generator) -> NewOrder {
        let count = generator.uniform(5, 15);
        let mut lines: Vec<Line> = (0..count).map(|_| Line::draw(warehouse, scale, generator)).collect();
        if generator.percent(1) {
            // An item that is not there: the transaction ends with ROLLBACK, clause 2.4.1.4.
            lines[count - 1].item = scale.items + 1;
        }
        // Transactions lock stock rows in one order, so that they rarely wait in a cycle.
        lines.sort_by_key(|line| (line.item, line.supply));
        let (district, customer) = (generator.uniform(1, DISTRICTS), generator.customer(scale));
        NewOrder { warehouse, district, customer, lines }
    }

    /// Returns whether the transaction was committed; if not, it was rolled back as its input requires.
    pub(super) async fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<bool> {
        session.plain("BEGIN").await?;
        let order = self.insert_order(session, dialect).await?;
        let is_complete = match dialect {
            Dialect::Batched => self.insert_lines_batched(session, order).await?,
            Dialect::Rowwise => self.insert_lines_rowwise(session, order).await?,
        };
        session.plain(if is_complete { "COMMIT" } else { "ROLLBACK" }).await?;
        Ok(is_complete)
    }

    /// Takes the district's next order number and inserts the order without its lines.
    async fn insert_order(&self, session: &mut Session, dialect: Dialect) -> Outcome<i64> {
        let NewOrder { warehouse: w, district: d, customer: c, ref lines } = *self;
        let (w, d, c) = (Param::from(w), Param::from(d), Param::from(c));
        match dialect {
            Dialect::Batched => session.see(SELECT_CUSTOMER_AND_WAREHOUSE, &[w, d, c]).await?,
            Dialect::Rowwise => {
                session.see(SELECT_CUSTOMER, &[w, d, c]).await?;
                session.see(SELECT_WAREHOUSE, &[w]).await?;
            }
        }
        let next = session.get(SELECT_DISTRICT, &[w, d], |row| row.int(0)).await?;
        let order = next.ok_or(Failure::Missing(SELECT_DISTRICT))?;
        session.execute(UPDATE_DISTRICT, &[(order + 1).into(), w, d]).await?;
        let is_local = lines.iter().all(|line| line.supply == self.warehouse);
        let rest = [order.into(), d, w, c, lines.len().into(), i64::from(is_local).into()];
        session.execute(INSERT_ORDER, &rest).await?;
        session.execute(INSERT_NEW_ORDER, &[order.into(), d, w]).await?;
        Ok(order)
    }

    /// Returns false when an item is not there.
    async fn insert_lines_batched(&self, session: &mut Session, order: i64) -> Outcome<bool> {
        let prices: BTreeMap<usize, Option<i64>> = self.lines.iter().map(|line| (line.item, None)).collect();
        let Some(prices) = select_prices(session, prices).await? else { return Ok(false) };
        let mut stocks = self.select_stocks(session).await?;
        let mut rows: Vec<(String, String)> = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            let stock = stocks.get_mut(&(line.supply, line.item)).ok_or(Failure::Missing(SELECT_STOCKS))?;
            self.update_stock(session, line, stock).await?;
            let price = prices.get(&line.item).copied().unwrap_or_default();
            rows.push((decimal(price * line.quantity), stock.district_text.clone()));
        }
        let mut params: Vec<Param<'_>> = Vec::with_capacity(self.lines.len() * 9);
        for ((number, line), (amount, text)) in (1i64..).zip(&self.lines).zip(&rows) {
            params.extend(self.line_row(order, number, line, amount, text));
        }
        session.execute_many(INSERT_LINES, self.lines.len(), &params).await?;
        Ok(true)
    }

    /// Returns false when an item is not there.
    async fn insert_lines_rowwise(&self, session: &mut Session, order: i64) -> Outcome<bool> {
        for (number, line) in (1i64..).zip(&self.lines) {
            let Some(price) = session.find(SELECT_ITEM, &[line.item.into()], |row| row.text(0)).await? else {
                return Ok(false);
            };
            let key = [line.supply.into(), line.item.into()];
            let read =
                |row: &Row<'_>| Stock { quantity: row.int(0).unwrap_or(0), district_text: row.text(2) };
            let mut stock = session.get(SELECT_STOCK[self.district - 1], &key, read).await?;
            self.update_stock(session, line, &mut stock).await?;
            let amount = decimal(hundredths(&price) * line.quantity);
            let row = self.line_row(order, number, line, &amount, &stock.district_text);
            session.execute(INSERT_LINES, &row).await?;
        }
        Ok(true)
    }

    async fn select_stocks(&self, session: &mut Session) -> Outcome<BTreeMap<(usize, usize), Stock>> {
        let mut keys: Vec<(usize, usize)> = self.lines.iter().map(|line| (line.supply, line.item)).collect();
        keys.dedup();
        let params: Vec<Param<'_>> =
            keys.iter().flat_map(|&(w, item)| [Param::from(w), Param::from(item)]).collect();
        let read = |row: &Row<'_>| {
            let key = (row.int(0)? as usize, row.int(1)? as usize);
            Some((key, Stock { quantity: row.int(2)?, district_text: row.text(3 + self.district) }))
        };
        let rows = session.rows_many(SELECT_STOCKS, keys.len(), &params, read).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Clause 2.4.2.2: the stock falls by what is ordered, and is filled up before it would fall below 10.
    async fn update_stock(&self, session: &mut Session, line: &Line, stock: &mut Stock) -> Outcome<()> {
        stock.quantity -= line.quantity;
        if stock.quantity < 10 {
            stock.quantity += 91;
        }
        let is_remote = i64::from(line.supply != self.warehouse);
        let key = [line.supply.into(), line.item.into()];
        let params = [stock.quantity.into(), line.quantity.into(), is_remote.into(), key[0], key[1]];
        session.execute(UPDATE_STOCK, &params).await
    }

    fn line_row<'a>(
        &self,
        order: i64,
        number: i64,
        line: &Line,
        amount: &'a str,
        text: &'a str,
    ) -> [Param<'a>; 9] {
        [
            order.into(),
            self.district.into(),
            self.warehouse.into(),
            number.into(),
            line.item.into(),
            line.supply.into(),
            line.quantity.into(),
            amount.into(),
            text.into(),
        ]
    }
}

impl Line {
    fn draw(warehouse: usize, scale: &Scale, generator: &mut Generator) -> Line {
        let item = generator.item(scale);
        let is_remote = scale.warehouses > 1 && generator.percent(1);
        let supply = if is_remote { other_warehouse(warehouse, scale, generator) } else { warehouse };
        Line { item, supply, quantity: generator.uniform(1, 10) as i64 }
    }
}

/// Returns one of the other warehouses, of which there must be one.
pub(super) fn other_warehouse(warehouse: usize, scale: &Scale, generator: &mut Generator) -> usize {
    let other = generator.uniform(1, scale.warehouses - 1);
    if other < warehouse { other } else { other + 1 }
}

/// Returns the price of each item; None when one is not there.
async fn select_prices(
    session: &mut Session,
    mut prices: BTreeMap<usize, Option<i64>>,
) -> Outcome<Option<BTreeMap<usize, i64>>> {
    let params: Vec<Param<'_>> = prices.keys().map(|&item| Param::from(item)).collect();
    let read = |row: &Row<'_>| (row.int(0).unwrap_or(0) as usize, row.text(1));
    for (item, price) in session.rows_many(SELECT_ITEMS, prices.len(), &params, read).await? {
        prices.insert(item, Some(hundredths(&price)));
    }
    Ok(prices.into_iter().map(|(item, price)| Some((item, price?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_a_hundred_is_remote_and_one_order_of_a_hundred_has_an_item_that_is_not_there() {
        let scale = Scale::full(10);
        let mut generator = Generator::of_run(5);
        let orders: Vec<NewOrder> = (0..20_000).map(|_| NewOrder::draw(3, &scale, &mut generator)).collect();
        let lines = || orders.iter().flat_map(|order| &order.lines);
        let remote = lines().filter(|line| line.supply != 3).count() as f64 / lines().count() as f64;
        assert!((0.008..0.012).contains(&remote), "{remote}");
        assert!(lines().all(|line| (1..=10).contains(&line.supply)));
        let invalid = lines().filter(|line| line.item > scale.items).count();
        assert!((140..260).contains(&invalid), "{invalid}");
        let mean = lines().count() as f64 / orders.len() as f64;
        assert!((9.9..10.1).contains(&mean), "{mean}");
    }
}
