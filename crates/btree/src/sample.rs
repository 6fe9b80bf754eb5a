//! Looking at leaves by chance.

use base::prng::Prng;
use page::PageRef;
use space::{Result, Store};

use crate::links::{child_shared, root_shared};
use crate::tree::Tree;

impl Tree {
    /// Calls `look` with a leaf that `random` chooses: at each level any child is as likely as another, so a
    /// leaf whose parents have few children is likelier than others. The leaf is latched meanwhile: take no
    /// other latch.
    /// # Errors  A page cannot be read.
    pub fn sample_leaf(
        &self,
        store: &Store,
        random: &mut Prng,
        look: &mut dyn FnMut(PageRef<'_>),
    ) -> Result<()> {
        let mut guard = root_shared(store, self.root, self.index)?;
        while !guard.page().is_leaf() {
            let page = guard.page();
            let slot = random.below(page.count() as u64) as usize;
            guard = child_shared(store, page, slot)?;
        }
        look(guard.page());
        Ok(())
    }
}
