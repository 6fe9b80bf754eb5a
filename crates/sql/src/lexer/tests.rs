use super::*;
use crate::charset::Introducer;
use crate::literal::LiteralKind;

fn kinds(text: &str, mode: LexMode) -> Vec<(Tok, String)> {
    let mut lexer = Lexer::new(text.as_bytes(), 0, mode);
    let mut out = Vec::new();
    loop {
        let token = lexer.next();
        if matches!(token.kind, Tok::Eof | Tok::Bad) {
            out.push((token.kind, String::new()));
            return out;
        }
        out.push((token.kind, text[token.start as usize..token.end as usize].to_owned()));
    }
}

fn only(text: &str) -> Vec<Tok> {
    let mut kinds: Vec<Tok> = kinds(text, LexMode::NONE).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds.pop(), Some(Tok::Eof), "{text}");
    kinds
}

#[test]
fn numbers_and_names_with_digits_are_told_apart() {
    assert_eq!(
        only("1 1.5 .5 1. 1e5 1.5E-3 1e"),
        [Tok::Int, Tok::Decimal, Tok::Decimal, Tok::Decimal, Tok::Float, Tok::Float, Tok::Word]
    );
    assert_eq!(
        only("0x1F 0x1G 0b01 0b2 x'0a' b'01' 1st"),
        [Tok::Hex, Tok::Word, Tok::Bit, Tok::Word, Tok::Hex, Tok::Bit, Tok::Word]
    );
    assert_eq!(
        only("t.1a t.5 a.b.2c"),
        [
            Tok::Word,
            Tok::Dot,
            Tok::Word,
            Tok::Word,
            Tok::Dot,
            Tok::Word,
            Tok::Word,
            Tok::Dot,
            Tok::Word,
            Tok::Dot,
            Tok::Word
        ]
    );
}

#[test]
fn words_around_a_dot_are_names() {
    assert_eq!(
        only("t.select key.a `t`.from"),
        [Tok::Word, Tok::Dot, Tok::Word, Tok::Word, Tok::Dot, Tok::Word, Tok::Quoted, Tok::Dot, Tok::Word]
    );
    assert_eq!(only("t . key"), [Tok::Word, Tok::Dot, Tok::Kw(Kw::KEY)]);
}

#[test]
fn version_comments_are_executed_by_version() {
    assert_eq!(only("1 /*!40100 2 */ /*!99999 3 */ /*!080406 4*/ /*!80407 5*/ /*! 6 */ 7").len(), 5);
    assert_eq!(only("/*M!100100 SET x */ 1 /*!50003 a /* b */ c */"), [Tok::Int, Tok::Word, Tok::Word]);
    assert_eq!(only("/*!99999 a /* b */ c */ 1"), [Tok::Int]);
    // A sixth digit belongs to the version only before a blank.
    assert_eq!(only("1 + /*!800001+0 */ + 0").len(), 7);
    assert_eq!(only("1 /*!800001 + 0 */").len(), 1);
    assert_eq!(kinds("/*!40100 1", LexMode::NONE).last().unwrap().0, Tok::Bad);
    assert_eq!(kinds("/* 1", LexMode::NONE)[0].0, Tok::Bad);
}

#[test]
fn comments_are_blanks_and_hints_are_tokens() {
    assert_eq!(only("1 -- x\n2 # y\n3 --4").len(), 6);
    assert_eq!(only("SELECT /*+ x */ 1"), [Tok::Kw(Kw::SELECT), Tok::Hint, Tok::Int]);
    assert_eq!(only("a /*+ x */ 1"), [Tok::Word, Tok::Int]);
}

#[test]
fn strings_join_their_neighbours() {
    assert_eq!(only("'a' \"b\" /* c */ 'd', 'e'"), [Tok::Str(true), Tok::Comma, Tok::Str(false)]);
    assert_eq!(
        only("'a''b' 'a\\'b' N'x' _utf8mb4'x' _utf9"),
        [
            Tok::Str(true),
            Tok::NationalStr(false),
            Tok::Introducer(Introducer::find(b"utf8mb4").unwrap()),
            Tok::Str(false),
            Tok::Word
        ]
    );
    assert_eq!(kinds("'a", LexMode::NONE)[0].0, Tok::Bad);
    assert_eq!(kinds("'a\\'", LexMode::NONE)[0].0, Tok::Bad);
    assert_eq!(kinds("'a\\'", LexMode::NO_BACKSLASH_ESCAPES)[0].0, Tok::Str(false));
    assert_eq!(kinds("\"a\"\"b\"", LexMode::ANSI_QUOTES)[0].0, Tok::Quoted);
}

#[test]
fn variables_and_operators() {
    assert_eq!(
        only("@a @'b c' @`d` @@x @a.b"),
        [Tok::UserVar, Tok::UserVar, Tok::UserVar, Tok::AtAt, Tok::Word, Tok::UserVar]
    );
    assert_eq!(
        only("<=> <= <> != << -> ->> := || && - --1"),
        [
            Tok::NullSafeEq,
            Tok::Le,
            Tok::Ne,
            Tok::Ne,
            Tok::Shl,
            Tok::Arrow,
            Tok::ArrowText,
            Tok::Assign,
            Tok::OrOr,
            Tok::AndAnd,
            Tok::Minus,
            Tok::Minus,
            Tok::Minus,
            Tok::Int
        ]
    );
}

#[test]
fn words_end_at_the_same_byte_wherever_they_stand() {
    for len in 1..20 {
        for b in 0..=255u8 {
            let mut text = vec![b'a'; len];
            text.extend([b, b'z', b' ', b'+']);
            let token = Lexer::new(&text, 0, LexMode::NONE).next();
            let end = text.iter().position(|&b| !is_word(b)).unwrap();
            assert_eq!((token.kind, token.end as usize), (Tok::Word, end), "{len} {b}");
            let short = Lexer::new(&text[..=len], 0, LexMode::NONE).next();
            assert_eq!(short.end as usize, end.min(len + 1), "{len} {b}");
        }
    }
}

#[test]
fn digits_end_at_the_same_byte_wherever_they_stand() {
    for len in 1..20 {
        for b in 0..=255u8 {
            let mut text = vec![b'7'; len];
            text.extend([b, b'7', b' ']);
            let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap();
            assert_eq!(Lexer::new(&text, 0, LexMode::NONE).after_digits(0), end, "{len} {b}");
        }
    }
}

#[test]
fn cells_are_read_whole_or_not_at_all() {
    let cell = |text: &str| {
        let mut lexer = Lexer::new(text.as_bytes(), 0, LexMode::NONE);
        let cell = lexer.literal_cell();
        assert!(cell.is_some() || lexer.pos() == 0, "{text}");
        cell.map(|c| (c.kind, text[c.start as usize..][..c.len as usize].to_owned(), c.last))
    };
    assert_eq!(cell("12,"), Some((LiteralKind::Int, "12".to_owned(), false)));
    assert_eq!(cell(" 'a b')"), Some((LiteralKind::String, "'a b'".to_owned(), true)));
    assert_eq!(cell("1.50)"), Some((LiteralKind::Decimal, "1.50".to_owned(), true)));
    for text in
        ["", " ", "12", "12 ,", "1e5,", "1a,", "0x1,", "'a", "'a''b',", "'a\\'b',", "'a' 'b',", "-1,", "?,"]
    {
        assert_eq!(cell(text), None, "{text}");
    }
}
