//! LIKE as SHOW and the patterns of hosts and databases use it.

/// Whether `text` matches `pattern` without regard to case: `%` stands for any characters, `_` for one, a
/// backslash makes either ordinary.
pub(crate) fn like(pattern: &str, text: &str) -> bool {
    let folded = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    matches(&folded(pattern), &folded(text))
}

/// As [`like`], but letters of another case are others.
pub(crate) fn like_exact(pattern: &str, text: &str) -> bool {
    matches(&pattern.chars().collect::<Vec<char>>(), &text.chars().collect::<Vec<char>>())
}

fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let (wanted, width) = match (pattern.get(p), pattern.get(p + 1)) {
            (Some('\\'), Some(&escaped)) => (Some(escaped), 2),
            (Some('%'), _) => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            (Some('_'), _) => (Some(text[t]), 1),
            (one, _) => (one.copied(), 1),
        };
        if wanted == Some(text[t]) {
            (p, t) = (p + width, t + 1);
        } else if let Some((after, from)) = retry {
            (p, t) = (after, from + 1);
            retry = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '%')
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
    }
}
