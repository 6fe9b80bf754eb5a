//! Runs many cases over several pairs of connections, and makes what they found smaller.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::case::Case;
use super::client::Address;
use super::compare::{Kind, Scope};
use super::explained::Rules;
use super::generate::Theme;
use super::groups::{Group, Groups};
use super::pair::{Finding, Pair, RESTART_MAX};
use super::{shrink, write};

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Ratchet and MySQL.
    pub addresses: [Address; 2],
    /// What is compared.
    pub scope: Scope,
    /// What statements try.
    pub theme: Theme,
    /// Which statements these are.
    pub seed: u64,
    /// How many at least.
    pub statements: u64,
    /// Pairs of connections at work at the same time.
    pub workers: u64,
    /// How often a statement is changed to make an example smaller.
    pub tries: u64,
    /// Where to write statements on which the servers agree, and how many.
    pub keep: Option<(PathBuf, usize)>,
}

/// What a run found.
#[derive(Debug)]
pub struct Summary {
    /// Statements that were compared.
    pub statements: u64,
    /// Cases that they were in; 0 for files.
    pub cases: u64,
    /// Statements that failed on MySQL.
    pub failed: u64,
    /// Differences that no rule explains.
    pub groups: Groups,
    /// The rules, with how often each fired.
    pub rules: Rules,
}

/// Tries for a case whose statements need each other, and make tables.
const DEPENDENT_TRIES: usize = 80;

/// Schema of a worker; it begins as all that this tool makes.
fn schema(theme: Theme, worker: u64) -> String {
    format!("ls_{theme:?}_{worker}").to_lowercase()
}

/// Runs generated statements.
///
/// # Errors
/// A server cannot be reached any more.
pub fn generated(plan: &Plan) -> Result<Summary, String> {
    let rules = Rules::load()?;
    let (found, kept) = (Mutex::new(Groups::default()), Mutex::new(Vec::new()));
    let (next, statements, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    over_workers(plan, |pair| {
        while statements.load(Ordering::Relaxed) < plan.statements {
            let case = plan.theme.case(plan.seed, next.fetch_add(1, Ordering::Relaxed));
            let findings = pair.run(&case)?;
            keep_agreed(plan, &case, &findings, &kept);
            for finding in findings {
                if !rules.explain(&case.steps[finding.at].sql, &finding) {
                    lock(&found).add(&case, finding);
                }
            }
            statements.fetch_add(std::mem::take(&mut pair.statements), Ordering::Relaxed);
            failed.fetch_add(std::mem::take(&mut pair.failed), Ordering::Relaxed);
        }
        Ok(())
    })?;
    if let Some((path, _)) = &plan.keep {
        write::script(path, &plan.theme.context(), &lock(&kept))?;
    }
    let groups = shrunk(plan, &rules, &lock(&found))?;
    let (statements, cases, failed) = (statements.into_inner(), next.into_inner(), failed.into_inner());
    Ok(Summary { statements, cases, failed, groups, rules })
}

/// Runs `work` with a pair of connections in each of several threads. A server that another thread's
/// statement has ended may be on its way back.
fn over_workers(plan: &Plan, work: impl Fn(&mut Pair) -> Result<(), String> + Sync) -> Result<(), String> {
    let run = |worker: u64| {
        let schema = schema(plan.theme, worker);
        let begun = Instant::now();
        let mut pair = loop {
            match Pair::connect(&plan.addresses, &schema, plan.theme.context(), plan.scope) {
                Ok(pair) => break pair,
                Err(error) if begun.elapsed() > RESTART_MAX => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        };
        work(&mut pair)
    };
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.workers).map(|worker| scope.spawn(move || run(worker))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread has panicked".to_owned())?)
    })
}

/// Notes a case on which the servers agree in full.
fn keep_agreed(plan: &Plan, case: &Case, findings: &[Finding], kept: &Mutex<Vec<(String, Case)>>) {
    let Some((_, wanted)) = plan.keep else { return };
    let mut kept = lock(kept);
    let total: usize = kept.iter().map(|(_, case)| case.steps.len()).sum();
    if total < wanted && case.steps.iter().all(|step| step.executions.is_none()) {
        let mut agreed = case.clone();
        if case.independent {
            let mut at = 0;
            agreed.steps.retain(|_| {
                at += 1;
                findings.iter().all(|finding| finding.at != at - 1)
            });
        } else if !findings.is_empty() {
            return;
        }
        kept.push((String::new(), agreed));
    }
}

/// The groups with examples made smaller, of one shape each.
fn shrunk(plan: &Plan, rules: &Rules, found: &Groups) -> Result<Groups, String> {
    let groups = found.sorted();
    let (next, smaller) = (AtomicU64::new(0), Mutex::new(Groups::default()));
    over_workers(plan, |pair| {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let group = if group.finding.difference.kind.is_fault() {
                smallest(plan, pair, group)?
            } else {
                Group::clone(group)
            };
            // What hid a known difference among others may be this difference alone now.
            if !rules.explain(&group.statement().sql, &group.finding) {
                lock(&smaller).add_shrunk(group);
            }
        }
        Ok(())
    })?;
    Ok(smaller.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Makes a group's example smaller.
///
/// # Errors
/// A server cannot be reached any more.
pub fn smallest(plan: &Plan, pair: &mut Pair, group: &Group) -> Result<Group, String> {
    let wanted = &group.finding.difference;
    let tries =
        if group.case.independent { plan.tries as usize } else { DEPENDENT_TRIES.min(plan.tries as usize) };
    let mut gone = None;
    let mut last = group.finding.clone();
    let case = shrink::smallest(group.case.clone(), tries, &mut |case| {
        let at = case.steps.len() - 1;
        let findings = pair.run(case).unwrap_or_else(|error| {
            gone = Some(error);
            Vec::new()
        });
        let same = findings.into_iter().find(|finding| finding.at == at && finding.difference == *wanted);
        same.map(|finding| last = finding).is_some()
    });
    match gone {
        Some(error) => Err(error),
        None => Ok(Group { count: group.count, case, finding: last }),
    }
}

/// Whether a run found what it should not: exit status 1.
pub fn is_failure(summary: &Summary) -> bool {
    summary.groups.has_fault()
}

/// Kinds whose examples are worth a script.
pub(crate) fn is_scriptable(kind: Kind) -> bool {
    kind.is_fault() && kind != Kind::Lost
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
