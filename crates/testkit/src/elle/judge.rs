//! Looks for all anomalies in a history.
//!
//! Two graphs. The first has a node per committed transaction, and edges ww, wr and rw: its cycles are what
//! Adya classifies. The weaker levels have many kinds, some of which are searched with a bounded effort.
//!
//! The second one says what views promise: one order of commits, of which each view is a beginning. Its nodes
//! are the transactions, with edges ww and wr alone, and each view's reads as a node of their own, with edges
//! wr to it and rw from it, and time: what was answered before a view was taken is in it. It must have no
//! cycle at all, which one pass tells.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::anomaly::{Anomaly, Level};
use super::graph::{Edge, Graph, Why};
use super::history::{History, Objects, Op, ReadKind, Transaction};
use super::versions::{Finding, Seen, Versions};

/// Bounds on the search for cycles with one rw edge: edges to start from, and nodes to visit.
const TRIES: usize = 4000;
const BUDGET: usize = 400;

/// How often each anomaly was found, and what the first was.
pub type Report = BTreeMap<Anomaly, (usize, String)>;

/// What went wrong in `history`, with views as `level` takes them.
pub fn judge(history: &History, level: Level) -> Report {
    let mut findings = Vec::new();
    let versions = Versions::new(history, &mut findings);
    let all = 0..history.transactions.len() as u32;
    let seen: Vec<Vec<Seen>> = all.map(|number| versions.seen(number, &mut findings)).collect();
    let judge = Judge { history, versions: &versions, seen: &seen };
    judge.look_at_transactions(&mut findings);
    if (Level::ReadCommitted..=Level::Snapshot).contains(&level) {
        judge.look_at_views(level, &mut findings);
    }
    let mut report = Report::new();
    for (anomaly, what) in findings {
        report.entry(anomaly).or_insert((0, what)).0 += 1;
    }
    report
}

/// What `report` has that `level` does not permit.
pub fn forbidden(report: &Report, level: Level) -> Vec<String> {
    let wrong = report.iter().filter(|(anomaly, _)| !level.permits(**anomaly));
    wrong.map(|(anomaly, (count, first))| format!("{anomaly}, {count} times: {first}")).collect()
}

struct Judge<'j> {
    history: &'j History,
    versions: &'j Versions<'j>,
    seen: &'j [Vec<Seen>],
}

impl Judge<'_> {
    fn is_committed(&self, trx: u32) -> bool {
        self.history.transactions[trx as usize].committed
    }

    /// wr and rw of what `node` saw, for `trx`.
    fn add_reads(&self, edges: &mut Vec<Edge>, trx: u32, node: u32, seen: &Seen) {
        let Seen { key, place, kind, .. } = *seen;
        if let Some(writer) = self.versions.writer(key, place).filter(|&writer| writer != trx) {
            edges.push(Edge { from: writer, to: node, why: Why::Wr, key });
        }
        if let Some(writer) = self.versions.writer(key, place + 1).filter(|&writer| writer != trx) {
            let is_list = self.history.objects == Objects::Lists;
            let of_range = is_list && kind == ReadKind::Range && place == 0;
            let why = if of_range { Why::RwRange } else { Why::Rw };
            edges.push(Edge { from: node, to: writer, why, key });
        }
    }

    fn ww(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (key, writers) in self.versions.writers() {
            let pairs = writers.windows(2).filter(|pair| pair[0] != pair[1]);
            edges.extend(pairs.map(|pair| Edge { from: pair[0], to: pair[1], why: Why::Ww, key }));
        }
        edges
    }

    /// The first graph.
    fn look_at_transactions(&self, findings: &mut Vec<Finding>) {
        let mut edges = self.ww();
        let committed = (0..).zip(self.seen).filter(|(trx, _)| self.is_committed(*trx));
        for (trx, seen) in committed {
            for seen in seen {
                self.add_reads(&mut edges, trx, trx, seen);
            }
        }
        let graph = Graph::new(self.seen.len(), edges);
        let told = |cycle: &[Edge]| told(cycle, self.seen.len() as u32);
        if let Some(cycle) = graph.cycle(|edge| edge.why == Why::Ww) {
            findings.push((Anomaly::DirtyWrite, told(&cycle)));
        } else if let Some(cycle) = graph.cycle(|edge| !edge.why.is_rw()) {
            findings.push((Anomaly::CircularFlow, told(&cycle)));
        }
        let components = graph.components(|_| true);
        let inside = |edge: &Edge| components[edge.from as usize] == components[edge.to as usize];
        let skews = skews(&graph, inside);
        findings.extend(skews.iter().map(|cycle| (Anomaly::ReadSkew, told(cycle))));
        self.find_lost_updates(findings);
        self.find_fuzzy_reads(findings);
        self.find_write_skews(&graph, findings);
        let mut wrong = graph.edges().iter().filter(|edge| inside(edge));
        if let Some(edge) = wrong.next().filter(|_| skews.is_empty())
            && let Some(mut cycle) = graph.path(edge.to, edge.from, usize::MAX, inside)
        {
            cycle.push(*edge);
            let is_range = cycle.iter().any(|edge| edge.why == Why::RwRange);
            let rws = cycle.iter().filter(|edge| edge.why.is_rw()).count();
            let anomaly = match (rws, is_range) {
                // Told already.
                (0, _) => None,
                (1, _) => Some(Anomaly::ReadSkew),
                (_, true) => Some(Anomaly::PredicateCycle),
                (_, false) => Some(Anomaly::WriteSkew),
            };
            findings.extend(anomaly.map(|anomaly| (anomaly, told(&cycle))));
        } else if components_are_single(&components) {
            self.look_at_time(graph.edges().to_vec(), findings);
        }
    }

    /// Whether the serial order of the transactions can be one that agrees with time.
    fn look_at_time(&self, mut edges: Vec<Edge>, findings: &mut Vec<Finding>) {
        let trxs = (0..).zip(&self.history.transactions).filter(|(_, trx)| trx.committed);
        let spans: Vec<(u32, Range<u64>)> = trxs.map(|(node, trx)| (node, trx.ending.clone())).collect();
        let nodes = add_time(&mut edges, &spans, self.seen.len() as u32);
        if let Some(cycle) = Graph::new(nodes as usize, edges).cycle(|_| true) {
            findings.push((Anomaly::Stale, told(&cycle, self.seen.len() as u32)));
        }
    }

    /// The second graph.
    fn look_at_views(&self, level: Level, findings: &mut Vec<Finding>) {
        let mut edges = self.ww();
        let trxs = self.seen.len() as u32;
        let mut spans = Vec::new();
        let mut views = trxs;
        for (number, (trx, seen)) in (0..).zip(self.history.transactions.iter().zip(self.seen)) {
            if trx.committed {
                spans.push((number, trx.ending.clone()));
                let wr = seen.iter().filter_map(|seen| self.versions.writer(seen.key, seen.place));
                let wr = wr.filter(|&writer| writer != number);
                edges.extend(wr.map(|from| Edge { from, to: number, why: Why::Wr, key: 0 }));
            }
            let mut of_statement: HashMap<u32, u32> = HashMap::new();
            for seen in seen.iter().filter(|seen| seen.kind != ReadKind::Locking) {
                // The first read takes the view, also where it sees nothing but what is its transaction's
                // own.
                let of_trx = (level >= Level::RepeatableRead).then(|| first_plain(trx)).flatten();
                let by = of_trx.unwrap_or(seen.statement);
                let view = *of_statement.entry(by).or_insert_with(|| {
                    let span = trx.statements.get(by as usize).cloned().unwrap_or_default();
                    spans.push((views, span));
                    views += 1;
                    views - 1
                });
                self.add_reads(&mut edges, number, view, seen);
            }
        }
        let nodes = add_time(&mut edges, &spans, views);
        if let Some(cycle) = Graph::new(nodes as usize, edges).cycle(|_| true) {
            findings.push((Anomaly::Snapshot, told(&cycle, trxs)));
        }
    }

    /// Pairs of transactions that read the same version of a key and wrote the key.
    fn find_lost_updates(&self, findings: &mut Vec<Finding>) {
        let mut writes: HashSet<(u32, u32)> = HashSet::new();
        for (key, writers) in self.versions.writers() {
            writes.extend(writers.into_iter().map(|writer| (writer, key)));
        }
        let mut readers: HashMap<(u32, u32), u32> = HashMap::new();
        for (trx, seen) in (0..).zip(self.seen) {
            for seen in seen.iter().filter(|seen| writes.contains(&(trx, seen.key))) {
                let first = *readers.entry((seen.key, seen.place)).or_insert(trx);
                if first != trx {
                    let what = format!(
                        "trx {first} and {trx} both wrote key {} over version {}",
                        seen.key, seen.place
                    );
                    findings.push((Anomaly::LostUpdate, what));
                }
            }
        }
    }

    /// Transactions that saw two versions of a key by plain reads.
    fn find_fuzzy_reads(&self, findings: &mut Vec<Finding>) {
        for (trx, all) in self.seen.iter().enumerate() {
            let mut first = HashMap::new();
            for seen in all.iter().filter(|seen| seen.kind != ReadKind::Locking) {
                if *first.entry(seen.key).or_insert(seen.place) != seen.place {
                    findings.push((Anomaly::FuzzyRead, format!("trx {trx}, key {}", seen.key)));
                }
            }
        }
    }

    /// Pairs of transactions of which each wrote over what the other had read, on different keys.
    fn find_write_skews(&self, graph: &Graph, findings: &mut Vec<Finding>) {
        for edge in graph.edges().iter().filter(|edge| edge.why.is_rw() && edge.from < edge.to) {
            let others = graph.leaving(edge.to).iter().filter(|other| other.to == edge.from);
            let others: Vec<&Edge> = others.collect();
            let is_skew = |other: &&&Edge| other.why.is_rw() && other.key != edge.key;
            let all_rw = |from: u32, to: u32| {
                graph.leaving(from).iter().filter(|edge| edge.to == to).all(|edge| edge.why.is_rw())
            };
            if let Some(other) = others.iter().find(is_skew)
                && all_rw(edge.from, edge.to)
                && all_rw(edge.to, edge.from)
            {
                let both = [*edge, **other];
                let is_range = both.iter().any(|edge| edge.why == Why::RwRange);
                let anomaly = if is_range { Anomaly::PredicateCycle } else { Anomaly::WriteSkew };
                findings.push((anomaly, told(&both, self.seen.len() as u32)));
            }
        }
    }
}

/// The statement that reads first without locking.
fn first_plain(trx: &Transaction) -> Option<u32> {
    trx.ops.iter().find_map(|op| match op {
        Op::Read { kind, statement, .. } if *kind != ReadKind::Locking => Some(*statement),
        _ => None,
    })
}

/// Circles with one rw edge.
fn skews(graph: &Graph, inside: impl Fn(&Edge) -> bool + Copy) -> Vec<Vec<Edge>> {
    let rws = graph.edges().iter().filter(|edge| edge.why.is_rw() && inside(edge)).take(TRIES);
    let close = |rw: &Edge| {
        let mut cycle = graph.path(rw.to, rw.from, BUDGET, |edge| !edge.why.is_rw() && inside(edge))?;
        cycle.push(*rw);
        Some(cycle)
    };
    rws.filter_map(close).collect()
}

fn components_are_single(components: &[u32]) -> bool {
    components.iter().collect::<HashSet<_>>().len() == components.len()
}

/// Adds an edge, by way of nodes from `first` on, from each span to those that begin after its end. How many
/// nodes there are then.
fn add_time(edges: &mut Vec<Edge>, spans: &[(u32, Range<u64>)], first: u32) -> u32 {
    let ends = spans.iter().map(|(node, span)| (span.end, true, *node));
    let begins = spans.iter().map(|(node, span)| (span.start, false, *node));
    let mut events: Vec<(u64, bool, u32)> = ends.chain(begins).collect();
    events.sort_unstable();
    let (mut next, mut newest) = (first, None);
    let time = |from, to| Edge { from, to, why: Why::Time, key: 0 };
    for (_, is_end, node) in events {
        match (is_end, newest) {
            (true, _) => {
                edges.extend(newest.map(|before| time(before, next)));
                edges.push(time(node, next));
                newest = Some(next);
                next += 1;
            }
            (false, Some(before)) => edges.push(time(before, node)),
            (false, None) => {}
        }
    }
    next
}

/// A cycle in words.
fn told(cycle: &[Edge], trxs: u32) -> String {
    let node = |node: u32| if node < trxs { format!("trx {node}") } else { format!("node {node}") };
    let step = |edge: &Edge| format!("{} -{:?} {}-> ", node(edge.from), edge.why, edge.key);
    let steps: String = cycle.iter().map(step).collect();
    steps + &cycle.first().map_or(String::new(), |edge| node(edge.from))
}
