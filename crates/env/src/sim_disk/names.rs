//! The names on a simulated disk, and which of their changes are durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The target of a name.
#[derive(Clone, Debug)]
pub(super) enum Node<F> {
    Dir,
    File(F),
}

/// A change of names that is not durable yet. It is atomic: after a crash it has happened or not.
#[derive(Debug)]
enum Change<F> {
    Create(PathBuf, Node<F>),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, F),
}

type Map<F> = BTreeMap<PathBuf, Node<F>>;

impl<F: Clone> Change<F> {
    fn names(&self) -> impl Iterator<Item = &PathBuf> {
        let (first, second) = match self {
            Change::Create(name, _) | Change::Remove(name) => (name, None),
            Change::Rename(from, to, _) => (from, Some(to)),
        };
        std::iter::once(first).chain(second)
    }

    fn apply(&self, map: &mut Map<F>) {
        match self {
            Change::Create(name, node) => {
                map.insert(name.clone(), node.clone());
            }
            Change::Remove(name) => {
                map.remove(name);
            }
            Change::Rename(from, to, file) => {
                map.remove(from);
                map.insert(to.clone(), Node::File(file.clone()));
            }
        }
    }
}

/// The tree of names. `F` is a file.
#[derive(Debug)]
pub(super) struct Names<F> {
    current: Map<F>,
    durable: Map<F>,
    /// Oldest first.
    unsynced: Vec<Change<F>>,
}

impl<F: Clone> Names<F> {
    /// A tree of `names`, all of them durable.
    pub(super) fn new(names: Map<F>) -> Self {
        Names { durable: names.clone(), current: names, unsynced: Vec::new() }
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.current.contains_key(path)
    }

    pub(super) fn file(&self, path: &Path) -> Option<F> {
        match self.current.get(path) {
            Some(Node::File(file)) => Some(file.clone()),
            _ => None,
        }
    }

    /// All files as they are now.
    pub(super) fn files(&self) -> impl Iterator<Item = (&PathBuf, &F)> {
        self.current.iter().filter_map(|(path, node)| match node {
            Node::File(file) => Some((path, file)),
            Node::Dir => None,
        })
    }

    /// The names in a folder, sorted.
    pub(super) fn list(&self, dir: &Path) -> Vec<PathBuf> {
        let inside = self.current.keys().filter(|path| path.parent() == Some(dir));
        inside.filter_map(|path| path.file_name().map(PathBuf::from)).collect()
    }

    pub(super) fn create(&mut self, path: &Path, node: Node<F>) -> Result<(), ErrorKind> {
        if self.has(path) {
            return Err(ErrorKind::AlreadyExists);
        }
        if !has_parent(&self.current, path) {
            return Err(ErrorKind::NotFound);
        }
        self.change(Change::Create(path.to_path_buf(), node));
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> Result<(), ErrorKind> {
        self.file(path).ok_or(ErrorKind::NotFound)?;
        self.change(Change::Remove(path.to_path_buf()));
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), ErrorKind> {
        let file = self.file(from).ok_or(ErrorKind::NotFound)?;
        self.change(Change::Rename(from.to_path_buf(), to.to_path_buf(), file));
        Ok(())
    }

    fn change(&mut self, change: Change<F>) {
        change.apply(&mut self.current);
        self.unsynced.push(change);
    }

    /// Makes the changes in `dir` durable.
    pub(super) fn sync_dir(&mut self, dir: &Path) {
        let durable = &mut self.durable;
        self.unsynced.retain(|change| {
            let inside = change.names().any(|name| name.parent() == Some(dir));
            if inside {
                change.apply(durable);
            }
            !inside
        });
    }

    pub(super) fn sync_all(&mut self) {
        let durable = &mut self.durable;
        self.unsynced.drain(..).for_each(|change| change.apply(durable));
    }

    /// The names after a crash: `keep` decides for each change. What follows a lost change of the same name
    /// is lost, too, and so is everything in a lost folder.
    pub(super) fn survive(&self, mut keep: impl FnMut() -> bool) -> Map<F> {
        let mut map = self.durable.clone();
        let mut lost = BTreeSet::new();
        for change in &self.unsynced {
            if keep() && !change.names().any(|name| lost.contains(name)) {
                change.apply(&mut map);
            } else {
                lost.extend(change.names());
            }
        }
        let mut found = Map::new();
        // A folder sorts before what is in it.
        for (path, node) in map {
            if has_parent(&found, &path) {
                found.insert(path, node);
            }
        }
        found
    }
}

/// A name may be in a folder that was created, or at the top.
fn has_parent<F>(map: &Map<F>, path: &Path) -> bool {
    match path.parent() {
        None => true,
        Some(dir) => {
            dir.as_os_str().is_empty() || dir.parent().is_none() || matches!(map.get(dir), Some(Node::Dir))
        }
    }
}
