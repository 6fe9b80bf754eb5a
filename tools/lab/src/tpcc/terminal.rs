//! A terminal: one connection that runs one transaction after another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::tpcc::delivery::Delivery;
use crate::tpcc::dialect::Dialect;
use crate::tpcc::mix::{Deck, Kind};
use crate::tpcc::new_order::NewOrder;
use crate::tpcc::order_status::OrderStatus;
use crate::tpcc::payment::Payment;
use crate::tpcc::random::Generator;
use crate::tpcc::scale::{DISTRICTS, Scale};
use crate::tpcc::session::{Failure, Outcome, Retry, Session};
use crate::tpcc::stock_level::StockLevel;

/// MariaDB's way of ending transactions that lock rows newer than their snapshot; other servers do not have
/// it.
const SAME_ISOLATION: &str = "SET SESSION innodb_snapshot_isolation = OFF";

/// A transaction that was retried so often does not end.
const TRIES_MAX: usize = 1000;

/// The input of a transaction, kept for further tries.
enum Transaction {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl Transaction {
    /// Returns whether it was committed.
    async fn run(&self, session: &mut Session, dialect: Dialect) -> Outcome<bool> {
        match self {
            Transaction::NewOrder(input) => return input.run(session, dialect).await,
            Transaction::Payment(input) => input.run(session).await?,
            Transaction::OrderStatus(input) => input.run(session).await?,
            Transaction::Delivery(input) => input.run(session, dialect).await?,
            Transaction::StockLevel(input) => input.run(session, dialect).await?,
        }
        Ok(true)
    }
}

/// What a terminal's transactions of one kind came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Response times of those that ended while it was measured, microseconds, retries included.
    pub(super) times_us: Vec<u32>,
    /// Of these, rolled back as their input required.
    pub(super) rolled_back: u64,
    /// Tries that ended with a deadlock, and with a lock wait timeout.
    pub(super) deadlocks: u64,
    pub(super) timeouts: u64,
}

/// When to begin and end.
pub(super) struct Schedule<'a> {
    /// What ends before this moment does not count.
    pub(super) from: Instant,
    /// Nothing begins after this moment, and what ends after it does not count.
    pub(super) until: Instant,
    /// Set by Ctrl-C.
    pub(super) interrupted: &'a AtomicBool,
    /// Set by a terminal that failed.
    pub(super) failed: &'a AtomicBool,
}

impl Schedule<'_> {
    fn is_over(&self, now: Instant) -> bool {
        now >= self.until || self.interrupted.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }
}

/// A terminal.
pub(super) struct Terminal {
    session: Session,
    generator: Generator,
    deck: Deck,
    scale: Scale,
    dialect: Dialect,
    /// Home warehouse; None: another one for each transaction.
    home: Option<usize>,
    /// Of Stock-Level, clause 2.8.1.1.
    district: usize,
    tallies: [Tally; 5],
}

impl Terminal {
    /// Terminal `number`, from 0, of a run with this seed.
    pub(super) fn new(
        number: usize,
        session: Session,
        (scale, dialect, is_bound): (Scale, Dialect, bool),
        seed: u64,
    ) -> Terminal {
        let mut generator =
            Generator::of_run(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number as u64) ^ 0x7063_6374);
        // Neighbouring seeds give unlike first numbers only after the generator has mixed them.
        let _ = generator.uniform(0, 1);
        Terminal {
            session,
            generator,
            deck: Deck::new(),
            scale,
            dialect,
            home: is_bound.then_some(number % scale.warehouses + 1),
            district: number / scale.warehouses % DISTRICTS + 1,
            tallies: Default::default(),
        }
    }

    /// Runs transactions as scheduled; returns a tally per kind in the order of [`Kind::ALL`].
    pub(super) async fn work(mut self, schedule: &Schedule<'_>) -> Outcome<[Tally; 5]> {
        match self.session.plain(SAME_ISOLATION).await {
            Ok(()) | Err(Failure::Server { .. }) => {}
            Err(failure) => return Err(failure),
        }
        loop {
            let begin = Instant::now();
            if schedule.is_over(begin) {
                return Ok(self.tallies);
            }
            let kind = self.deck.deal(&mut self.generator);
            let transaction = self.draw(kind);
            let is_committed = self.run_to_end(kind, &transaction).await?;
            let end = Instant::now();
            if (schedule.from..schedule.until).contains(&end) {
                let tally = &mut self.tallies[kind as usize];
                tally.rolled_back += u64::from(!is_committed);
                let time = end.duration_since(begin).as_micros();
                tally.times_us.push(u32::try_from(time).unwrap_or(u32::MAX));
            } else if end < schedule.from {
                let tally = &mut self.tallies[kind as usize];
                (tally.deadlocks, tally.timeouts) = (0, 0);
            }
        }
    }

    fn draw(&mut self, kind: Kind) -> Transaction {
        let (scale, generator) = (&self.scale, &mut self.generator);
        let warehouse = self.home.unwrap_or_else(|| generator.uniform(1, scale.warehouses));
        match kind {
            Kind::NewOrder => Transaction::NewOrder(NewOrder::draw(warehouse, scale, generator)),
            Kind::Payment => Transaction::Payment(Payment::draw(warehouse, scale, generator)),
            Kind::OrderStatus => Transaction::OrderStatus(OrderStatus::draw(warehouse, scale, generator)),
            Kind::Delivery => Transaction::Delivery(Delivery::draw(warehouse, generator)),
            Kind::StockLevel => {
                Transaction::StockLevel(StockLevel::draw(warehouse, self.district, generator))
            }
        }
    }

    /// Tries the transaction until it ends by itself; returns whether it was committed.
    async fn run_to_end(&mut self, kind: Kind, transaction: &Transaction) -> Outcome<bool> {
        for _ in 1..TRIES_MAX {
            let failure = match transaction.run(&mut self.session, self.dialect).await {
                Ok(is_committed) => return Ok(is_committed),
                Err(failure) => failure,
            };
            let tally = &mut self.tallies[kind as usize];
            match failure.retry() {
                Some(Retry::Deadlock) => tally.deadlocks += 1,
                Some(Retry::LockWaitTimeout) => tally.timeouts += 1,
                None => return Err(failure),
            }
            self.session.plain("ROLLBACK").await?;
            // The transaction that was in the way needs time to end.
            let time = Duration::from_micros(self.generator.uniform(0, 1000) as u64);
            self.session.pause(time).await;
        }
        transaction.run(&mut self.session, self.dialect).await
    }
}

/// A terminal's failure in words.
pub(super) fn in_words(failure: &Failure) -> String {
    format!("a terminal failed: {failure}")
}
