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

    /// Databases and their restrictions, in order of the names.
    pub(crate) fn list(&self) -> &[(String, Privileges)] {
        &self.list
    }

    /// The restrictions of `schema`.
    pub(crate) fn on(&self, schema: &str) -> Privileges {
        self.place(schema).map_or(Privileges::NONE, |at| self.list[at].1)
    }

    fn place(&self, schema: &str) -> Result<usize, usize> {
        self.list.binary_search_by(|(known, _)| (**known).cmp(schema))
    }

    /// Sets the restrictions of `schema`.
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

    /// Lifts restrictions by what is granted on databases, which that uses up.
    pub(super) fn lift_by(&mut self, schemas: &mut [(String, Privileges)]) {
        for (schema, granted) in schemas {
            if let Ok(at) = self.place(schema) {
                let restricted = &mut self.list[at].1;
                (*restricted, *granted) = (*restricted - *granted, *granted - *restricted);
            }
        }
        self.list.retain(|(_, set)| !set.is_empty());
    }

    /// The restrictions of the union of `own` with these restrictions and `others` with `other`: privileges
    /// that neither allows. Cost: one pass over both.
    pub(super) fn joined(&self, own: Privileges, other: &Restrictions, others: Privileges) -> Self {
        let mut list = Vec::new();
        let (mut left, mut right) = (&*self.list, &*other.list);
        while let Some(schema) = first_of(left, right) {
            let allowed = (own - take_from(&mut left, schema)) | (others - take_from(&mut right, schema));
            let set = (own | others) - allowed;
            if !set.is_empty() {
                list.push((schema.clone(), set));
            }
        }
        Restrictions { list }
    }

    /// The database that keeps an account with these restrictions from taking privileges on everything from
    /// one with the restrictions `other`. `taken`: which privileges; `None`: all.
    ///
    /// From an account without restrictions MySQL refuses to take what one database leaves out together, even
    /// if that is nothing.
    pub(super) fn against_taking(&self, taken: Option<Privileges>, other: &Restrictions) -> Option<&str> {
        let is_against = |(schema, here): &(String, Privileges)| match taken {
            None => !other.on(schema).has(*here),
            Some(taken) if other.is_empty() => here.has(taken),
            Some(taken) => !other.on(schema).has(*here & taken),
        };
        self.list.iter().find(|entry| is_against(entry)).map(|(schema, _)| &**schema)
    }
}

/// The first database of both lists.
fn first_of<'l>(left: &'l [(String, Privileges)], right: &'l [(String, Privileges)]) -> Option<&'l String> {
    left.first().into_iter().chain(right.first()).map(|(schema, _)| schema).min()
}

/// The restrictions of `schema`, if `list` begins with it; then removes it from `list`.
fn take_from(list: &mut &[(String, Privileges)], schema: &str) -> Privileges {
    match list.split_first() {
        Some(((first, set), rest)) if first == schema => {
            *list = rest;
            *set
        }
        _ => Privileges::NONE,
    }
}

#[cfg(test)]
mod tests {
    use base::prng::Prng;

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

    /// What two lists together leave out is looked up for each database here.
    #[test]
    fn lists_of_any_databases_are_joined() {
        let mut prng = Prng::new(3);
        let sets = [Privileges::SELECT, Privileges::INSERT, Privileges::SELECT | Privileges::INSERT];
        let some = |prng: &mut Prng| {
            let mut some = Restrictions::default();
            for _ in 0..prng.below(6) {
                some.set(&format!("d{}", prng.below(8)), sets[prng.below(3) as usize]);
            }
            some
        };
        for _ in 0..1000 {
            let (a, b) = (some(&mut prng), some(&mut prng));
            let (own, others) = (sets[prng.below(3) as usize], sets[prng.below(3) as usize]);
            let mut expected = Restrictions::default();
            for (schema, _) in a.list().iter().chain(b.list()) {
                let allowed = (own - a.on(schema)) | (others - b.on(schema));
                expected.set(schema, (own | others) - allowed);
            }
            assert_eq!(a.joined(own, &b, others), expected);
        }
    }

    #[test]
    fn who_is_restricted_takes_from_who_is_restricted_as_much() {
        let (select, insert) = (Privileges::SELECT, Privileges::INSERT);
        let of = |list: &[(&str, Privileges)]| {
            let mut of = Restrictions::default();
            for (schema, set) in list {
                of.set(schema, *set);
            }
            of
        };
        let none = Restrictions::default();
        let by = of(&[("d", select | insert)]);
        assert_eq!(none.against_taking(None, &by), None);
        assert_eq!(by.against_taking(Some(select), &none), Some("d"));
        assert_eq!(by.against_taking(Some(select | insert), &none), Some("d"));
        assert_eq!(by.against_taking(Some(select | Privileges::UPDATE), &none), None);
        assert_eq!(by.against_taking(Some(Privileges::NONE), &none), Some("d"));
        let less = of(&[("d", select), ("e", insert)]);
        assert_eq!(by.against_taking(Some(select | Privileges::UPDATE), &less), None);
        assert_eq!(by.against_taking(Some(select | insert), &less), Some("d"));
        assert_eq!(by.against_taking(Some(Privileges::NONE), &less), None);
        assert_eq!(by.against_taking(None, &less), Some("d"));
        assert_eq!(by.against_taking(None, &by), None);
        assert_eq!(less.against_taking(Some(insert), &by), Some("e"));
    }
}
