//! LIKE as SHOW and the patterns of hosts and databases use it.

use types::CollationId;
use types::collation::LikePattern;

/// Whether `text` matches `pattern` without regard to case: `%` stands for any characters, `_` for one, a
/// backslash makes either ordinary.
pub(crate) fn like(pattern: &str, text: &str) -> bool {
    let folded = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
    like_exact(&folded(pattern), &folded(text))
}

/// As [`like`], but letters of another case are others.
pub(crate) fn like_exact(pattern: &str, text: &str) -> bool {
    let escape = Some(u32::from('\\'));
    let matches = |binary| LikePattern::new(pattern.as_bytes(), escape, binary).matches(text.as_bytes());
    CollationId::UTF8MB4_BIN.collation().is_some_and(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_and_escapes_do_not() {
        assert!(
            like("%", "")
                && like("a%c", "abbc")
                && like("1_.%", "10.0.0.1")
                && like("LOCALHOST", "localhost")
        );
        assert!(!like("a%c", "abb") && !like("_", "") && !like("", "x"));
        assert!(like("wait\\_timeout", "wait_timeout") && !like("wait\\_timeout", "wait-timeout"));
        assert!(like("%a%b", "xaxaxb") && !like("%a%b", "xbxa"));
        assert!(like("Ä_\\\\", "äß\\") && !like("a", "ä") && like("a\\", "a\\"));
        assert!(like_exact("a_C%", "abC") && !like_exact("a_C%", "abc"));
    }
}
