//! Histories by hand, in `data`: each says which anomalies it has.

use std::collections::BTreeSet;
use std::path::Path;

use super::anomaly::{Anomaly, Level};
use super::history::History;
use super::judge::{forbidden, judge};

/// Every history: its name, what it says it has, and itself.
fn stored() -> Vec<(String, BTreeSet<Anomaly>, History)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/elle/data");
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let wanted = text.lines().next().unwrap().strip_prefix("# finds: ").unwrap();
        let named = |name: &str| Anomaly::ALL.into_iter().find(|anomaly| anomaly.to_string() == name);
        let wanted = match wanted {
            "nothing" => BTreeSet::new(),
            names => names.split(", ").map(|name| named(name).unwrap()).collect(),
        };
        all.push((path.display().to_string(), wanted, History::parse(&text).unwrap()));
    }
    all
}

/// What is found in a history where views are those of transactions, or everything is locked.
fn found(history: &History) -> BTreeSet<Anomaly> {
    let levels = [Level::RepeatableRead, Level::Serializable];
    levels.iter().flat_map(|level| judge(history, *level).into_keys()).collect()
}

#[test]
fn each_history_has_the_anomalies_that_it_says_and_no_others() {
    let wrong = |(name, wanted, history): (String, BTreeSet<Anomaly>, History)| {
        let found = found(&history);
        (found != wanted).then(|| format!("{name}: found {found:?}"))
    };
    let wrong: Vec<_> = stored().into_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_anomaly_has_a_history() {
    let covered: BTreeSet<Anomaly> = stored().into_iter().flat_map(|(_, wanted, _)| wanted).collect();
    assert_eq!(covered, Anomaly::ALL.into_iter().collect());
}

#[test]
fn a_stronger_level_permits_no_more() {
    for anomaly in Anomaly::ALL {
        assert!(Level::ALL.iter().map(|level| level.permits(anomaly)).rev().is_sorted(), "{anomaly}");
    }
    for level in Level::ALL {
        assert!(level.shows().iter().all(|shown| level.permits(*shown)), "{level:?}");
    }
}

#[test]
fn serializable_forbids_every_bad_history() {
    for (name, wanted, history) in stored() {
        let report = judge(&history, Level::Serializable);
        assert_eq!(forbidden(&report, Level::Serializable).is_empty(), wanted.is_empty(), "{name}");
    }
}

#[test]
fn views_of_statements_may_differ_those_of_transactions_not() {
    let skew = History::parse(
        "lists\ncommit: append 1 10, append 2 20\ncommit: read 1, read 2 20\nlast: 1 = 10\nlast: 2 = 20",
    );
    let skew = skew.unwrap();
    assert!(judge(&skew, Level::RepeatableRead).contains_key(&Anomaly::Snapshot));
    assert!(!judge(&skew, Level::ReadCommitted).contains_key(&Anomaly::Snapshot));
    let torn = History::parse(
        "lists\ncommit: append 1 10, append 2 20\ncommit: range 1, range 2 20\nlast: 1 = 10\nlast: 2 = 20",
    );
    assert!(judge(&torn.unwrap(), Level::ReadCommitted).contains_key(&Anomaly::Snapshot));
}
