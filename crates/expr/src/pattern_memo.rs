//! Compiled LIKE patterns that are known only when a statement runs, such as parameters: compiled once, not
//! for each row.

use std::cell::RefCell;

use types::CollationId;
use types::collation::LikePattern;

use crate::functions::known_collation as collation_of;

/// Patterns that are kept at once; the oldest makes room. A statement has few.
const PATTERNS_MAX: usize = 4;
/// Longest pattern that is kept, bytes: a longer one is compiled for each row.
const PATTERN_BYTES_MAX: usize = 1024;

/// The patterns that a statement has met last. Memory: at most some 100 KiB, which is not charged.
#[derive(Debug, Default)]
pub struct PatternMemo {
    known: RefCell<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    text: Box<[u8]>,
    escape: Option<char>,
    collation: CollationId,
    pattern: LikePattern,
}

impl PatternMemo {
    /// Whether `text` is like `pattern`, as [`LikePattern`] decides it. Cost of a known pattern: a comparison
    /// with it.
    pub(crate) fn matches(
        &self,
        text: &[u8],
        pattern: &[u8],
        escape: Option<char>,
        collation: CollationId,
    ) -> bool {
        let compile = || LikePattern::new(pattern, escape.map(u32::from), collation_of(collation));
        if pattern.len() > PATTERN_BYTES_MAX {
            return compile().matches(text);
        }
        let mut known = self.known.borrow_mut();
        let is_known = |k: &Known| *k.text == *pattern && k.escape == escape && k.collation == collation;
        if let Some(known) = known.iter().find(|k| is_known(k)) {
            return known.pattern.matches(text);
        }
        if known.len() == PATTERNS_MAX {
            known.remove(0);
        }
        known.push(Known { text: pattern.into(), escape, collation, pattern: compile() });
        known.last().is_some_and(|known| known.pattern.matches(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_patterns_decide_as_new_ones() {
        let memo = PatternMemo::default();
        let patterns = ["a%", "A%", "_b", "a|%", "%", "", "ab%", "b_"];
        let collations = [CollationId::UTF8MB4_0900_AI_CI, CollationId::UTF8MB4_BIN];
        for _ in 0..3 {
            for (pattern, collation) in patterns.iter().flat_map(|p| collations.map(|c| (p, c))) {
                for (escape, text) in
                    [None, Some('|')].into_iter().flat_map(|e| ["ab", "Ab", "a%", "", "b"].map(|t| (e, t)))
                {
                    let new =
                        LikePattern::new(pattern.as_bytes(), escape.map(u32::from), collation_of(collation));
                    let kept = memo.matches(text.as_bytes(), pattern.as_bytes(), escape, collation);
                    assert_eq!(kept, new.matches(text.as_bytes()), "{text} LIKE {pattern} ESCAPE {escape:?}");
                }
            }
        }
        assert!(memo.known.borrow().len() <= PATTERNS_MAX);
    }
}
