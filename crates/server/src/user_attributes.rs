//! What ATTRIBUTE and COMMENT say of accounts: JSON objects, merged as RFC 7396 has it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sql::ast::UserAttribute;
use types::Value;

use crate::error_map::{self, SqlError};

/// Deepest nesting of arrays and objects, as in MySQL's JSON.
const DEPTH_MAX: usize = 100;
/// Longest text of an account's attributes, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// The attributes of an account after `said`, as MySQL writes JSON. `old`: what they were.
///
/// # Errors
/// 3982 for what is no JSON object, 1041 beyond 64 KiB, of `said` or of the result.
pub(crate) fn merged(old: Option<&str>, said: UserAttribute<'_>) -> Result<String, SqlError> {
    let (UserAttribute::Comment(new) | UserAttribute::Attribute(new)) = said;
    if new.len() > TEXT_BYTES_MAX {
        // Before it is parsed: a parsed object takes many times its text.
        return Err(error_map::OUT_OF_RESOURCES.bare());
    }
    let patch = match said {
        UserAttribute::Comment(text) => object([("comment".to_owned(), Json::Text(text.to_owned()))]),
        UserAttribute::Attribute(text) => parse_object(text).ok_or_else(invalid)?,
    };
    let old = old.and_then(parse_object);
    let mut text = String::new();
    merge(old, patch).write(&mut text);
    if text.len() > TEXT_BYTES_MAX {
        return Err(error_map::OUT_OF_RESOURCES.bare());
    }
    Ok(text)
}

#[cold]
fn invalid() -> SqlError {
    error_map::INVALID_USER_ATTRIBUTE_JSON.bare()
}

/// A JSON value.
enum Json {
    Null,
    /// A number, `true` or `false`, as it is written.
    Plain(String),
    Text(String),
    Array(Vec<Json>),
    /// By length of the key, then its bytes.
    Object(BTreeMap<(usize, String), Json>),
}

fn object(members: impl IntoIterator<Item = (String, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| ((key.len(), key), value)).collect())
}

/// Members of `patch` replace those of `old`, and NULL removes them.
fn merge(old: Option<Json>, patch: Json) -> Json {
    let Json::Object(patch) = patch else { return patch };
    let mut merged = match old {
        Some(Json::Object(old)) => old,
        _ => BTreeMap::new(),
    };
    for (key, value) in patch {
        let old = merged.remove(&key);
        if !matches!(value, Json::Null) {
            merged.insert(key, merge(old, value));
        }
    }
    Json::Object(merged)
}

impl Json {
    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Plain(text) => out.push_str(text),
            Json::Text(text) => write_text(text, out),
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (at, ((_, key), value)) in members.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    write_text(key, out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// `text` as MySQL writes it in JSON.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_text(text, &mut out);
    out
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // A String takes everything.
            '\0'..' ' => drop(write!(out, "\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// `None` unless `text` is a JSON object.
fn parse_object(text: &str) -> Option<Json> {
    let mut parser = Parser { rest: text };
    let value = parser.value(DEPTH_MAX)?;
    parser.blank();
    (parser.rest.is_empty() && matches!(value, Json::Object(_))).then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Moves after `text`, if it comes next.
    fn eat(&mut self, text: &str) -> bool {
        self.blank();
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// `depth`: levels of nesting that are left.
    fn value(&mut self, depth: usize) -> Option<Json> {
        self.blank();
        match self.rest.bytes().next()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'"' => self.text().map(Json::Text),
            b'n' => self.eat("null").then_some(Json::Null),
            b't' => self.eat("true").then(|| Json::Plain("true".to_owned())),
            b'f' => self.eat("false").then(|| Json::Plain("false".to_owned())),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut members = BTreeMap::new();
        self.eat("{");
        if self.eat("}") {
            return Some(Json::Object(members));
        }
        loop {
            self.blank();
            let key = self.text()?;
            let value = if self.eat(":") { self.value(depth)? } else { return None };
            members.insert((key.len(), key), value);
            if self.eat("}") {
                return Some(Json::Object(members));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.eat("[");
        if self.eat("]") {
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.eat("]") {
                return Some(Json::Array(items));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let mut rest = self.rest.strip_prefix('"')?;
        let mut text = String::new();
        loop {
            let end = rest.find(|c: char| c == '"' || c == '\\' || c < ' ')?;
            let (plain, special) = rest.split_at(end);
            text.push_str(plain);
            if let Some(after) = special.strip_prefix('"') {
                self.rest = after;
                return Some(text);
            }
            let mut characters = special.strip_prefix('\\')?.chars();
            let escaped = match characters.next()? {
                escape @ ('"' | '\\' | '/') => escape,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let (character, after) = unicode(characters.as_str())?;
                    characters = after.chars();
                    character
                }
                _ => return None,
            };
            text.push(escaped);
            rest = characters.as_str();
        }
    }

    fn number(&mut self) -> Option<Json> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (text, after) = self.rest.split_at(end);
        self.rest = after;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let is_zero_led = digits.starts_with('0') && whole > 1;
        // What `f64` reads beside what JSON has.
        if whole == 0 || is_zero_led || digits[whole..].starts_with('.') && !has_digit(&digits[whole + 1..]) {
            return None;
        }
        if let Ok(number) = text.parse::<i128>()
            && (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number)
        {
            return Some(Json::Plain(number.to_string()));
        }
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
        let mut written = Vec::new();
        Value::Double(number).write_text(&mut written);
        let mut written = String::from_utf8(written).ok()?;
        if !written.contains(['.', 'e']) {
            written.push_str(".0");
        }
        Some(Json::Plain(written))
    }
}

fn has_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The character of the digits after `\u`, a surrogate pair perhaps, and what follows.
fn unicode(text: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(text)?;
    let after = &text[4..];
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(u32::from(first))?, after));
    }
    let after = after.strip_prefix("\\u")?;
    let mut pair = char::decode_utf16([first, unit(after)?]);
    Some((pair.next()?.ok()?, &after[4..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        merged(None, UserAttribute::Attribute(text)).ok()
    }

    #[test]
    fn only_objects_of_valid_json_are_attributes() {
        for text in [
            "",
            "x",
            "1",
            "null",
            "[1]",
            "\"a\"",
            "{",
            "{}}",
            "{} x",
            "{a: 1}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{\"a\":01}",
            "{\"a\":.5}",
            "{\"a\":1.}",
            "{\"a\":1.e3}",
            "{\"a\":+1}",
            "{\"a\":-}",
            "{\"a\":1e}",
            "{\"a\":1e999}",
            "{\"a\":inf}",
            "{\"a\":nul}",
            "{\"a\":[1,]}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\u12\"}",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\udc00\"}",
            "{\"a\":\"\\ud800\\u0041\"}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"",
            "{\"a\":\"\\u00e\u{e9}\"}",
        ] {
            assert_eq!(written(text), None, "{text}");
        }
        let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(written(&nested(DEPTH_MAX)).is_some() && written(&nested(DEPTH_MAX + 1)).is_none());
        assert_eq!(written(&format!("{{\"a\": \"{}\"}}", "x".repeat(TEXT_BYTES_MAX))), None);
        assert_eq!(
            written(&format!("{{}}{}", " ".repeat(TEXT_BYTES_MAX))),
            None,
            "the result would be short"
        );
    }

    #[test]
    fn text_and_characters_beyond_the_basic_plane_survive() {
        let text = r#" { "k" : "\ud83d\ude00\b\f\/A" , "a" : [ ] } "#;
        assert_eq!(written(text).as_deref(), Some("{\"a\": [], \"k\": \"\u{1f600}\\b\\f/A\"}"));
    }
}
