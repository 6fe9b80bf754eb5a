//! Which transaction a terminal runs next.

use serde::{Deserialize, Serialize};

use crate::tpcc::random::Generator;

/// The five transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Clause 2.4.
    NewOrder,
    /// Clause 2.5.
    Payment,
    /// Clause 2.6.
    OrderStatus,
    /// Clause 2.7.
    Delivery,
    /// Clause 2.8.
    StockLevel,
}

impl Kind {
    /// All, in the specification's order.
    pub const ALL: [Kind; 5] =
        [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    /// As the specification writes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "New-Order",
            Kind::Payment => "Payment",
            Kind::OrderStatus => "Order-Status",
            Kind::Delivery => "Delivery",
            Kind::StockLevel => "Stock-Level",
        }
    }

    /// How many of a hundred transactions, clause 5.2.3.
    fn cards(self) -> usize {
        match self {
            Kind::NewOrder => 45,
            Kind::Payment => 43,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 4,
        }
    }
}

/// A deck of a hundred cards, shuffled when it has been dealt (clause 5.2.4.2): every hundred transactions of
/// a terminal have the exact shares.
#[derive(Debug)]
pub(super) struct Deck {
    cards: Vec<Kind>,
    dealt: usize,
}

impl Deck {
    pub(super) fn new() -> Deck {
        let cards: Vec<Kind> =
            Kind::ALL.iter().flat_map(|&kind| std::iter::repeat_n(kind, kind.cards())).collect();
        Deck { dealt: cards.len(), cards }
    }

    pub(super) fn deal(&mut self, generator: &mut Generator) -> Kind {
        if self.dealt == self.cards.len() {
            generator.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.cards[self.dealt - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hundred_cards_have_the_exact_shares_in_another_order() {
        let (mut deck, mut generator) = (Deck::new(), Generator::of_run(1));
        let mut hundred = || -> Vec<Kind> { (0..100).map(|_| deck.deal(&mut generator)).collect() };
        let (first, second) = (hundred(), hundred());
        for cards in [&first, &second] {
            let shares = Kind::ALL.map(|kind| cards.iter().filter(|&&card| card == kind).count());
            assert_eq!(shares, [45, 43, 4, 4, 4]);
        }
        assert_ne!(first, second);
    }
}
