//! Texts parsed with the tokens that their cache keys noted, against texts read again.

use base::prng::Prng;
use bumpalo::Bump;

use super::parse_numbered;
use crate::cache_key::CacheKey;
use crate::lexer::TAKEN;
use crate::mode::LexMode;

const CORPUS: [&str; 3] = [
    include_str!("../../tests/corpus/queries.sql"),
    include_str!("../../tests/corpus/writes.sql"),
    include_str!("../../tests/corpus/clients.sql"),
];

/// Parses `text` with the tokens of its key and without them.
fn compare(text: &[u8], mode: LexMode, key: &mut CacheKey, arena: &mut Bump) {
    key.read(text, 0, mode);
    let parse = |key: &CacheKey, arena: &Bump| {
        format!("{:?}", parse_numbered(text, 0, mode, arena, Some(key), usize::MAX))
    };
    let with_tokens = parse(key, arena);
    key.forget_tokens();
    assert_eq!(with_tokens, parse(key, arena), "{}", String::from_utf8_lossy(text));
    arena.reset();
}

#[test]
fn noted_tokens_are_those_that_the_parser_reads() {
    let (mut prng, mut key, mut arena) = (Prng::new(11), CacheKey::new(), Bump::new());
    let pieces = [
        "'",
        "\"",
        "`",
        "/*+ x */",
        "/*!80000 1 */",
        "/*!",
        "*/",
        "--",
        ".",
        "a.",
        "(",
        ",",
        "_latin1",
        "0x",
    ];
    let modes = [LexMode::NONE, LexMode::ANSI_QUOTES.with(LexMode::NO_BACKSLASH_ESCAPES)];
    let before = TAKEN.get();
    for text in CORPUS.iter().flat_map(|text| text.lines()).filter(|text| text.len() < 1500) {
        for mode in modes {
            compare(text.as_bytes(), mode, &mut key, &mut arena);
            for _ in 0..10 {
                let mut mutant = text.as_bytes().to_vec();
                let at = prng.below(mutant.len() as u64 + 1) as usize;
                let piece = pieces[prng.below(pieces.len() as u64) as usize];
                mutant.splice(at..at, piece.bytes());
                compare(&mutant, mode, &mut key, &mut arena);
            }
        }
    }
    assert!(TAKEN.get() > before + 20_000, "only {} tokens", TAKEN.get() - before);
}
