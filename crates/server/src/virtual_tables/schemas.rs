//! The schemas of virtual tables.

/// The schemas, in order.
pub(crate) const SCHEMAS: [&str; 3] = [INFORMATION, MYSQL, PERFORMANCE];
pub(crate) const INFORMATION: &str = "information_schema";
pub(super) const MYSQL: &str = "mysql";
pub(super) const PERFORMANCE: &str = "performance_schema";

/// The schema that `name` is meant to be. Only the name of `information_schema` may be written in any case.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    // Every name of a statement's tables is asked about: their lengths decide nearly always.
    const LONG: usize = INFORMATION.len();
    const SHORT: usize = MYSQL.len();
    match name.len() {
        LONG if name.eq_ignore_ascii_case(INFORMATION) => Some(INFORMATION),
        LONG if name == PERFORMANCE => Some(PERFORMANCE),
        SHORT if name == MYSQL => Some(MYSQL),
        _ => None,
    }
}

const _: () = assert!(PERFORMANCE.len() == INFORMATION.len());

/// Whether `schema` has the tables of accounts. In many ways they are shown as those of the engine are.
pub(crate) fn is_of_accounts(schema: &str) -> bool {
    schema == MYSQL
}

/// What SHOW FULL TABLES calls the tables of `schema`.
pub(crate) fn kind(schema: &str) -> &'static str {
    if schema == INFORMATION { "SYSTEM VIEW" } else { "BASE TABLE" }
}

/// Whether everybody may read what is in `schema`, as far as its tables do not say otherwise.
pub(crate) fn is_everybodys(schema: &str) -> bool {
    schema == INFORMATION
}
