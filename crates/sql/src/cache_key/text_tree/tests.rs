use base::prng::Prng;

use super::*;
use crate::mode::LexMode;

const TEXTS: [&str; 16] = [
    "SELECT c FROM sbtest1 WHERE id=5",
    "SELECT c FROM sbtest2 WHERE id=17",
    "SELECT c FROM sbtest1 WHERE id BETWEEN 7 AND 107",
    "SELECT c FROM sbtest1 WHERE id BETWEEN 7 AND 107 ORDER BY c",
    "SELECT 1",
    "SELECT a, 'x' FROM t WHERE b = 'it' AND c IN (1, 2, 3) LIMIT 10",
    "UPDATE t SET a=a+1, b='x y' WHERE id=-3 -- 5",
    "INSERT INTO t (a, b) VALUES (1, 'a'), (22, 'bb')",
    "INSERT INTO t (a, b) VALUES (1,'a') ON DUPLICATE KEY UPDATE a=5",
    "DELETE FROM t1 WHERE a='1' 'b' AND c = \"q\"",
    "DELETE FROM t1 WHERE a='it''s' OR b = 'a\\'b'",
    "SELECT CAST(a AS CHAR(5)), NOW(3) FROM t WHERE DATE '2020-01-01' < d AND x = 0x41 AND y=1.5",
    "SELECT a FROM t WHERE a=5 /* 5 'x' */ AND b=6",
    "SELECT `a5` FROM t5 WHERE t5.a5=5 AND @'v'=_latin1'x' AND n=N'y'",
    "REPLACE INTO t VALUES (5,6) ; ",
    "SELECT a FROM t WHERE a = 5e3 OR a=.5 OR b=5.",
];

fn read(sql: &[u8]) -> Option<CacheKey> {
    let mut key = CacheKey::new();
    let whole = key.read(sql, 0, LexMode::default()) && sql[key.end()..].iter().all(u8::is_ascii_whitespace);
    whole.then_some(key)
}

/// `sql` with some bytes changed, repeated, or left out.
fn changed(sql: &[u8], prng: &mut Prng) -> Vec<u8> {
    const BYTES: &[u8] = b"0159 'x.\"\\-e,()/*=`@_N;";
    let mut text = sql.to_vec();
    for _ in 0..=prng.below(3) {
        let at = prng.below(text.len() as u64) as usize;
        let byte = BYTES[prng.below(BYTES.len() as u64) as usize];
        match prng.below(4) {
            0 => text[at] = byte,
            1 => text.insert(at, byte),
            2 if text.len() > 1 => drop(text.remove(at)),
            _ => text.insert(at, text[at]),
        }
    }
    text
}

#[test]
fn texts_that_differ_in_literals_are_found() {
    let mut tree = TextTree::default();
    for (i, sql) in TEXTS.iter().enumerate() {
        tree.insert(sql.as_bytes(), &read(sql.as_bytes()).unwrap(), i);
    }
    let find = |sql: &str| {
        let mut key = CacheKey::new();
        let found = tree.find(sql.as_bytes(), &mut key).copied();
        found.map(|found| (found, key.literals().iter().map(|l| l.text(sql.as_bytes()).to_vec()).collect()))
    };
    let list = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    assert_eq!(find("SELECT c FROM sbtest2 WHERE id=123456789012"), Some((1, list(&["123456789012"]))));
    assert_eq!(find("SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 2"), Some((2, list(&["1", "2"]))));
    assert_eq!(
        find("INSERT INTO t (a, b) VALUES (9, ''), (0, 'longer')"),
        Some((7, list(&["9", "''", "0", "'longer'"])))
    );
    assert_eq!(find("SELECT 1"), Some((4, Vec::new())));
    for other in [
        "SELECT 2",
        "SELECT c FROM sbtest3 WHERE id=5",
        "SELECT c FROM sbtest1 WHERE id=",
        "SELECT c FROM sbtest1 WHERE id=5 ",
        "SELECT c FROM sbtest1 WHERE id=5.0",
        "SELECT c FROM sbtest1 WHERE id='5'",
        "INSERT INTO t (a, b) VALUES (1, 'a\\n'), (22, 'bb')",
        "",
    ] {
        assert_eq!(find(other), None, "{other}");
    }
}

#[test]
fn what_is_found_has_the_key_of_what_was_put_in() {
    let mut prng = Prng::new(7);
    let (mut found_count, mut tree) = (0, TextTree::<Vec<u8>>::default());
    for round in 0..60_000 {
        let base = TEXTS[prng.below(TEXTS.len() as u64) as usize].as_bytes();
        let sql = if round % 3 == 0 { base.to_vec() } else { changed(base, &mut prng) };
        let mut key = CacheKey::new();
        let found = tree.find(&sql, &mut key).cloned();
        let text = String::from_utf8_lossy(&sql).into_owned();
        let by_tokens = read(&sql);
        if let Some(bytes) = found {
            let whole = by_tokens.as_ref().unwrap_or_else(|| panic!("found, but has no key: {text}"));
            assert!(whole.bytes() == &bytes[..], "found, but has another key: {text}");
            assert_eq!(whole.literals(), key.literals(), "{text}");
            found_count += 1;
        } else if let Some(whole) = by_tokens {
            tree.insert(&sql, &whole, whole.bytes().to_vec());
        }
    }
    assert!(found_count > 5_000, "only {found_count} texts were found");
}

#[test]
fn the_tree_stays_small() {
    let mut tree = TextTree::default();
    for i in 0..10_000 {
        let sql = format!("SELECT a FROM table_{i} WHERE b=5");
        tree.insert(sql.as_bytes(), &read(sql.as_bytes()).unwrap(), i);
        assert_eq!(tree.find(sql.as_bytes(), &mut CacheKey::new()), Some(&i));
        assert!(tree.nodes.len() <= NODES_MAX + 8 && tree.bytes <= BYTES_MAX + TEXT_BYTES_MAX);
    }
}
