//! Statements as words, quoted texts and punctuation: enough to make them smaller and to name what they use.

/// One word, number, quoted text or mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// As written.
    pub(crate) text: String,
    /// Whether white space is before it.
    pub(crate) spaced: bool,
}

impl Token {
    /// Whether it is a name, keyword or number.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '@')
    }

    /// Whether it is a number or a quoted text.
    pub(crate) fn is_literal(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit() || c == '\'' || c == '"')
    }
}

/// Marks of more than one character, longest first.
const LONG_MARKS: [&str; 11] = ["<=>", "<=", ">=", "<>", "!=", "<<", ">>", "||", "&&", ":=", "--"];

/// Splits a statement; what is joined again by [`join`] means the same.
pub(crate) fn tokens(sql: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = sql;
    loop {
        let trimmed = rest.trim_start();
        let spaced = trimmed.len() < rest.len();
        rest = trimmed;
        let Some(first) = rest.chars().next() else { return found };
        let length = match first {
            '\'' | '"' | '`' => quoted(rest, first),
            c if is_word(c) => word(rest),
            _ => LONG_MARKS
                .iter()
                .find(|mark| rest.starts_with(**mark))
                .map_or(first.len_utf8(), |mark| mark.len()),
        };
        let (text, after) = rest.split_at(length);
        found.push(Token { text: text.to_owned(), spaced });
        rest = after;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '$')
}

/// Length of a word or number at the start of `text`, fraction and exponent included.
fn word(text: &str) -> usize {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        if !is_word(c) && !(is_number && (c == '.' || exponent_sign)) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// Length of a quoted text at the start of `text`; quotes may be doubled or escaped.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote != '`' {
            escaped = true;
        } else if c == quote && chars.next_if(|&(_, next)| next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// The statement that tokens make.
pub(crate) fn join(tokens: &[Token]) -> String {
    let mut sql = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let touches_word = at > 0 && token.is_word() && tokens[at - 1].is_word();
        if at > 0 && (token.spaced || touches_word) {
            sql.push(' ');
        }
        sql.push_str(&token.text);
    }
    sql
}

/// Where the parenthesis at `open` is closed.
pub(crate) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_split_and_joined() {
        let sql = "SELECT f(1.5e-3, 'it''s', \"a\\\"b\") <=> `x``y` FROM t WHERE a<=@b -- c";
        assert_eq!(join(&tokens(sql)), sql);
        let texts: Vec<String> = tokens("f(1e+5-2,'a')<=>3").into_iter().map(|t| t.text).collect();
        assert_eq!(texts, ["f", "(", "1e+5", "-", "2", ",", "'a'", ")", "<=>", "3"]);
    }

    #[test]
    fn parentheses_are_matched() {
        let all = tokens("a (b (c) d) e");
        assert_eq!((closing(&all, 1), closing(&all, 3), closing(&all[..5], 1)), (Some(7), Some(5), None));
    }
}
