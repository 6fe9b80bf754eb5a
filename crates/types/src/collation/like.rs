//! LIKE: `%` stands for any characters, `_` for one, all else for a character of the same weight.
//!
//! Characters are compared one by one, as SQL wants it: trailing spaces count, and `ss` is not like sharp s.

use memchr::memmem::Finder;

use super::registry::Weights;
use super::work::Work;
use super::{Charset, Collation, general_ci, letter_case, uca900, utf8};

/// A compiled pattern, for any number of strings.
#[derive(Debug)]
pub struct LikePattern {
    form: Form,
    /// What a text may start with, byte by byte, to be like a pattern of characters and one `%` at the end.
    start: Option<Box<[u8]>>,
    /// See [`LikePattern::start_codes`].
    start_codes: Option<Vec<u8>>,
    collation: &'static Collation,
}

#[derive(Debug)]
enum Form {
    /// No `_`, and bytes weigh what they are: the pieces between the `%`.
    Bytes(Box<Pieces<BytePiece>>),
    /// The general case.
    Characters(Pieces<TokenPiece>),
}

/// A pattern cut at each run of `%`.
#[derive(Debug)]
struct Pieces<P> {
    /// What the string starts with.
    first: P,
    /// What follows the first `%`; `None` when there is none, and the string is all of `first`.
    rest: Option<AfterFirst<P>>,
}

#[derive(Debug)]
struct AfterFirst<P> {
    /// Found one after the other, leftmost first.
    middle: Vec<P>,
    /// What the string ends in.
    last: P,
}

#[derive(Debug)]
struct BytePiece {
    bytes: Box<[u8]>,
    finder: Finder<'static>,
}

#[derive(Debug)]
struct TokenPiece {
    tokens: Box<[Token]>,
    /// ASCII characters that the first token stands for.
    starts: Starts,
}

/// Where a piece may begin in ASCII text.
#[derive(Clone, Copy, Debug)]
enum Starts {
    /// At each character.
    Anywhere,
    /// At these two, which may be one.
    At(u8, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// Any one character.
    One,
    /// Characters of this weight class.
    Class(u64),
}

/// An item of a pattern before it is cut.
#[derive(Clone, Copy)]
enum Item {
    Many,
    One,
    Literal(u32),
}

impl LikePattern {
    /// Compiles `pattern`, valid text of the collation's character set. `escape` makes the next character
    /// stand for itself (a code point, or a byte in single-byte sets); `None`: there is no such character.
    pub fn new(pattern: &[u8], escape: Option<u32>, collation: &'static Collation) -> Self {
        let items = parse(pattern, escape, collation.charset);
        let plain = collation.is_binary() && !items.iter().any(|i| matches!(i, Item::One));
        let form = if plain {
            Form::Bytes(Box::new(cut(&items, |piece| BytePiece::new(piece, collation.charset))))
        } else {
            let mut pieces = cut(&items, |piece| TokenPiece::new(piece, collation));
            for piece in pieces.rest.iter_mut().flat_map(|rest| &mut rest.middle) {
                piece.find_starts(collation);
            }
            Form::Characters(pieces)
        };
        let start = match &items[..] {
            [text @ .., Item::Many] if !plain && text.iter().all(|i| matches!(i, Item::Literal(_))) => {
                Some(bytes_of(text, collation.charset).into())
            }
            _ => None,
        };
        let start_codes = start.as_deref().and_then(|start| codes_of(start, collation));
        LikePattern { form, start, start_codes, collation }
    }

    /// The codes that keys of printable ASCII texts begin with if the texts are like the pattern, whatever
    /// follows, and only then; `None`: the pattern is not of that kind, or the collation.
    #[inline]
    pub fn start_codes(&self) -> Option<&[u8]> {
        self.start_codes.as_deref()
    }

    /// Whether `text` is like the pattern. Cost: one pass over the text for most patterns; no allocation.
    /// Once the thread's statement is to end ([`base::sync::interrupt`]), the answer for a long text means
    /// nothing.
    pub fn matches(&self, text: &[u8]) -> bool {
        if self.start.as_ref().is_some_and(|start| text.starts_with(start)) {
            return true;
        }
        match &self.form {
            Form::Bytes(pieces) => matches_bytes(pieces, text),
            Form::Characters(pieces) => match (self.collation.weights, self.collation.charset) {
                (Weights::Uca900, _) => matches_tokens(pieces, text, utf8::decode, uca900::weight_class),
                (Weights::GeneralCi, _) => {
                    matches_tokens(pieces, text, utf8::decode, |point| u64::from(general_ci::weight(point)))
                }
                (Weights::EightBit(map), _) => {
                    matches_tokens(pieces, text, first_byte, |byte| u64::from(map[byte as usize & 0xFF]))
                }
                (Weights::UcaPad(table), _) => {
                    matches_tokens(pieces, text, utf8::decode, |point| table.weight_class(point))
                }
                (Weights::Bytes, charset) if charset.is_utf8() => {
                    matches_tokens(pieces, text, utf8::decode, u64::from)
                }
                (Weights::Bytes, _) => matches_tokens(pieces, text, first_byte, u64::from),
            },
        }
    }

    /// The characters before the first `%` or `_` of `pattern`, written to `out` without escapes, and whether
    /// the whole pattern is such text. An index range starts with them.
    pub fn literal_prefix(pattern: &[u8], escape: Option<u32>, charset: Charset, out: &mut Vec<u8>) -> bool {
        for item in parse(pattern, escape, charset) {
            let Item::Literal(point) = item else { return false };
            push_point(point, charset, out);
        }
        true
    }
}

/// The codes of printable ASCII text whose key gives it back, its case aside.
fn codes_of(text: &[u8], collation: &Collation) -> Option<Vec<u8>> {
    let mut codes = Vec::new();
    if !collation.keeps_letters() || !letter_case::append(text, &mut codes) {
        return None;
    }
    codes.clear();
    collation.sort_key(text, &mut codes);
    codes.pop();
    Some(codes)
}

#[inline]
fn first_byte(text: &[u8]) -> (u32, usize) {
    (u32::from(text[0]), 1)
}

fn push_point(point: u32, charset: Charset, out: &mut Vec<u8>) {
    if charset.is_utf8() { utf8::encode(point, out) } else { out.push(point as u8) }
}

fn parse(pattern: &[u8], escape: Option<u32>, charset: Charset) -> Vec<Item> {
    let decode = if charset.is_utf8() { utf8::decode } else { first_byte };
    let mut items = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while !rest.is_empty() {
        let (mut point, mut len) = decode(rest);
        let escaped = Some(point) == escape;
        // At the end of the pattern the escape character stands for itself.
        if escaped && rest.len() > len {
            rest = &rest[len..];
            (point, len) = decode(rest);
        }
        rest = &rest[len..];
        items.push(match point {
            _ if escaped => Item::Literal(point),
            0x25 => Item::Many,
            0x5F => Item::One,
            _ => Item::Literal(point),
        });
    }
    items
}

fn cut<P>(items: &[Item], piece: impl Fn(&[Item]) -> P) -> Pieces<P> {
    let mut parts: Vec<&[Item]> = items.split(|i| matches!(i, Item::Many)).collect();
    let first = piece(parts.remove(0));
    let rest = parts.pop().map(|last| {
        let middle = parts.into_iter().filter(|part| !part.is_empty()).map(&piece).collect();
        AfterFirst { middle, last: piece(last) }
    });
    Pieces { first, rest }
}

fn token(item: Item, collation: &Collation) -> Token {
    match (item, collation.weights) {
        (Item::Literal(point), Weights::Uca900) => Token::Class(uca900::weight_class(point)),
        (Item::Literal(point), Weights::UcaPad(table)) => Token::Class(table.weight_class(point)),
        (Item::Literal(point), Weights::GeneralCi) => Token::Class(u64::from(general_ci::weight(point))),
        (Item::Literal(byte), Weights::EightBit(map)) => Token::Class(u64::from(map[byte as usize & 0xFF])),
        (Item::Literal(point), Weights::Bytes) => Token::Class(u64::from(point)),
        (Item::One | Item::Many, _) => Token::One,
    }
}

impl TokenPiece {
    fn new(items: &[Item], collation: &Collation) -> Self {
        let tokens = items.iter().map(|&item| token(item, collation)).collect();
        TokenPiece { tokens, starts: Starts::Anywhere }
    }

    /// Makes ready a piece that is looked for.
    fn find_starts(&mut self, collation: &Collation) {
        let Some(&first @ Token::Class(_)) = self.tokens.first() else { return };
        let mut starts = (0..0x80u8).filter(|&byte| token(Item::Literal(byte.into()), collation) == first);
        if let (Some(one), other, None) = (starts.next(), starts.next(), starts.next()) {
            self.starts = Starts::At(one, other.unwrap_or(one));
        }
    }

    /// The part of ASCII `text` in which the piece may be found: from the first character that it may begin
    /// with. Not for an empty piece.
    #[inline]
    fn skip_to_start<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let Starts::At(one, other) = self.starts else { return text };
        memchr::memchr2(one, other, text).map_or(&[], |at| &text[at..])
    }
}

/// The literals of `items`.
fn bytes_of(items: &[Item], charset: Charset) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &item in items {
        if let Item::Literal(point) = item {
            push_point(point, charset, &mut bytes);
        }
    }
    bytes
}

impl BytePiece {
    fn new(items: &[Item], charset: Charset) -> Self {
        let bytes = bytes_of(items, charset);
        BytePiece { finder: Finder::new(&bytes).into_owned(), bytes: bytes.into() }
    }
}

fn matches_bytes(pieces: &Pieces<BytePiece>, text: &[u8]) -> bool {
    let Some(rest) = &pieces.rest else { return *pieces.first.bytes == *text };
    let Some(text) = text.strip_prefix(&*pieces.first.bytes) else { return false };
    let Some(mut text) = text.strip_suffix(&*rest.last.bytes) else { return false };
    for piece in &rest.middle {
        let Some(at) = piece.finder.find(text) else { return false };
        text = &text[at + piece.bytes.len()..];
    }
    true
}

/// `decode` gives the first character of a text and its length, `class` the weight class of a character.
#[inline]
fn matches_tokens(
    pieces: &Pieces<TokenPiece>,
    text: &[u8],
    decode: impl Fn(&[u8]) -> (u32, usize) + Copy,
    class: impl Fn(u32) -> u64 + Copy,
) -> bool {
    let Some(mut text) = strip_tokens(&pieces.first.tokens, text, decode, class) else { return false };
    let Some(rest) = &pieces.rest else { return text.is_empty() };
    let mut work = Work::default();
    let is_ascii = !rest.middle.is_empty() && text.is_ascii();
    for piece in &rest.middle {
        text = loop {
            if is_ascii {
                let found = piece.skip_to_start(text);
                if work.ends(text.len() - found.len()) {
                    return false;
                }
                text = found;
            }
            if work.ends(piece.tokens.len() + 1) {
                return false;
            }
            if let Some(after) = strip_tokens(&piece.tokens, text, decode, class) {
                break after;
            }
            if text.is_empty() {
                return false;
            }
            text = &text[decode(text).1..];
        };
    }
    let last = &*rest.last.tokens;
    if last.is_empty() {
        return true;
    }
    let mut characters = 0;
    let mut at = 0;
    while at < text.len() && !work.ends(1) {
        at += decode(&text[at..]).1;
        characters += 1;
    }
    let Some(mut surplus) = usize::checked_sub(characters, last.len()) else { return false };
    while surplus > 0 && !work.ends(1) {
        text = &text[decode(text).1..];
        surplus -= 1;
    }
    strip_tokens(last, text, decode, class).is_some()
}

/// What follows the characters that `tokens` stand for, if `text` starts with such.
#[inline]
fn strip_tokens<'a>(
    tokens: &[Token],
    mut text: &'a [u8],
    decode: impl Fn(&[u8]) -> (u32, usize),
    class: impl Fn(u32) -> u64,
) -> Option<&'a [u8]> {
    for &token in tokens {
        if text.is_empty() {
            return None;
        }
        let (point, len) = decode(text);
        if token != Token::One && token != Token::Class(class(point)) {
            return None;
        }
        text = &text[len..];
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;
    use base::prng::Prng;

    /// Whether `text` is like `items`, trying everything.
    fn is_like(text: &[char], items: &[char], collation: &Collation) -> bool {
        let weight = |c: char| token(Item::Literal(c.into()), collation);
        match (items, text) {
            ([], text) => text.is_empty(),
            (['%', rest @ ..], _) => (0..=text.len()).any(|at| is_like(&text[at..], rest, collation)),
            (['_', rest @ ..], [_, after @ ..]) => is_like(after, rest, collation),
            ([item, rest @ ..], [first, after @ ..]) => {
                weight(*item) == weight(*first) && is_like(after, rest, collation)
            }
            (_, []) => false,
        }
    }

    #[test]
    fn pieces_are_found_wherever_they_are() {
        let collations = [
            CollationId::UTF8MB4_0900_AI_CI,
            CollationId::UTF8MB4_GENERAL_CI,
            CollationId::UTF8MB4_UNICODE_CI,
            CollationId::UTF8MB4_BIN,
        ]
        .map(|id| id.collation().unwrap());
        let mut prng = Prng::new(13);
        let (mut like, mut unlike) = (0, 0);
        for round in 0..20_000 {
            let letters: &[char] =
                if round % 3 == 0 { &['a', 'A', 'b', '\u{e4}', '7'] } else { &['a', 'A', 'b', '7', '\t'] };
            let mut draw = |of: &[char], most: u64| -> String {
                (0..prng.below(most)).map(|_| of[prng.below(of.len() as u64) as usize]).collect()
            };
            let text = draw(letters, 14);
            let pattern = draw(&['a', 'B', '7', '%', '%', '_', '\u{e4}'], 7);
            for collation in collations {
                let is_found = LikePattern::new(pattern.as_bytes(), None, collation).matches(text.as_bytes());
                let (text, items): (Vec<char>, Vec<char>) =
                    (text.chars().collect(), pattern.chars().collect());
                assert_eq!(
                    is_found,
                    is_like(&text, &items, collation),
                    "{text:?} {pattern} {}",
                    collation.name
                );
                *(if is_found { &mut like } else { &mut unlike }) += 1;
            }
        }
        assert!(like > 10_000 && unlike > 10_000, "{like} are like, {unlike} not");
    }
}
