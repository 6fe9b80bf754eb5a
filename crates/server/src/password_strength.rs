//! The rules of the component validate_password for new passwords.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use wire::auth::PASSWORD_BYTES_MAX;

use crate::error_map::{self, SqlError};
use crate::sysvars::Variables;

/// Longest file of words, in bytes, as in MySQL.
const DICTIONARY_BYTES_MAX: u64 = 1 << 20;
/// Lengths of words that count, in characters.
const WORD_CHARS: std::ops::RangeInclusive<usize> = 4..=100;
/// Shorter texts have no strength.
const STRENGTH_CHARS_MIN: usize = 4;

/// Words that are no part of strong passwords, in lower case.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    words: HashSet<Box<str>>,
    /// Length of the longest, in characters.
    chars_max: usize,
}

impl Dictionary {
    /// The words of a file, one a line.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        // Nothing that could block the session is opened or read. Files of the kernel have no length.
        ensure_readable(&fs::metadata(path)?)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        ensure_readable(&file.metadata()?)?;
        let mut text = Vec::new();
        file.take(DICTIONARY_BYTES_MAX).read_to_end(&mut text)?;
        Ok(Self::of(&String::from_utf8_lossy(&text)))
    }

    fn of(text: &str) -> Self {
        let counts = |word: &&str| WORD_CHARS.contains(&word.chars().count());
        let words: HashSet<Box<str>> =
            text.lines().map(str::trim_end).filter(counts).map(|word| word.to_lowercase().into()).collect();
        let chars_max = words.iter().map(|word| word.chars().count()).max().unwrap_or_default();
        Dictionary { words, chars_max }
    }

    /// Whether a part of `text` is a word. Bytes after the longest password do not count.
    fn has_part(&self, text: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let text: String = text.to_lowercase();
        let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        ends.push(text.len());
        ends.retain(|end| *end <= PASSWORD_BYTES_MAX);
        let last = ends.len().saturating_sub(1);
        (0..last).any(|from| {
            let longest = (from + self.chars_max).min(last);
            (from + *WORD_CHARS.start()..=longest).any(|to| self.words.contains(&text[ends[from]..ends[to]]))
        })
    }
}

fn ensure_readable(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() && (1..=DICTIONARY_BYTES_MAX).contains(&metadata.len()) {
        return Ok(());
    }
    Err(io::Error::other("it is no file of 1 byte to 1 MiB"))
}

/// Levels of `validate_password.policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Low,
    Medium,
    Strong,
}

/// How new passwords are checked.
#[derive(Debug)]
pub(crate) struct Check {
    level: Level,
    chars: usize,
    mixed_case: usize,
    numbers: usize,
    special: usize,
    checks_user_name: bool,
    changed_percent: usize,
    dictionary: Arc<Dictionary>,
}

impl Check {
    /// As the server's variables say.
    pub(crate) fn new(variables: &Variables, dictionary: Arc<Dictionary>) -> Self {
        let number = |name| usize::try_from(variables.named(name).as_u64()).unwrap_or(usize::MAX);
        Check {
            level: match variables.named("validate_password.policy").as_text() {
                "LOW" => Level::Low,
                "STRONG" => Level::Strong,
                _ => Level::Medium,
            },
            chars: number("validate_password.length"),
            mixed_case: number("validate_password.mixed_case_count"),
            numbers: number("validate_password.number_count"),
            special: number("validate_password.special_char_count"),
            checks_user_name: variables.named("validate_password.check_user_name").as_bool(),
            changed_percent: number("validate_password.changed_characters_percentage"),
            dictionary,
        }
    }

    /// Fails for a password that is too weak. `users`: names of the session's user.
    ///
    /// # Errors
    /// 1819.
    pub(crate) fn ensure_strong(&self, password: &str, users: [&str; 2]) -> Result<(), SqlError> {
        let is_strong = password.chars().count() >= self.chars
            && !self.is_user_name(password, users)
            && (self.level < Level::Medium || self.is_mixed(password))
            && (self.level < Level::Strong || !self.dictionary.has_part(password));
        if is_strong { Ok(()) } else { Err(error_map::NOT_VALID_PASSWORD.bare()) }
    }

    /// Fails for a password that has too many characters of the current one, in any case.
    ///
    /// # Errors
    /// 4165.
    pub(crate) fn ensure_changed(&self, current: &str, new: &str) -> Result<(), SqlError> {
        let least = current.chars().count() * self.changed_percent / 100;
        let characters = |text: &str| text.to_lowercase().chars().collect::<HashSet<char>>();
        let changed = characters(new).difference(&characters(current)).count();
        if changed >= least {
            return Ok(());
        }
        Err(error_map::INSUFFICIENT_CHANGED_CHARACTERS.with(&[&least, &changed]))
    }

    /// VALIDATE_PASSWORD_STRENGTH.
    pub(crate) fn strength(&self, text: &str, users: [&str; 2]) -> u64 {
        let chars = text.chars().count();
        if chars < STRENGTH_CHARS_MIN || self.is_user_name(text, users) {
            0
        } else if chars < self.chars {
            25
        } else if !self.is_mixed(text) {
            50
        } else if self.dictionary.has_part(text) {
            75
        } else {
            100
        }
    }

    /// Whether the text is the name of a user, forwards or backwards.
    fn is_user_name(&self, text: &str, users: [&str; 2]) -> bool {
        let is = |user: &str| !user.is_empty() && (text == user || text.chars().eq(user.chars().rev()));
        self.checks_user_name && users.into_iter().any(is)
    }

    fn is_mixed(&self, text: &str) -> bool {
        let mut counts = HashMap::new();
        for character in text.chars() {
            *counts.entry(Class::of(character)).or_insert(0) += 1;
        }
        let has = |class, least| counts.get(&class).copied().unwrap_or_default() >= least;
        has(Class::Lower, self.mixed_case)
            && has(Class::Upper, self.mixed_case)
            && has(Class::Number, self.numbers)
            && has(Class::Special, self.special)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Lower,
    Upper,
    Number,
    Special,
}

impl Class {
    fn of(character: char) -> Self {
        if character.is_lowercase() {
            Class::Lower
        } else if character.is_uppercase() {
            Class::Upper
        } else if character.is_ascii_digit() {
            Class::Number
        } else {
            Class::Special
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(level: Level, words: &str) -> Check {
        Check {
            level,
            chars: 8,
            mixed_case: 1,
            numbers: 1,
            special: 1,
            checks_user_name: true,
            changed_percent: 50,
            dictionary: Arc::new(Dictionary::of(words)),
        }
    }

    #[test]
    fn each_level_asks_for_more() {
        let users = ["root", "maximilian"];
        let passes = |level, text| check(level, "Horse\nabc\n").ensure_strong(text, users).is_ok();
        for (text, expected) in [
            ("short1!", [false; 3]),
            ("maximilian", [false; 3]),
            ("nailimixam", [false; 3]),
            ("longenough", [true, false, false]),
            ("Longenough1", [true, false, false]),
            ("Longenough1!abc", [true, true, true]),
            ("1!MyhOrSe", [true, true, false]),
        ] {
            let levels = [Level::Low, Level::Medium, Level::Strong].map(|level| passes(level, text));
            assert_eq!(levels, expected, "{text}");
        }
        let strength = |text| check(Level::Low, "horse").strength(text, users);
        let texts = ["", "abc", "root", "toor", "ROOT", "abcdefgh", "1!MyhOrSe", "1!MyhOrs"];
        assert_eq!(texts.map(strength), [0, 0, 0, 0, 25, 50, 75, 100]);
    }

    #[test]
    fn a_dictionary_is_bounded_and_so_is_the_work() {
        let long = "x".repeat(101);
        let words = Dictionary::of(&format!("abc\r\n{long}\nwörd\n"));
        assert_eq!((words.words.len(), words.chars_max), (1, 4));
        assert!(words.has_part("1WÖRD2") && !words.has_part("wör") && !words.has_part(""));
        assert!(!words.has_part(&format!("{}wörd", "-".repeat(PASSWORD_BYTES_MAX))));
        let folder = tempfile::tempdir().unwrap();
        assert!(Dictionary::read(folder.path()).is_err(), "no file");
        let path = folder.path().join("words");
        fs::write(&path, vec![b'a'; (1 << 20) + 1]).unwrap();
        assert!(Dictionary::read(&path).is_err(), "too long");
        fs::write(&path, "").unwrap();
        for empty in [path.as_path(), Path::new("/proc/kmsg"), Path::new("/proc/self/mounts")] {
            assert!(Dictionary::read(empty).is_err(), "{}", empty.display());
        }
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(Dictionary::read(&fifo).is_err(), "no file");
        fs::write(&path, "horse\n").unwrap();
        assert!(Dictionary::read(&path).unwrap().has_part("seahorses"));
    }

    #[test]
    fn characters_of_the_current_password_do_not_count_as_changed() {
        let check = check(Level::Low, "");
        for (new, changed) in [
            ("Abcdefgh1!", Some(0)),
            ("ABCDEFGH1!xx", Some(1)),
            ("xyzwabcdef", Some(4)),
            ("xyzwvabcde", None),
            ("xyzwvABCD", None),
        ] {
            let said = check.ensure_changed("Abcdefgh1!", new).err().map(|error| error.message);
            let part = changed.map(|changed| format!("only '{changed}'"));
            assert_eq!(said.is_some(), part.is_some(), "{new}");
            assert!(said.unwrap_or_default().contains(&part.unwrap_or_default()), "{new}");
        }
    }
}
