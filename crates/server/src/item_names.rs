//! Names of columns that a plan serves with other literals: `EXISTS(SELECT 1 FROM t WHERE id = 5)` names its
//! column.

use std::ops::Range;

use sql::plan::{OutputColumn, Plan, shown_name};
use sql::{CacheKey, Literal};

/// The names of a plan that have literals in them.
#[derive(Debug, Default)]
pub struct ItemNames(Box<[ItemName]>);

/// A name: pieces of text with a literal between each two.
#[derive(Debug)]
struct ItemName {
    column: usize,
    pieces: Vec<Box<[u8]>>,
    /// Places of the literals in the key's list.
    literals: Range<usize>,
}

impl ItemNames {
    /// Those of `plan`, made for the text `sql` whose key is `key`; `None` if a literal is in a name that is
    /// not found here.
    pub fn of(plan: &Plan, sql: &[u8], key: &CacheKey) -> Option<ItemNames> {
        if key.named_literals() == 0 {
            return Some(ItemNames::default());
        }
        let Plan::Query(query) = plan else { return None };
        let mut found = 0;
        let mut names = Vec::new();
        for (column, OutputColumn { text, .. }) in query.output.iter().enumerate() {
            let Some(text) = text else { continue };
            let literals = inside(key.literals(), &text.place);
            found += literals.len();
            if text.is_name && !literals.is_empty() {
                let pieces = pieces(sql, &text.place, &key.literals()[literals.clone()]);
                names.push(ItemName { column, pieces, literals });
            }
        }
        (found >= key.named_literals()).then(|| ItemNames(names.into()))
    }

    /// Whether all names are the same whatever the literals.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names with the literals of the text `sql`, each with its column.
    #[cold]
    pub fn with(&self, sql: &[u8], literals: &[Literal]) -> Vec<(usize, String)> {
        let name = |name: &ItemName| {
            let mut text = Vec::new();
            for (at, piece) in name.pieces.iter().enumerate() {
                text.extend_from_slice(piece);
                if let Some(literal) = name.literals.clone().nth(at) {
                    text.extend_from_slice(literals[literal].text(sql));
                }
            }
            (name.column, shown_name(&String::from_utf8_lossy(&text)).to_owned())
        };
        self.0.iter().map(name).collect()
    }
}

/// Which of `literals`, which are in the order of the text, are in `place`.
fn inside(literals: &[Literal], place: &Range<usize>) -> Range<usize> {
    let before = |end: usize| literals.partition_point(|literal| (literal.offset as usize) < end);
    before(place.start)..before(place.end)
}

/// The text at `place` around `literals`.
fn pieces(sql: &[u8], place: &Range<usize>, literals: &[Literal]) -> Vec<Box<[u8]>> {
    let mut start = place.start;
    let mut pieces = Vec::with_capacity(literals.len() + 1);
    for literal in literals {
        pieces.push(sql[start..literal.offset as usize].into());
        start = (literal.offset + literal.len) as usize;
    }
    pieces.push(sql[start..place.end].into());
    pieces
}
