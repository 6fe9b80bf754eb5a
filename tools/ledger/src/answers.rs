//! What the server answered: a build that counts less must not answer otherwise.

use std::fmt;

/// The 64-bit FNV-1a hash's first value and factor.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_FACTOR: u64 = 0x0000_0100_0000_01b3;

/// The answers to some statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answers {
    rows: u64,
    /// Rows that were changed, by the server's own count.
    affected: u64,
    /// FNV-1a hash of the rows as they were sent, in their order.
    hash: u64,
}

impl Default for Answers {
    fn default() -> Self {
        Answers { rows: 0, affected: 0, hash: FNV_START }
    }
}

impl Answers {
    /// Adds a row as a packet has it.
    pub(crate) fn add_row(&mut self, packet: &[u8]) {
        self.rows += 1;
        let bytes = (packet.len() as u32).to_le_bytes();
        for byte in bytes.iter().chain(packet) {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(FNV_FACTOR);
        }
    }

    /// Adds an OK packet.
    pub(crate) fn add_ok(&mut self, packet: &[u8]) {
        let number =
            |bytes: usize| packet.iter().skip(2).take(bytes).rev().fold(0, |n, b| n << 8 | u64::from(*b));
        self.affected += match packet.get(1) {
            Some(0xfc) => number(2),
            Some(0xfd) => number(3),
            Some(0xfe) => number(8),
            first => first.map_or(0, |n| u64::from(*n)),
        };
    }

    /// Those of another client, which sent no rows.
    pub(crate) fn add_changes(&mut self, other: &Answers) {
        self.affected += other.affected;
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answers { rows, affected, hash } = self;
        write!(f, "{rows} rows, {affected} affected, {hash:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_rows(rows: &[&[u8]]) -> Answers {
        let mut answers = Answers::default();
        for row in rows {
            answers.add_row(row);
        }
        answers
    }

    #[test]
    fn order_ends_and_contents_of_rows_count() {
        let answers = of_rows(&[b"ab", b"c"]);
        assert_eq!(answers, of_rows(&[b"ab", b"c"]));
        for others in [&[&b"c"[..], b"ab"][..], &[b"a", b"bc"], &[b"ab", b"d"], &[b"abc"]] {
            assert_ne!(answers, of_rows(others), "{others:?}");
        }
    }

    #[test]
    fn affected_rows_are_those_of_ok_packets() {
        let mut answers = Answers::default();
        for packet in [&[0, 250, 0][..], &[0, 0xfc, 0x50, 0xc3, 0], &[0, 0xfd, 1, 0, 1, 0], &[0]] {
            answers.add_ok(packet);
        }
        assert_eq!(answers.affected, 250 + 50_000 + 65_537);
        let mut all = Answers::default();
        all.add_changes(&answers);
        assert_eq!(all.to_string(), "0 rows, 115787 affected, cbf29ce484222325");
    }
}
