//! The choices that a generator makes.

use base::prng::Prng;

/// Marks the start of a literal that may be sent as a parameter.
const LITERAL_START: char = '\u{1}';
/// Marks its end.
const LITERAL_END: char = '\u{2}';

/// A seeded source of choices.
pub struct Dice(Prng);

impl Dice {
    /// The choices that belong to `seed`.
    pub fn new(seed: u64) -> Self {
        Dice(Prng::new(seed))
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.below(bound as u64)).expect("below a usize")
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which is not empty.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// Marks `literal`, an integer or a quoted string, as one that may be sent as a parameter.
pub fn parameter(literal: &str) -> String {
    format!("{LITERAL_START}{literal}{LITERAL_END}")
}

/// The statement as text, its literals in place.
pub fn as_text(sql: &str) -> String {
    sql.chars().filter(|&c| c != LITERAL_START && c != LITERAL_END).collect()
}

/// The statement with `?` for each marked literal, and the values in their order.
pub(crate) fn as_prepared(sql: &str) -> (String, Vec<mysql::Value>) {
    let mut text = String::with_capacity(sql.len());
    let mut values = Vec::new();
    for (number, piece) in sql.split(LITERAL_START).enumerate() {
        match piece.split_once(LITERAL_END) {
            Some((literal, rest)) if number > 0 => {
                text.push('?');
                text.push_str(rest);
                values.push(value(literal));
            }
            _ => text.push_str(piece),
        }
    }
    (text, values)
}

fn value(literal: &str) -> mysql::Value {
    match literal.parse::<i64>() {
        Ok(number) => mysql::Value::Int(number),
        Err(_) if literal == "NULL" => mysql::Value::NULL,
        Err(_) => mysql::Value::Bytes(literal.trim_matches('\'').as_bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_literals_become_parameters() {
        let sql = format!("SELECT {} FROM t WHERE a = {}", parameter("-3"), parameter("'x'"));
        assert_eq!(as_text(&sql), "SELECT -3 FROM t WHERE a = 'x'");
        let (text, values) = as_prepared(&sql);
        assert_eq!(text, "SELECT ? FROM t WHERE a = ?");
        assert_eq!(values, [mysql::Value::Int(-3), mysql::Value::Bytes(b"x".to_vec())]);
    }
}
