//! Words that the field's terms have taken the place of (docs/glossary.md).

use super::source::{SourceFile, at};

/// Retired word, and the word to use.
const RETIRED: [(&str, &str); 17] = [
    ("HAS_VER", "HAS_END"),
    ("UndoRef", "UndoPtr"),
    ("txn", "trx"),
    ("in the company of", "beside, or with a fixed row"),
    ("so many bytes", "a number, or `at most`"),
    ("whoever", "the thread, transaction or client that"),
    (" but for ", "except for"),
    ("circle of waits", "deadlock"),
    ("has the processor fetch", "prefetches"),
    ("Foreseen", "LeafHint"),
    ("StandIn", "MockCredential, SubstituteHeader"),
    ("Mishap", "FaultKind"),
    ("StartLog", "StartupLog"),
    ("GoneTrees", "DroppedTrees"),
    ("Leftover", "UnpurgedRecord, Purgeable"),
    ("Trails", "UndoStacks"),
    ("Patience", "ReadTimeout"),
];

/// Retired words in a source file or a document.
pub(crate) fn findings(file: &SourceFile) -> Vec<String> {
    if file.path.ends_with("tidy/retired.rs") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for (word, better) in RETIRED {
            if line.contains(word) {
                found.push(at(file, number + 1, &format!("{word}: say {better}")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retired_word_is_found_in_a_comment() {
        let file =
            |text: &str| SourceFile { path: "crates/x/src/a.rs".into(), text: text.into(), tests_from: 9 };
        assert_eq!(findings(&file("/// A record with HAS_VER.")).len(), 1);
        assert_eq!(findings(&file("/// A record with HAS_END.")).len(), 0);
    }
}
