//! What a statement keeps other sessions from, as text and as a set.

use std::collections::BTreeMap;

use super::fixture::Fixture;

/// How something is locked. A greater mode excludes more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Others can share it.
    Shared,
    /// Others can neither lock it nor, where it is a position, insert there.
    Exclusive,
}

/// What kind of thing is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A row, by its clustered key.
    Row,
    /// A position of an index.
    Gap,
    /// An entry of a secondary index whose row is free.
    Entry,
}

/// A thing that is locked: `place` is a table for rows, else `TABLE.INDEX`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) place: String,
    pub(super) what: What,
    pub(super) name: String,
}

/// What a statement has locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Footprint {
    items: Vec<(Item, Mode)>,
}

/// An item that two footprints lock differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) item: Item,
    pub(super) expected: Option<Mode>,
    pub(super) actual: Option<Mode>,
}

impl Difference {
    /// Whether the actual footprint excludes more of the item.
    pub(super) fn is_more(&self) -> bool {
        self.actual > self.expected
    }
}

impl Footprint {
    pub(super) fn items(&self) -> impl Iterator<Item = &(Item, Mode)> {
        self.items.iter()
    }

    pub(super) fn add(&mut self, place: &str, what: What, name: &str, mode: Mode) {
        let item = Item { place: place.to_owned(), what, name: name.to_owned() };
        self.items.push((item, mode));
    }

    /// Reads what [`Footprint::print`] has made.
    pub(super) fn parse(text: &str, fixture: &Fixture) -> Result<Self, String> {
        let mut footprint = Footprint::default();
        for part in text.split("; ").filter(|part| *part != "nothing") {
            footprint.add_part(part, fixture).ok_or_else(|| format!("cannot read {part:?}"))?;
        }
        Ok(footprint)
    }

    fn add_part(&mut self, part: &str, fixture: &Fixture) -> Option<()> {
        let mut words = part.split(' ').peekable();
        let place = words.next()?;
        let (what, mode) = match words.next()? {
            "X" => (What::Row, Mode::Exclusive),
            "S" => (What::Row, Mode::Shared),
            "gaps" => (What::Gap, Mode::Exclusive),
            "entries" if words.next()? == "X" => (What::Entry, Mode::Exclusive),
            "entries" => (What::Entry, Mode::Shared),
            _ => return None,
        };
        if words.peek() == Some(&"*") {
            fixture.positions(place)?.iter().for_each(|name| self.add(place, what, name, mode));
        } else {
            words.for_each(|name| self.add(place, what, name, mode));
        }
        Some(())
    }

    /// Returns the footprint as one line.
    pub(super) fn print(&self, fixture: &Fixture) -> String {
        let mut parts: Vec<(String, Vec<&str>, &Item)> = Vec::new();
        for (item, mode) in &self.items {
            let head = format!("{} {}", item.place, word(item.what, *mode));
            match parts.iter_mut().find(|(known, ..)| *known == head) {
                Some((_, names, _)) => names.push(&item.name),
                None => parts.push((head, vec![&item.name], item)),
            }
        }
        let part = |(head, names, item): (String, Vec<&str>, &Item)| {
            let is_all = item.what == What::Gap && fixture.positions(&item.place).as_ref() == Some(&names);
            format!("{head} {}", if is_all { "*".to_owned() } else { names.join(" ") })
        };
        let parts: Vec<String> = parts.into_iter().map(part).collect();
        if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
    }

    /// Returns where `self`, the actual footprint, differs from the expected one.
    pub(super) fn differences(&self, expected: &Footprint) -> Vec<Difference> {
        let mut all: BTreeMap<&Item, (Option<Mode>, Option<Mode>)> = BTreeMap::new();
        expected.items.iter().for_each(|(item, mode)| all.entry(item).or_default().0 = Some(*mode));
        self.items.iter().for_each(|(item, mode)| all.entry(item).or_default().1 = Some(*mode));
        let differing = all.into_iter().filter(|(_, (expected, actual))| expected != actual);
        differing
            .map(|(item, (expected, actual))| Difference { item: item.clone(), expected, actual })
            .collect()
    }
}

fn word(what: What, mode: Mode) -> &'static str {
    match (what, mode) {
        (What::Row, Mode::Exclusive) => "X",
        (What::Row, Mode::Shared) => "S",
        (What::Gap, _) => "gaps",
        (What::Entry, Mode::Exclusive) => "entries X",
        (What::Entry, Mode::Shared) => "entries S",
    }
}
