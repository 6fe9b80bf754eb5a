//! Roles: accounts that are granted to other accounts.
//!
//! An account keeps the roles that it is granted, and those of them that its logins activate, with itself
//! (`engine_accounts`). Roles may be granted to roles; no chain of grants is a cycle ([`grant`]).
//! Every account has `mandatory_roles`.
//!
//! A session has a list of active roles ([`activate`]). Its privileges are its account's and those of every
//! active role that is granted to the account still, with all that is granted to these roles ([`graph`]).
//! They are merged into one image when SET ROLE changes the list, or some account has changed since; checks
//! read the image alone. Sessions of one account with the same active roles share it ([`images`]).

mod activate;
mod change;
mod grant;
mod graph;
mod images;
mod mandatory;
mod name;

pub(crate) use activate::{at_login, named, set, set_default};
pub(crate) use change::{create, ensure_renamable, forget};
pub(crate) use grant::{grant, grant_defaults, revoke};
pub(crate) use graph::{Edge, edges_from, enabled, granted_image, image};
pub(crate) use images::{ImageKey, Images};
pub(crate) use mandatory::{changed as mandatory_changed, parsed as parsed_mandatory, refuse_setting};
pub use name::{GrantedRole, RoleName};
pub(crate) use name::{decode_granted, decode_names, encode_granted, encode_names, listed};
