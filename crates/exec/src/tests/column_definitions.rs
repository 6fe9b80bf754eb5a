//! Column definitions that are kept with a table, against those made for each plan: a column with its own
//! name as its alias (`c AS c`) has the same definition, which is not kept.

use base::prng::Prng;

use super::projection::create;
use super::support::*;
use crate::{Protocol, index_layout};

/// Forms of a query: `#` stands for the select list, `@` for a name in front of each column.
const QUERIES: [&str; 7] = [
    "SELECT # FROM t",
    "SELECT # FROM t WHERE a = 3 AND b < 5 LIMIT 1",
    "SELECT # FROM t AS other",
    "SELECT @ FROM t JOIN u ON u.a = t.a",
    "SELECT @ FROM u LEFT JOIN t ON u.a = t.a",
    "SELECT DISTINCT # FROM t",
    "SELECT # FROM (SELECT * FROM t) AS t",
];

#[test]
fn definitions_kept_with_a_table_are_those_made_for_each_plan() {
    for seed in 1..=12 {
        let (mut bench, mut prng) = (Bench::new(), Prng::new(seed));
        let names = create(&mut bench, &mut prng, "t", 3);
        create(&mut bench, &mut prng, "u", 2);
        let list = |prefix: &str, is_named: bool| {
            let item = |name: &String| {
                let alias = if is_named { format!(" AS {name}") } else { String::new() };
                format!("{prefix}{name}{alias}")
            };
            names.iter().map(item).collect::<Vec<_>>().join(", ")
        };
        for query in QUERIES {
            let mut answer = |is_named: bool| {
                let sql = query.replace('#', &list("", is_named)).replace('@', &list("t.", is_named));
                let plan = bench.plan(&sql);
                let (outcome, packets) = bench.run_as(Protocol::Text, plan, &[]);
                outcome.unwrap();
                packets
            };
            let oracle = answer(true);
            assert!(answer(false) == oracle, "made: {query}, seed {seed}");
            assert!(answer(false) == oracle, "kept: {query}, seed {seed}");
        }
        let kept = index_layout::columns(&bench.engine.table("s", "t").unwrap()).unwrap();
        assert_eq!(kept.count_made(), names.len(), "each column was shown as it is");
    }
}
