//! Mutations that keep a text looking like SQL: tokens are replaced, moved, repeated and wrapped.

use base::prng::Prng;

/// Words and phrases that a mutation puts in.
const FRAGMENTS: &str = include_str!("../dictionaries/sql_fragments.txt");

/// What may surround tokens.
const WRAPS: [(&[u8], &[u8]); 14] = [
    (b"(", b")"),
    (b"(SELECT ", b")"),
    (b"(SELECT ", b" FROM t)"),
    (b"(SELECT ", b" FROM u WHERE u.a = t.a)"),
    (b"IF(a, ", b", NULL)"),
    (b"COALESCE(NULL, ", b")"),
    (b"CONCAT(", b", c)"),
    (b"CAST(", b" AS SIGNED)"),
    (b"CAST(", b" AS CHAR(3))"),
    (b"CASE WHEN ", b" THEN b ELSE 'x' END"),
    (b"-(", b")"),
    (b"NOT (", b")"),
    (b"SUM(", b")"),
    (b"SELECT * FROM (SELECT ", b") AS q"),
];

/// Numbers at limits.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "127",
    "255",
    "65536",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "-1e-320",
    "0.000000001",
    "99999999999999999999999999999999999999999999999999999999999999999",
];

/// Changes the text in `buffer[..len]`, which may become as long as `buffer`; its new length.
pub fn mutate(buffer: &mut [u8], len: usize, seed: u32) -> usize {
    let mut prng = Prng::new(u64::from(seed));
    let text = buffer[..len].to_vec();
    let mut tokens = tokens(&text);
    for _ in 0..=prng.below(3) {
        change(&mut tokens, &mut prng);
    }
    let mut changed = tokens.concat();
    changed.truncate(buffer.len());
    buffer[..changed.len()].copy_from_slice(&changed);
    changed.len()
}

fn change(tokens: &mut Vec<Vec<u8>>, prng: &mut Prng) {
    let at = pick(prng, tokens.len() + 1);
    let until = (at + 1 + pick(prng, 6)).min(tokens.len());
    let (from, to) = (at.min(until), until);
    match prng.below(8) {
        0 if at < tokens.len() => tokens[at] = fragment(prng),
        1 if at < tokens.len() => tokens[at] = NUMBERS[pick(prng, NUMBERS.len())].into(),
        2 => {
            tokens.drain(from..to);
        }
        3 => {
            let copy = tokens[from..to].to_vec();
            let place = pick(prng, tokens.len() + 1);
            tokens.splice(place..place, copy);
        }
        4 if at < tokens.len() => {
            let other = pick(prng, tokens.len());
            tokens.swap(at, other);
        }
        5 | 6 => {
            let (before, after) = WRAPS[pick(prng, WRAPS.len())];
            tokens.insert(to, after.to_vec());
            tokens.insert(from, before.to_vec());
        }
        _ => tokens.splice(at..at, [b" ".to_vec(), fragment(prng), b" ".to_vec()]).for_each(drop),
    }
}

fn pick(prng: &mut Prng, n: usize) -> usize {
    prng.below(n.max(1) as u64) as usize
}

fn fragment(prng: &mut Prng) -> Vec<u8> {
    let lines = FRAGMENTS.lines().count();
    FRAGMENTS.lines().nth(pick(prng, lines)).unwrap_or_default().into()
}

/// Words, quoted strings, blanks, and all else byte by byte.
fn tokens(text: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | 0x80..);
        let len = match first {
            b'\'' | b'"' | b'`' => rest[1..].iter().position(|&b| b == first).map_or(1, |end| end + 2),
            _ if is_word(&first) => rest.iter().take_while(|byte| is_word(byte)).count(),
            _ => 1,
        };
        let (token, after) = rest.split_at(len);
        tokens.push(token.to_vec());
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_add_up_to_their_text() {
        let text = b"SELECT `a b`, 'x''y' FROM t WHERE @v>=1.5 -- \xff'";
        assert_eq!(tokens(text).concat(), text);
        assert!(tokens(text).contains(&b"`a b`".to_vec()));
    }

    #[test]
    fn a_mutation_stays_within_its_buffer_and_depends_on_its_seed_alone() {
        for seed in 0..2000 {
            let run = || {
                let mut buffer = [0; 40];
                buffer[..19].copy_from_slice(b"SELECT a, b FROM t;");
                let len = mutate(&mut buffer, 19, seed);
                buffer[..len].to_vec()
            };
            assert_eq!(run(), run());
        }
    }
}
