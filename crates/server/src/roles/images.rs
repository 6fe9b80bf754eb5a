//! Privilege images that sessions share: sessions of one account with the same active roles have the same.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::name::RoleName;
use crate::privilege::Grants;

/// Most images that are known at once.
const IMAGES_MAX: usize = 4096;

/// An account and its active roles.
pub(crate) type ImageKey = (RoleName, Box<[RoleName]>);

/// The images made since accounts changed last, as long as a session has them.
#[derive(Debug, Default)]
pub(crate) struct Images {
    /// The epoch of the accounts.
    epoch: u64,
    known: HashMap<ImageKey, Weak<Grants>>,
}

impl Images {
    /// The image of `key`, if one was made in `epoch`.
    pub(crate) fn find(&self, epoch: u64, key: &ImageKey) -> Option<Arc<Grants>> {
        if self.epoch == epoch { self.known.get(key)?.upgrade() } else { None }
    }

    /// Keeps an image that was made of the accounts of `epoch` or of later ones.
    pub(crate) fn keep(&mut self, epoch: u64, key: ImageKey, image: &Arc<Grants>) {
        if epoch < self.epoch {
            return;
        }
        if epoch > self.epoch || self.known.len() >= IMAGES_MAX {
            self.known.clear();
        }
        self.epoch = epoch;
        self.known.insert(key, Arc::downgrade(image));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_of_one_epoch_and_bounded() {
        let key = |n: usize| {
            let name = RoleName { user: n.to_string(), host: "%".to_owned() };
            (name.clone(), Box::from([name]))
        };
        let mut images = Images::default();
        let image = Arc::new(Grants::default());
        images.keep(2, key(0), &image);
        assert!(images.find(2, &key(0)).is_some_and(|found| Arc::ptr_eq(&found, &image)));
        assert!(images.find(3, &key(0)).is_none() && images.find(2, &key(1)).is_none());
        images.keep(1, key(1), &image);
        assert!(images.find(1, &key(1)).is_none(), "its accounts have changed since");
        images.keep(3, key(1), &image);
        assert!(images.find(2, &key(0)).is_none());
        (0..2 * IMAGES_MAX).for_each(|n| images.keep(3, key(n), &image));
        assert!(images.known.len() <= IMAGES_MAX);
        drop(image);
        assert!(images.find(3, &key(2 * IMAGES_MAX - 1)).is_none(), "no session has it");
    }
}
