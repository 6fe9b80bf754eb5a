//! Named byte strings for layers above: accounts, view texts. The caller's kind keeps them apart.

use crate::dictionary::{Change, Kind};
use crate::engine::Engine;
use crate::error::Result;

impl Engine {
    /// Writes an object in place of the one of this name.
    pub fn put_object(&self, kind: &str, name: &str, bytes: &[u8]) -> Result<()> {
        self.ensure_open()?;
        let _definition = self.definition.lock();
        self.put_entry(Kind::Object, &key(kind, name), bytes)?;
        self.change_catalog(|_| {});
        Ok(())
    }

    /// An object's bytes.
    pub fn get_object(&self, kind: &str, name: &str) -> Result<Option<Vec<u8>>> {
        self.ensure_open()?;
        self.dictionary.get(&self.store, Kind::Object, &key(kind, name))
    }

    /// All objects of a kind: name and bytes, in order of the names.
    pub fn list_objects(&self, kind: &str) -> Result<Vec<(String, Vec<u8>)>> {
        self.ensure_open()?;
        let prefix = key(kind, "");
        let all = self.dictionary.list(&self.store, Kind::Object)?;
        let ours = all.into_iter().filter_map(|(name, bytes)| {
            let name = name.strip_prefix(&prefix[..])?;
            Some((String::from_utf8_lossy(name).into_owned(), bytes))
        });
        let mut ours: Vec<_> = ours.collect();
        ours.sort();
        Ok(ours)
    }

    /// Writes the objects of `kind` that come with bytes, and removes those that come without, in order: all
    /// or none, also after a crash.
    ///
    /// # Errors
    /// Nothing has changed then.
    pub fn change_objects(&self, kind: &str, objects: &[(String, Option<Vec<u8>>)]) -> Result<()> {
        self.ensure_open()?;
        let mut change = Change::new();
        for (name, bytes) in objects {
            match bytes {
                Some(bytes) => change.put(Kind::Object, &key(kind, name), bytes),
                None => change.delete(Kind::Object, &key(kind, name)),
            }
        }
        let _definition = self.definition.lock();
        self.log_change(change)?;
        self.flush_change()?;
        self.change_catalog(|_| {});
        Ok(())
    }

    /// Removes an object; whether there was one.
    pub fn delete_object(&self, kind: &str, name: &str) -> Result<bool> {
        self.ensure_open()?;
        let _definition = self.definition.lock();
        let deleted = self.delete_entry(Kind::Object, &key(kind, name))?;
        self.change_catalog(|_| {});
        Ok(deleted)
    }
}

fn key(kind: &str, name: &str) -> Vec<u8> {
    [kind.as_bytes(), &[0], name.as_bytes()].concat()
}
