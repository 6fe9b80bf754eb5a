//! How two answers to the same statement differ.

use super::order;
use super::reply::{Column, Outcome, Prepared, Reply, type_name};

/// What kind of difference it is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Ratchet broke the connection or did not answer in time.
    Lost,
    /// Other rows.
    Rows,
    /// The same rows in another order than ORDER BY asks for.
    Order,
    /// A number of affected rows.
    Affected,
    /// A generated number.
    InsertId,
    /// Ratchet fails where MySQL does not.
    Refused,
    /// MySQL fails where Ratchet does not.
    Taken,
    /// Both fail, with different numbers or states.
    ErrorNumber,
    /// Both fail with the same number and different texts.
    ErrorText,
    /// Rows of SHOW WARNINGS.
    Warnings,
    /// What the OK packet says of a change.
    Info,
    /// Names of columns.
    Names,
    /// Types of columns.
    Types,
    /// Other parts of column definitions, or definitions of parameters.
    Metadata,
    /// Changes of the session's state.
    Trackers,
    /// One of the servers waits for another session.
    Waits,
    /// MySQL broke the connection. No fault of Ratchet.
    MysqlLost,
    /// Rows that ORDER BY does not distinguish have another order. No fault.
    Ties,
    /// Ratchet does not support the statement yet. No fault.
    NotSupported,
}

impl Kind {
    /// Whether a difference of this kind needs an explanation.
    pub(crate) fn is_fault(self) -> bool {
        !matches!(self, Kind::MysqlLost | Kind::Ties | Kind::NotSupported)
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What kind it is.
    pub kind: Kind,
    /// What exactly differs, where a few words say that; differences of one cause have the same words.
    pub detail: String,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// All of the column definitions, not only names and types.
    pub metadata: bool,
    /// Changes of the session's state, which both servers send.
    pub trackers: bool,
}

/// Errors that say that a feature, character set or collation is not there yet.
const NOT_SUPPORTED: [u16; 3] = [1235, 1115, 1273];

/// Returns how `ours` differs from `theirs`, as answers to `sql`.
pub(crate) fn replies(sql: &str, ours: &Reply, theirs: &Reply, scope: Scope) -> Vec<Difference> {
    let mut found = Differences(Vec::new());
    match (&ours.outcome, &theirs.outcome) {
        (Outcome::Error { number, state, text }, Outcome::Error { number: n, state: s, text: t }) => {
            if NOT_SUPPORTED.contains(number) && number != n {
                found.add(Kind::NotSupported, text.clone());
            } else if (number, state) != (n, s) {
                found.add(Kind::ErrorNumber, format!("{number} ({state}) instead of {n} ({s})"));
            } else if text != t {
                found.add(Kind::ErrorText, number.to_string());
            }
            if !found.0.is_empty() {
                return found.0;
            }
        }
        (Outcome::Error { number, text, .. }, _) => {
            let kind = if NOT_SUPPORTED.contains(number) { Kind::NotSupported } else { Kind::Refused };
            found.add(kind, if kind == Kind::Refused { number.to_string() } else { text.clone() });
            return found.0;
        }
        (_, Outcome::Error { number, .. }) => {
            found.add(Kind::Taken, number.to_string());
            return found.0;
        }
        (Outcome::Rows { columns: c, rows: r }, Outcome::Rows { columns, rows }) => {
            found.columns(c, columns, scope);
            if let Some((kind, detail)) = order::difference(sql, columns, r, rows) {
                found.add(kind, detail);
            }
        }
        (
            Outcome::Done { affected: a, insert_id: id, info: i },
            Outcome::Done { affected, insert_id, info },
        ) => {
            found.add_if(a != affected, Kind::Affected, "");
            found.add_if(id != insert_id, Kind::InsertId, "");
            // Another number of warnings is told once, by the warnings.
            let counts_alone =
                ours.warnings != theirs.warnings && without_warnings(i) == without_warnings(info);
            found.add_if(i != info && !counts_alone, Kind::Info, "");
        }
        _ => found.add(Kind::Rows, "a result set on one side alone".to_owned()),
    }
    found.warnings(ours, theirs);
    found.add_if(scope.trackers && sorted(&ours.tracked) != sorted(&theirs.tracked), Kind::Trackers, "");
    found.0
}

/// Returns how the answers to a preparation differ.
pub(crate) fn preparations(
    ours: &Result<Prepared, Reply>,
    theirs: &Result<Prepared, Reply>,
    scope: Scope,
) -> Vec<Difference> {
    let mut found = Differences(Vec::new());
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            found.add_if(
                ours.parameters.len() != theirs.parameters.len(),
                Kind::Types,
                "number of parameters",
            );
            if scope.metadata {
                found.columns(&ours.columns, &theirs.columns, scope);
                found.columns(&ours.parameters, &theirs.parameters, scope);
            }
        }
        (Err(ours), Err(theirs)) => return replies("", ours, theirs, scope),
        (Err(ours), Ok(_)) if NOT_SUPPORTED.contains(&ours.error_number()) => {
            found.add(Kind::NotSupported, ours.lines().concat());
        }
        (Err(ours), Ok(_)) => found.add(Kind::Refused, format!("{} at PREPARE", ours.error_number())),
        (Ok(_), Err(theirs)) => found.add(Kind::Taken, format!("{} at PREPARE", theirs.error_number())),
    }
    found.0
}

/// The text of an OK packet up to the number of warnings.
fn without_warnings(info: &str) -> &str {
    info.rsplit_once("Warnings: ").map_or(info, |(before, _)| before)
}

fn sorted(lines: &[String]) -> Vec<&String> {
    let mut lines: Vec<&String> = lines.iter().collect();
    lines.sort();
    lines
}

struct Differences(Vec<Difference>);

impl Differences {
    #[cold]
    fn add(&mut self, kind: Kind, detail: String) {
        let difference = Difference { kind, detail };
        if !self.0.contains(&difference) {
            self.0.push(difference);
        }
    }

    fn add_if(&mut self, differs: bool, kind: Kind, detail: &str) {
        if differs {
            self.add(kind, detail.to_owned());
        }
    }

    fn columns(&mut self, ours: &[Column], theirs: &[Column], scope: Scope) {
        if ours.len() != theirs.len() {
            return self.add(Kind::Names, "number of columns".to_owned());
        }
        for (our, their) in ours.iter().zip(theirs) {
            self.add_if(our.name != their.name, Kind::Names, "");
            if our.code != their.code {
                let detail = format!("{} instead of {}", type_name(our.code), type_name(their.code));
                self.add(Kind::Types, detail);
            }
            if scope.metadata {
                self.definition(our, their);
            }
        }
    }

    fn definition(&mut self, ours: &Column, theirs: &Column) {
        let flags = ours.flags ^ theirs.flags;
        if flags != 0 {
            self.add(Kind::Metadata, format!("flags {flags:#06x}"));
        }
        self.add_if(ours.length != theirs.length, Kind::Metadata, "length");
        self.add_if(ours.decimals != theirs.decimals, Kind::Metadata, "decimals");
        self.add_if(ours.collation != theirs.collation, Kind::Metadata, "collation");
        self.add_if(ours.original_name != theirs.original_name, Kind::Metadata, "original name");
        self.add_if(ours.table != theirs.table, Kind::Metadata, "table");
        self.add_if(ours.original_table != theirs.original_table, Kind::Metadata, "original table");
        self.add_if(ours.schema != theirs.schema, Kind::Metadata, "schema");
    }

    fn warnings(&mut self, ours: &Reply, theirs: &Reply) {
        let (left, right) = (sorted(&ours.warnings), sorted(&theirs.warnings));
        if left != right {
            let (more, less) = (beyond(&left, &right), beyond(&right, &left));
            let is_known =
                |lines: &[&String], others: &[&String]| lines.iter().all(|line| others.contains(line));
            let detail = if is_known(&more, &right) && is_known(&less, &left) {
                format!("another number of the same warnings: {}", numbers_of([more, less].concat()))
            } else {
                match (numbers_of(more), numbers_of(less)) {
                    (more, less) if less.is_empty() => format!("too many: {more}"),
                    (more, less) if more.is_empty() => format!("missing: {less}"),
                    (more, less) => format!("{more} instead of {less}"),
                }
            };
            self.add(Kind::Warnings, detail);
        } else if ours.warning_count != theirs.warning_count {
            self.add(Kind::Warnings, "warning count".to_owned());
        } else if ours.warnings != theirs.warnings && matches!(theirs.outcome, Outcome::Done { .. }) {
            // The order of a query's warnings is that of its rows.
            self.add(Kind::Warnings, "another order".to_owned());
        }
    }
}

/// Returns the `lines` that `others` has not as often. Both are sorted.
fn beyond<'w>(lines: &[&'w String], others: &[&'w String]) -> Vec<&'w String> {
    let mut rest = others.iter().peekable();
    let mut found = Vec::new();
    for line in lines {
        while rest.next_if(|other| *other < line).is_some() {}
        if rest.next_if(|other| *other == line).is_none() {
            found.push(*line);
        }
    }
    found
}

/// Returns the levels and numbers of the warnings `lines`, each once.
fn numbers_of(lines: Vec<&String>) -> String {
    let mut numbers: Vec<&str> = lines.into_iter().filter_map(|line| line.split(':').next()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: u16, text: &str) -> Reply {
        reply(Outcome::Error { number, state: "HY000".to_owned(), text: text.to_owned() })
    }

    fn reply(outcome: Outcome) -> Reply {
        Reply { outcome, warning_count: 0, warnings: Vec::new(), tracked: Vec::new() }
    }

    fn done(affected: u64, warnings: &[&str]) -> Reply {
        let warnings: Vec<String> = warnings.iter().map(|w| (*w).to_owned()).collect();
        let warning_count = warnings.len() as u16;
        Reply {
            warning_count,
            warnings,
            ..reply(Outcome::Done { affected, insert_id: 0, info: String::new() })
        }
    }

    fn kinds(ours: &Reply, theirs: &Reply) -> Vec<(Kind, String)> {
        let found = replies("", ours, theirs, Scope::default());
        found.into_iter().map(|d| (d.kind, d.detail)).collect()
    }

    #[test]
    fn errors_differ_by_number_before_text() {
        assert_eq!(kinds(&error(1054, "a"), &error(1054, "a")), []);
        assert_eq!(kinds(&error(1054, "a"), &error(1054, "b")), [(Kind::ErrorText, "1054".to_owned())]);
        let found = kinds(&error(1064, "a"), &error(1054, "b"));
        assert_eq!(found, [(Kind::ErrorNumber, "1064 (HY000) instead of 1054 (HY000)".to_owned())]);
        assert_eq!(kinds(&error(1054, "a"), &done(0, &[])), [(Kind::Refused, "1054".to_owned())]);
        assert_eq!(kinds(&done(0, &[]), &error(1054, "a")), [(Kind::Taken, "1054".to_owned())]);
        assert_eq!(kinds(&error(1235, "a"), &done(0, &[])), [(Kind::NotSupported, "a".to_owned())]);
    }

    #[test]
    fn warnings_differ_by_what_is_missing() {
        let (none, one) = (done(1, &[]), done(1, &["warning 1292: x"]));
        assert_eq!(kinds(&none, &one), [(Kind::Warnings, "missing: warning 1292".to_owned())]);
        assert_eq!(kinds(&one, &none), [(Kind::Warnings, "too many: warning 1292".to_owned())]);
        let (few, many) = (&["warning 1052: a", "warning 1292: x"], &["warning 1052: a"; 2]);
        let many = [many.as_slice(), &["warning 1292: x"]].concat();
        let found = kinds(&done(1, few), &done(1, &many));
        let detail = "another number of the same warnings: warning 1052";
        assert_eq!(found, [(Kind::Warnings, detail.to_owned())]);
        let counted = |warnings: &[&str], info: &str| {
            let mut reply = done(1, warnings);
            reply.outcome = Outcome::Done { affected: 1, insert_id: 0, info: info.to_owned() };
            reply
        };
        let found = kinds(&counted(&[], "Changed: 1  Warnings: 0"), &counted(few, "Changed: 1  Warnings: 2"));
        assert_eq!(found, [(Kind::Warnings, "missing: warning 1052, warning 1292".to_owned())]);
        let other = done(2, &["warning 1366: x"]);
        let expected = [
            (Kind::Affected, String::new()),
            (Kind::Warnings, "warning 1366 instead of warning 1292".to_owned()),
        ];
        assert_eq!(kinds(&other, &one), expected);
    }

    #[test]
    fn definitions_of_columns_are_compared_where_asked_for() {
        let rows = |code, length| {
            let columns = vec![Column { length, code, ..Column::default() }];
            reply(Outcome::Rows { columns, rows: Vec::new() })
        };
        let all = Scope { metadata: true, trackers: false };
        assert_eq!(replies("", &rows(3, 1), &rows(3, 2), Scope::default()), []);
        let length = Difference { kind: Kind::Metadata, detail: "length".to_owned() };
        assert_eq!(replies("", &rows(3, 1), &rows(3, 2), all), [length]);
        let types = Difference { kind: Kind::Types, detail: "LONG instead of LONGLONG".to_owned() };
        assert_eq!(replies("", &rows(3, 1), &rows(8, 1), Scope::default()), [types]);
    }
}
