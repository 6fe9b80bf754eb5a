//! Partial revokes: databases that privileges on everything leave out.

use super::set::Privileges;

/// What privileges on everything do not allow in which databases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restrictions {
    /// In order of the names. None is without privileges.
    list: Vec<(String, Privileges)>,
}

impl Restrictions {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Databases and what they are left out of, in order of the names.
    pub(crate) fn list(&self) -> &[(String, Privileges)] {
        &self.list
    }

    /// What `schema` is left out of.
    pub(crate) fn on(&self, schema: &str) -> Privileges {
        self.place(schema).map_or(Privileges::NONE, |at| self.list[at].1)
    }

    fn place(&self, schema: &str) -> Result<usize, usize> {
        self.list.binary_search_by(|(known, _)| (**known).cmp(schema))
    }

    /// Sets what `schema` is left out of.
    pub(super) fn set(&mut self, schema: &str, set: Privileges) {
        match (self.place(schema), set.is_empty()) {
            (Ok(at), true) => drop(self.list.remove(at)),
            (Ok(at), false) => self.list[at].1 = set,
            (Err(_), true) => {}
            (Err(at), false) => self.list.insert(at, (schema.to_owned(), set)),
        }
    }

    /// Forgets what is said of privileges other than `kept`.
    pub(super) fn keep(&mut self, kept: Privileges) {
        self.list.iter_mut().for_each(|(_, set)| *set = *set & kept);
        self.list.retain(|(_, set)| !set.is_empty());
    }

    /// What is left out of the privileges `own` with these restrictions and `others` with `other` together:
    /// what neither of both allows.
    pub(super) fn joined(&self, own: Privileges, other: &Restrictions, others: Privileges) -> Self {
        let mut joined = Restrictions::default();
        for (schema, _) in self.list.iter().chain(&other.list) {
            let allowed = (own - self.on(schema)) | (others - other.on(schema));
            joined.set(schema, (own | others) - allowed);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_allows_both_together_allow() {
        let (select, insert) = (Privileges::SELECT, Privileges::INSERT);
        let (mut a, mut b) = (Restrictions::default(), Restrictions::default());
        a.set("d", select | insert);
        a.set("e", select);
        b.set("d", select);
        let joined = a.joined(select | insert, &b, select | insert);
        assert_eq!(joined.list(), &[("d".to_owned(), select)]);
        // Who does not have it does not allow it.
        assert_eq!(a.joined(select | insert, &b, select).on("d"), select | insert);
        assert_eq!(a.joined(select | insert, &Restrictions::default(), Privileges::NONE), a);
        a.keep(insert);
        assert_eq!(a.list(), &[("d".to_owned(), insert)]);
    }
}
