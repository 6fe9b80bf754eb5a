//! Separators: the keys that inner pages hold between their children.

/// The shortest key that is above `left` and not above `right`: `right` cut after its first byte that
/// differs.
///
/// `left` < `right`. As all keys of the left page are at most `left` and all of the right page at least
/// `right`, it divides them, and it is on the page above as well as on both pages as a fence.
pub(crate) fn shortest<'k>(left: &[u8], right: &'k [u8]) -> &'k [u8] {
    debug_assert!(left < right, "{left:?} is not below {right:?}");
    let common = common_prefix_len(left, right);
    &right[..=common]
}

/// Bytes that both keys start with.
pub(crate) fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_separator_divides_its_neighbours() {
        for (left, right) in
            [("abc", "abd"), ("abc", "b"), ("ab", "abc"), ("", "x"), ("abcz", "abda"), ("a", "a\0")]
        {
            let separator = shortest(left.as_bytes(), right.as_bytes());
            assert!(left.as_bytes() < separator && separator <= right.as_bytes(), "{left} {right}");
        }
        assert_eq!(shortest(b"smith, anna", b"taylor"), b"t");
    }
}
