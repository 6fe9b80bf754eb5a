//! Which accounts' privileges count for an account, by way of its roles.

use std::collections::HashSet;

use crate::account::Account;
use crate::account_directory::Directory;
use crate::privilege::Grants;
use crate::roles::RoleName;

/// A role and the account that it is granted to.
#[derive(Debug)]
pub(crate) struct Edge<'d> {
    pub(crate) grantee: &'d Account,
    pub(crate) role: &'d RoleName,
    pub(crate) with_admin: bool,
}

/// Whether `role` is granted to `account` itself, or to everybody, and there is such an account.
pub(super) fn is_granted(directory: &Directory, account: &Account, role: &RoleName) -> bool {
    (account.granted(role).is_some() || directory.mandatory().contains(role))
        && directory.role(role).is_some()
}

/// Every role that is granted to `account` itself or to everybody, in order of the names.
pub(super) fn all_granted(directory: &Directory, account: &Account) -> Vec<RoleName> {
    let own = account.roles.iter().map(|granted| &granted.role);
    let existing = directory.mandatory().iter().filter(|role| directory.role(role).is_some());
    let mut all: Vec<_> = own.chain(existing).cloned().collect();
    all.sort();
    all.dedup();
    all
}

/// The accounts that `roles` name and those of the roles granted to them, however many steps away, each once.
/// Cost: the number of those accounts and of their roles.
pub(super) fn reachable<'d>(
    directory: &'d Directory,
    roles: impl IntoIterator<Item = &'d RoleName>,
) -> Vec<&'d Account> {
    let mut seen = HashSet::new();
    let mut found: Vec<&Account> = Vec::new();
    let mut waiting: Vec<&RoleName> = roles.into_iter().collect();
    while let Some(role) = waiting.pop() {
        if !seen.insert(role) {
            continue;
        }
        if let Some(account) = directory.role(role) {
            found.push(account);
            waiting.extend(account.roles.iter().map(|granted| &granted.role));
        }
    }
    found
}

/// The accounts whose privileges count for `account` while the roles `active` are: itself is the first.
pub(super) fn members<'d>(
    directory: &'d Directory,
    account: &'d Account,
    active: &'d [RoleName],
) -> Vec<&'d Account> {
    let granted = active.iter().filter(|role| is_granted(directory, account, role));
    let mut members = vec![account];
    members.extend(reachable(directory, granted));
    members
}

/// The active roles that are granted to the account `'user'@'host'`, and the roles of these, by name.
pub(crate) fn enabled<'d>(
    directory: &'d Directory,
    (user, host): (&str, &str),
    active: &'d [RoleName],
) -> Vec<&'d Account> {
    let Some(account) = directory.find(user, host) else { return Vec::new() };
    let mut roles = members(directory, account, active).split_off(1);
    roles.sort_by_key(|role| (&role.user, &role.host));
    roles
}

/// Returns the merged privileges of the account `name` and its active roles; none if the account is gone.
pub(crate) fn image(directory: &Directory, name: &RoleName, active: &[RoleName]) -> Grants {
    directory.role(name).map_or_else(Grants::default, |account| {
        Grants::merged(members(directory, account, active).into_iter().map(|member| &*member.grants))
    })
}

/// As [`image`], of `account`.
///
/// # Errors
/// The first of the roles that is not granted to it.
pub(crate) fn granted_image(
    directory: &Directory,
    account: &Account,
    roles: &[RoleName],
) -> Result<Grants, RoleName> {
    if let Some(missing) = roles.iter().find(|role| !is_granted(directory, account, role)) {
        return Err(missing.clone());
    }
    Ok(image(directory, &account.role_name(), roles))
}

/// Every grant of a role by which `account` may come to privileges, those to itself first. Grants to
/// everybody count as grants to itself.
pub(crate) fn edges_from<'d>(directory: &'d Directory, account: &'d Account) -> Vec<Edge<'d>> {
    let own = |account: &'d Account| {
        let edge = |granted: &'d super::GrantedRole| Edge {
            grantee: account,
            role: &granted.role,
            with_admin: granted.with_admin,
        };
        account.roles.iter().map(edge)
    };
    let is_mandatory_alone =
        |role: &&RoleName| account.granted(role).is_none() && directory.role(role).is_some();
    let mandatory = directory.mandatory().iter().filter(is_mandatory_alone);
    let mut edges: Vec<_> =
        mandatory.map(|role| Edge { grantee: account, role, with_admin: false }).collect();
    edges.extend(own(account));
    let roles: Vec<_> = edges.iter().map(|edge| edge.role).collect();
    let mut members = reachable(directory, roles);
    members.sort_by_key(|member| (&member.user, &member.host));
    edges.extend(members.into_iter().flat_map(own));
    edges
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::prng::Prng;
    use wire::auth::{AuthPlugin, Credential};

    use super::*;
    use crate::privilege::Privileges;
    use crate::roles::GrantedRole;

    fn name(user: String) -> RoleName {
        RoleName { user, host: "%".to_owned() }
    }

    /// Accounts 0.., each granted the next one and the one after it.
    fn ladder(steps: usize) -> Directory {
        let account = |n: usize| {
            let credential = Credential::empty(AuthPlugin::CachingSha2);
            let mut account = Account::new(n.to_string(), "%".to_owned(), credential);
            let next = (n + 1..steps.min(n + 3)).map(|n| name(n.to_string()));
            account.roles = next.map(|role| GrantedRole { role, with_admin: false }).collect();
            account
        };
        Directory::new((0..steps).map(account).collect())
    }

    #[test]
    fn long_chains_take_no_stack_and_each_account_once() {
        let directory = ladder(20_000);
        let first = directory.find("0", "%").unwrap();
        let active = [name("1".to_owned())];
        assert_eq!(members(&directory, first, &active).len(), 20_000);
        assert_eq!(members(&directory, first, &[]).len(), 1);
        assert_eq!(members(&directory, first, &[name("9".to_owned())]).len(), 1, "it is not granted itself");
        assert_eq!(edges_from(&directory, first).len(), 2 * 20_000 - 3);
    }

    #[test]
    fn a_mandatory_role_counts_if_there_is_such_an_account() {
        let mut directory = ladder(3);
        directory.set_mandatory(vec![name("1".to_owned()), name("missing".to_owned())]);
        let last = directory.find("2", "%").unwrap();
        assert_eq!(all_granted(&directory, last), [name("1".to_owned())]);
        assert!(!is_granted(&directory, last, &name("missing".to_owned())));
        assert!(granted_image(&directory, last, &[name("0".to_owned())]).is_err());
    }

    /// Accounts of which each may be granted any later one, and privileges on some of four tables.
    fn random(prng: &mut Prng, accounts: usize) -> Directory {
        let account = |n: usize, prng: &mut Prng| {
            let mut account =
                Account::new(n.to_string(), "%".to_owned(), Credential::empty(AuthPlugin::CachingSha2));
            for role in n + 1..accounts {
                if prng.below(6) == 0 {
                    let role = name(role.to_string());
                    account.roles.push(GrantedRole { role, with_admin: false });
                }
            }
            account.roles.sort_by(|a, b| a.role.cmp(&b.role));
            let mut grants = Grants::default();
            let all = [Privileges::SELECT, Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE];
            let any = |prng: &mut Prng| all[prng.below(4) as usize];
            if prng.below(5) == 0 {
                grants.global = any(prng);
            }
            grants.set_table("d", &prng.below(4).to_string(), any(prng));
            grants.set_schema(["d", "d%", "_", "e"][prng.below(4) as usize], any(prng));
            account.grants = Arc::new(grants);
            account
        };
        Directory::new((0..accounts).map(|n| account(n, prng)).collect())
    }

    /// Whether `to` is `from` or granted to it, by however many steps.
    fn leads(directory: &Directory, from: &RoleName, to: &RoleName) -> bool {
        let account = directory.role(from).unwrap();
        from == to || account.roles.iter().any(|granted| leads(directory, &granted.role, to))
    }

    #[test]
    fn an_image_has_what_its_members_have_one_by_one() {
        for seed in 0..200 {
            let prng = &mut Prng::new(seed);
            let directory = random(prng, 12);
            let own = &directory.all()[prng.below(12) as usize];
            let mut active: Vec<_> = (0..12).map(|n| name(n.to_string())).collect();
            active.retain(|_| prng.below(2) == 0);
            active.sort();
            let image = image(&directory, &own.role_name(), &active);
            let is_active = |role: &RoleName| active.contains(role) && own.granted(role).is_some();
            let counts = |account: &&Arc<Account>| {
                let role = account.role_name();
                account.user == own.user
                    || own.roles.iter().any(|g| is_active(&g.role) && leads(&directory, &g.role, &role))
            };
            let members: Vec<_> = directory.all().iter().filter(counts).collect();
            let together = |of: &dyn Fn(&Grants) -> Privileges| {
                members.iter().fold(Privileges::NONE, |all, member| all | of(&member.grants))
            };
            assert_eq!(image.global, together(&|grants| grants.global), "{seed}");
            for table in ["0", "1", "2", "3"] {
                assert_eq!(image.on_table("d", table), together(&|g| g.on_table("d", table)), "{seed}");
            }
            for pattern in ["d", "d%", "_", "e"] {
                let granted = together(&|g| g.of_pattern(pattern).unwrap_or_default());
                assert_eq!(image.of_pattern(pattern).unwrap_or_default(), granted, "{seed}");
            }
            let exact = together(&|g| g.of_pattern("d").unwrap_or_default());
            let all =
                together(&|g| g.of_pattern("d%").unwrap_or_default() | g.of_pattern("_").unwrap_or_default());
            assert_eq!(
                image.on_schema("d", crate::privilege::SchemaNames::Patterns),
                if exact.is_empty() { all } else { exact },
                "{seed}"
            );
        }
    }
}
