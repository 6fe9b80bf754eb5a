//! New-Order, clause 2.4.

use std::collections::BTreeMap;

use mysql::{Params, Row, Value};

use crate::tpcc::dialect::Dialect;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::session::{Failure, Outcome, Session, decimal, hundredths};

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
    pub(super) fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<bool> {
        session.plain("BEGIN")?;
        let order = self.insert_order(session, dialect)?;
        let is_complete = match dialect {
            Dialect::Batched => self.insert_lines_batched(session, order)?,
            Dialect::Rowwise => self.insert_lines_rowwise(session, order)?,
        };
        session.plain(if is_complete { "COMMIT" } else { "ROLLBACK" })?;
        Ok(is_complete)
    }

    /// Takes the district's next order number and inserts the order without its lines.
    fn insert_order(&self, session: &mut Session, dialect: Dialect) -> Outcome<i64> {
        let NewOrder { warehouse: w, district: d, customer: c, ref lines } = *self;
        match dialect {
            Dialect::Batched => {
                let _: Row = session.get(SELECT_CUSTOMER_AND_WAREHOUSE, (w, d, c))?;
            }
            Dialect::Rowwise => {
                let _: Row = session.get(SELECT_CUSTOMER, (w, d, c))?;
                let _: Row = session.get(SELECT_WAREHOUSE, (w,))?;
            }
        }
        let (order, _): (i64, Value) = session.get(SELECT_DISTRICT, (w, d))?;
        session.execute(UPDATE_DISTRICT, (order + 1, w, d))?;
        let is_local = lines.iter().all(|line| line.supply == w);
        session.execute(INSERT_ORDER, (order, d, w, c, lines.len(), i32::from(is_local)))?;
        session.execute(INSERT_NEW_ORDER, (order, d, w))?;
        Ok(order)
    }

    /// Returns false when an item is not there.
    fn insert_lines_batched(&self, session: &mut Session, order: i64) -> Outcome<bool> {
        let prices: BTreeMap<usize, Option<i64>> = self.lines.iter().map(|line| (line.item, None)).collect();
        let Some(prices) = select_prices(session, prices)? else { return Ok(false) };
        let mut stocks = self.select_stocks(session)?;
        let mut params: Vec<Value> = Vec::with_capacity(self.lines.len() * 9);
        for (number, line) in (1i64..).zip(&self.lines) {
            let stock = stocks.get_mut(&(line.supply, line.item)).ok_or(Failure::Missing(SELECT_STOCKS))?;
            self.update_stock(session, line, stock)?;
            let price = prices.get(&line.item).copied().unwrap_or_default();
            params.extend(self.line_row(order, number, line, price, &stock.district_text));
        }
        session.execute_many(INSERT_LINES, self.lines.len(), Params::Positional(params))?;
        Ok(true)
    }

    /// Returns false when an item is not there.
    fn insert_lines_rowwise(&self, session: &mut Session, order: i64) -> Outcome<bool> {
        for (number, line) in (1i64..).zip(&self.lines) {
            let Some((price, ..)) = session.find::<(String, Value, Value)>(SELECT_ITEM, (line.item,))? else {
                return Ok(false);
            };
            let (quantity, _, district_text): (i64, Value, String) =
                session.get(SELECT_STOCK[self.district - 1], (line.supply, line.item))?;
            let mut stock = Stock { quantity, district_text };
            self.update_stock(session, line, &mut stock)?;
            let row = self.line_row(order, number, line, hundredths(&price), &stock.district_text);
            session.execute(INSERT_LINES, Params::Positional(row.to_vec()))?;
        }
        Ok(true)
    }

    fn select_stocks(&self, session: &mut Session) -> Outcome<BTreeMap<(usize, usize), Stock>> {
        let mut keys: Vec<(usize, usize)> = self.lines.iter().map(|line| (line.supply, line.item)).collect();
        keys.dedup();
        let params = keys.iter().flat_map(|&(w, item)| [Value::from(w), Value::from(item)]).collect();
        let rows: Vec<Row> = session.rows_many(SELECT_STOCKS, keys.len(), Params::Positional(params))?;
        let stock = |mut row: Row| {
            let (warehouse, item, quantity) = (row.take(0)?, row.take(1)?, row.take(2)?);
            Some(((warehouse, item), Stock { quantity, district_text: row.take(3 + self.district)? }))
        };
        Ok(rows.into_iter().filter_map(stock).collect())
    }

    /// Clause 2.4.2.2: the stock falls by what is ordered, and is filled up before it would fall below 10.
    fn update_stock(&self, session: &mut Session, line: &Line, stock: &mut Stock) -> Outcome<()> {
        stock.quantity -= line.quantity;
        if stock.quantity < 10 {
            stock.quantity += 91;
        }
        let is_remote = i32::from(line.supply != self.warehouse);
        session.execute(UPDATE_STOCK, (stock.quantity, line.quantity, is_remote, line.supply, line.item))
    }

    fn line_row(&self, order: i64, number: i64, line: &Line, price: i64, text: &str) -> [Value; 9] {
        [
            order.into(),
            self.district.into(),
            self.warehouse.into(),
            number.into(),
            line.item.into(),
            line.supply.into(),
            line.quantity.into(),
            decimal(price * line.quantity).into(),
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
fn select_prices(
    session: &mut Session,
    mut prices: BTreeMap<usize, Option<i64>>,
) -> Outcome<Option<BTreeMap<usize, i64>>> {
    let params = prices.keys().map(|&item| Value::from(item)).collect();
    let rows: Vec<(usize, String, Value, Value)> =
        session.rows_many(SELECT_ITEMS, prices.len(), Params::Positional(params))?;
    for (item, price, ..) in rows {
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
