//! Filling the tables, clause 4.3.3.1: the same rows for the same seed on every server.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::progress::Progress;
use crate::target::Address;
use crate::tpcc::random::{Generator, last_name};
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::schema;

/// Connections that insert at once.
const CONNECTIONS: usize = 4;
/// Bytes of text from which on an INSERT statement is sent.
const STATEMENT_BYTES: usize = 256 << 10;
/// The moment of the load, in the tables.
const LOADED: &str = "'2026-01-01 00:00:00'";

type Outcome = Result<(), mysql::Error>;

/// A part of the rows that one connection inserts.
#[derive(Clone, Copy)]
enum Part {
    Items,
    /// A warehouse, its districts, its stock.
    Warehouse(usize),
    /// Customers and orders of a district of a warehouse.
    District(usize, usize),
}

/// Makes the database again and fills it.
pub fn load(server: &Address, database: &str, scale: &Scale, seed: u64) -> Outcome {
    let mut connection = server.connect()?;
    connection.query_drop(format!("DROP DATABASE IF EXISTS {database}"))?;
    connection.query_drop(format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"))?;
    connection.query_drop(format!("USE {database}"))?;
    for table in schema::TABLES {
        connection.query_drop(format!("{table} ENGINE = InnoDB"))?;
    }
    let parts = parts(scale);
    let (next, progress) = (AtomicUsize::new(0), Mutex::new(Progress::new("parts", None)));
    with(&progress, |progress| progress.expect(parts.len()));
    let insert = || -> Outcome {
        let mut connection = server.connect()?;
        connection.query_drop(format!("USE {database}"))?;
        while let Some(&part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            with(&progress, |progress| progress.tell("loading"));
            load_part(&mut connection, part, scale, seed)?;
            with(&progress, Progress::step);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(insert)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
    })
    .and_then(|()| {
        for index in schema::INDEXES {
            connection.query_drop(index)?;
        }
        connection.query_drop(schema::ANALYZE)
    })
    .inspect(|()| with(&progress, |progress| progress.finish()))
}

fn with(progress: &Mutex<Progress>, act: impl FnOnce(&mut Progress)) {
    act(&mut progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
}

fn parts(scale: &Scale) -> Vec<Part> {
    let warehouses = || 1..=scale.warehouses;
    let districts = warehouses().flat_map(|w| (1..=DISTRICTS).map(move |d| Part::District(w, d)));
    std::iter::once(Part::Items).chain(warehouses().map(Part::Warehouse)).chain(districts).collect()
}

fn load_part(connection: &mut Conn, part: Part, scale: &Scale, seed: u64) -> Outcome {
    let of_part = match part {
        Part::Items => 0,
        Part::Warehouse(w) => w * (DISTRICTS + 1),
        Part::District(w, d) => w * (DISTRICTS + 1) + d,
    };
    let mut generator = Generator::of_load(seed.wrapping_mul(1_000_003).wrapping_add(of_part as u64));
    match part {
        Part::Items => load_items(connection, scale, &mut generator),
        Part::Warehouse(w) => load_warehouse(connection, w, scale, &mut generator),
        Part::District(w, d) => {
            load_customers(connection, (w, d), scale, &mut generator)?;
            load_orders(connection, (w, d), scale, &mut generator)
        }
    }
}

fn load_items(connection: &mut Conn, scale: &Scale, generator: &mut Generator) -> Outcome {
    let mut items = Rows::into("item");
    for item in 1..=scale.items {
        let (image, name) = (generator.uniform(1, 10_000), generator.text(14, 24));
        let (price, data) = (cents(generator.uniform(100, 10_000)), generator.data());
        items.add(format_args!("{item},{image},'{name}',{price},'{data}'"), connection)?;
    }
    items.flush(connection)
}

fn load_warehouse(connection: &mut Conn, w: usize, scale: &Scale, generator: &mut Generator) -> Outcome {
    let (name, address, tax) =
        (generator.text(6, 10), address(generator), tenthousandths(generator.uniform(0, 2000)));
    let received = scale.customers * 10;
    let mut warehouses = Rows::into("warehouse");
    warehouses.add(format_args!("{w},'{name}',{address},{tax},{}", received * DISTRICTS), connection)?;
    warehouses.flush(connection)?;
    let mut districts = Rows::into("district");
    for d in 1..=DISTRICTS {
        let (name, address) = (generator.text(6, 10), self::address(generator));
        let (tax, next) = (tenthousandths(generator.uniform(0, 2000)), scale.customers + 1);
        districts.add(format_args!("{d},{w},'{name}',{address},{tax},{received},{next}"), connection)?;
    }
    districts.flush(connection)?;
    let mut stock = Rows::into("stock");
    for item in 1..=scale.items {
        let quantity = generator.uniform(10, 100);
        let of_districts: Vec<String> =
            (0..DISTRICTS).map(|_| format!("'{}'", generator.text(24, 24))).collect();
        let (of_districts, data) = (of_districts.join(","), generator.data());
        stock.add(format_args!("{item},{w},{quantity},{of_districts},0,0,0,'{data}'"), connection)?;
    }
    stock.flush(connection)
}

fn load_customers(
    connection: &mut Conn,
    (w, d): (usize, usize),
    scale: &Scale,
    generator: &mut Generator,
) -> Outcome {
    let (mut customers, mut history) = (Rows::into("customer"), Rows::into("history"));
    for c in 1..=scale.customers {
        let last = if c <= scale.last_names() { last_name(c - 1) } else { generator.last_name(scale) };
        let (first, address, phone) = (generator.text(8, 16), address(generator), generator.digits(16));
        let credit = if generator.percent(10) { "BC" } else { "GC" };
        let (discount, data) = (tenthousandths(generator.uniform(0, 5000)), generator.text(300, 500));
        customers.add(
            format_args!(
                "{c},{d},{w},'{first}','OE','{last}',{address},'{phone}',{LOADED},'{credit}',50000,{discount},\
                 -10,10,1,0,'{data}'"
            ),
            connection,
        )?;
        let data = generator.text(12, 24);
        history.add(format_args!("{c},{d},{w},{d},{w},{LOADED},10,'{data}'"), connection)?;
    }
    customers.flush(connection)?;
    history.flush(connection)
}

fn load_orders(
    connection: &mut Conn,
    (w, d): (usize, usize),
    scale: &Scale,
    generator: &mut Generator,
) -> Outcome {
    let mut customers: Vec<usize> = (1..=scale.customers).collect();
    generator.shuffle(&mut customers);
    let (mut orders, mut lines, mut new_orders) =
        (Rows::into("orders"), Rows::into("order_line"), Rows::into("new_order"));
    for (o, customer) in (1..).zip(customers) {
        let is_delivered = o <= scale.delivered();
        let carrier = if is_delivered { generator.uniform(1, 10).to_string() } else { "NULL".to_owned() };
        let count = generator.uniform(5, 15);
        orders.add(format_args!("{o},{d},{w},{customer},{LOADED},{carrier},{count},1"), connection)?;
        for number in 1..=count {
            let item = generator.uniform(1, scale.items);
            let (delivered, amount) =
                if is_delivered { (LOADED, 0) } else { ("NULL", generator.uniform(1, 999_999)) };
            let (amount, text) = (cents(amount), generator.text(24, 24));
            lines.add(
                format_args!("{o},{d},{w},{number},{item},{w},{delivered},5,{amount},'{text}'"),
                connection,
            )?;
        }
        if !is_delivered {
            new_orders.add(format_args!("{o},{d},{w}"), connection)?;
        }
    }
    orders.flush(connection)?;
    lines.flush(connection)?;
    new_orders.flush(connection)
}

/// Streets, city, state and zip code.
fn address(generator: &mut Generator) -> String {
    let [street_1, street_2, city] = [(); 3].map(|()| generator.text(10, 20));
    let (state, zip) = (generator.text(2, 2), generator.zip());
    format!("'{street_1}','{street_2}','{city}','{state}','{zip}'")
}

fn cents(amount: usize) -> String {
    format!("{}.{:02}", amount / 100, amount % 100)
}

/// For rates below 1.
fn tenthousandths(rate: usize) -> String {
    format!("0.{rate:04}")
}

/// Rows on their way into a table.
struct Rows {
    text: String,
    head_bytes: usize,
}

impl Rows {
    fn into(table: &str) -> Rows {
        let text = format!("INSERT INTO {table} VALUES ");
        Rows { head_bytes: text.len(), text }
    }

    fn add(&mut self, row: std::fmt::Arguments<'_>, connection: &mut Conn) -> Outcome {
        let comma = if self.text.len() > self.head_bytes { "," } else { "" };
        // Writing to a string does not fail.
        let _ = write!(self.text, "{comma}({row})");
        if self.text.len() >= STATEMENT_BYTES { self.flush(connection) } else { Ok(()) }
    }

    fn flush(&mut self, connection: &mut Conn) -> Outcome {
        if self.text.len() > self.head_bytes {
            connection.query_drop(&self.text)?;
        }
        self.text.truncate(self.head_bytes);
        Ok(())
    }
}
