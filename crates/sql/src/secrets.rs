//! Statement texts without the passwords in them.

use std::borrow::Cow;

use crate::lexer::{Kw, Lexer, Tok};
use crate::mode::LexMode;

/// What stands for a password, as in MySQL's logs.
const HIDDEN: &[u8] = b"<secret>";

/// Words of which every text with a password in clear has one.
const WORDS: [&[u8]; 2] = [b"identified", b"password"];

/// Returns the text of a statement as other sessions may see it: [`without_secrets`] where it may have a
/// password. It may be cut anywhere, have several statements, or be no statement.
pub fn shown_text(text: &[u8]) -> Cow<'_, [u8]> {
    if may_have_secrets(text) {
        Cow::Owned(without_secrets(text, LexMode::default()))
    } else {
        Cow::Borrowed(text)
    }
}

fn may_have_secrets(text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    WORDS.into_iter().any(has)
}

/// Whether a token is the name of the function that rates passwords, in any quotes: some modes read names in
/// double quotes.
fn is_strength(token: &[u8]) -> bool {
    let name = match token {
        [b'`' | b'"', name @ .., b'`' | b'"'] => name,
        _ => token,
    };
    name.eq_ignore_ascii_case(b"validate_password_strength")
}

/// Whether a literal may be the text of a statement with a password. Names of plugins have no blanks.
fn is_statement(literal: &[u8]) -> bool {
    literal.iter().any(u8::is_ascii_whitespace) && may_have_secrets(literal)
}

fn is_literal(token: Tok) -> bool {
    matches!(token, Tok::Str(_) | Tok::NationalStr(_) | Tok::Hex | Tok::Bit)
}

/// Where a text is in the arguments of the function that rates passwords.
#[derive(Default)]
struct StrengthArgument {
    /// The last token was the function's name.
    is_named: bool,
    /// Parentheses that are open since that name.
    depth: usize,
}

impl StrengthArgument {
    fn follow(&mut self, token: Tok, written: &[u8]) {
        match token {
            Tok::LParen if self.is_named || self.depth > 0 => self.depth += 1,
            Tok::RParen => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.is_named = is_strength(written);
    }

    /// Whether `token` may be a part of the password.
    fn hides(&self, token: Tok) -> bool {
        self.depth > 0 && (is_literal(token) || matches!(token, Tok::Int | Tok::Decimal | Tok::Float))
    }
}

/// Returns `text`, one or several statements that change accounts, with every password, hash and former
/// password replaced by `<secret>`: literals after BY, AS, USING, REPLACE, `=` and `PASSWORD (`, all literals
/// within the parentheses of `VALIDATE_PASSWORD_STRENGTH`, and texts of statements within. In other
/// statements these may be something else. Cost: one pass.
pub fn without_secrets(text: &[u8], mode: LexMode) -> Vec<u8> {
    let mut shown = Vec::with_capacity(text.len());
    let mut lexer = Lexer::new(text, 0, mode);
    // Up to where `text` is in `shown`, and whether a literal that comes next is a secret.
    let (mut copied, mut is_next) = (0, false);
    let mut argument = StrengthArgument::default();
    loop {
        let token = lexer.next();
        let written = &text[token.start as usize..token.end as usize];
        argument.follow(token.kind, written);
        match token.kind {
            Tok::Eof | Tok::Bad => break,
            kind if is_literal(kind) && (is_next || is_statement(written)) || argument.hides(kind) => {
                shown.extend_from_slice(&text[copied..token.start as usize]);
                shown.extend_from_slice(HIDDEN);
                copied = token.end as usize;
                is_next = false;
            }
            Tok::Kw(Kw::BY | Kw::AS | Kw::USING | Kw::REPLACE | Kw::PASSWORD) | Tok::Eq | Tok::Assign => {
                is_next = true;
            }
            // They are before the literal.
            Tok::Introducer(_) | Tok::LParen => {}
            _ => is_next = false,
        }
    }
    // Text that the lexer could not read is not shown: it may be the beginning of a secret.
    shown.extend_from_slice(&text[copied..lexer.pos().min(text.len())]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_and_all_else_is_as_it_was() {
        let cases: [(&str, &str); 11] = [
            (
                "CREATE USER a@b IDENTIFIED BY 'x' COMMENT 'c'",
                "CREATE USER a@b IDENTIFIED BY <secret> COMMENT 'c'",
            ),
            (
                "create user u identified with 'mysql_native_password' by 'it''s' 'long', v identified by \"w\"",
                "create user u identified with 'mysql_native_password' by <secret>, v identified by <secret>",
            ),
            ("ALTER USER u IDENTIFIED WITH p AS 0x616263", "ALTER USER u IDENTIFIED WITH p AS <secret>"),
            (
                "ALTER USER u IDENTIFIED BY 'n' REPLACE 'o'",
                "ALTER USER u IDENTIFIED BY <secret> REPLACE <secret>",
            ),
            ("SET PASSWORD FOR 'u'@'h' = /* c */ 'x'", "SET PASSWORD FOR 'u'@'h' = /* c */ <secret>"),
            (
                "ALTER USER u IDENTIFIED BY 'n' REPLACE 'o' RETAIN CURRENT PASSWORD, v DISCARD OLD PASSWORD",
                "ALTER USER u IDENTIFIED BY <secret> REPLACE <secret> RETAIN CURRENT PASSWORD, \
                 v DISCARD OLD PASSWORD",
            ),
            (
                "SET PASSWORD = 'n' REPLACE 'o' RETAIN CURRENT PASSWORD",
                "SET PASSWORD = <secret> REPLACE <secret> RETAIN CURRENT PASSWORD",
            ),
            ("SET PASSWORD FOR u := 'x'", "SET PASSWORD FOR u := <secret>"),
            ("SET PASSWORD = PASSWORD ( 'x' )", "SET PASSWORD = PASSWORD ( <secret> )"),
            ("ALTER USER u IDENTIFIED BY RANDOM PASSWORD", "ALTER USER u IDENTIFIED BY RANDOM PASSWORD"),
            (
                "CREATE USER u IDENTIFIED BY _binary'x'; SELECT 'y'",
                "CREATE USER u IDENTIFIED BY _binary<secret>; SELECT 'y'",
            ),
        ];
        for (text, shown) in cases {
            let got = without_secrets(text.as_bytes(), LexMode::default());
            assert_eq!(String::from_utf8(got).unwrap(), shown);
        }
        let shown = |text: &str| String::from_utf8(shown_text(text.as_bytes()).into_owned()).unwrap();
        assert_eq!(
            shown("PREPARE p FROM 'ALTER USER u IDENTIFIED BY \\'x\\'', 'y'"),
            "PREPARE p FROM <secret>, 'y'"
        );
        assert_eq!(shown("SELECT 'a' AS 'b', 1 = '2'"), "SELECT 'a' AS 'b', 1 = '2'", "no password is near");
        assert_eq!(
            shown("SELECT validate_password_strength( 'x' ), 'y'"),
            "SELECT validate_password_strength( <secret> ), 'y'"
        );
        for (text, hidden) in [
            ("SELECT `validate_password_strength`('x')", "SELECT `validate_password_strength`(<secret>)"),
            ("DO \"Validate_Password_Strength\" (x'41')", "DO \"Validate_Password_Strength\" (<secret>)"),
            (
                "SELECT VALIDATE_PASSWORD_STRENGTH(concat('x', (2), f('y'), _utf8mb4'z')), 'w', 3",
                "SELECT VALIDATE_PASSWORD_STRENGTH(concat(<secret>, (<secret>), f(<secret>), \
                 _utf8mb4<secret>)), 'w', 3",
            ),
            ("DO validate_password_strength(1234.5", "DO validate_password_strength(<secret>"),
            (
                "DO validate_password_strength /* c */ (/* c */ 'x'",
                "DO validate_password_strength /* c */ (/* c */ <secret>",
            ),
            ("SELECT validate_password_strength, ('y')", "SELECT validate_password_strength, ('y')"),
        ] {
            assert_eq!(shown(text), hidden);
        }
        assert_eq!(shown("SELECT 1; set PASSWORD = 'x' !"), "SELECT 1; set PASSWORD = <secret> !");
        let open = without_secrets(b"CREATE USER u IDENTIFIED BY 'never closed", LexMode::default());
        assert!(!String::from_utf8_lossy(&open).contains("never"));
    }
}
