//! Equalities that hold for every row that comes so far, and conditions that say nothing new beside them.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use smallvec::{SmallVec, smallvec};

use super::access::Methods;
use super::equality::is_one_type;
use crate::bind::same;

/// Allows conditions that follow from others to be dropped.
pub(super) fn allow(methods: &mut Methods) {
    methods.known = true;
}

/// Equalities in force.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownEqualities<'e> {
    /// Conditions in force, other ones among them: most are never searched.
    conditions: SmallVec<[&'e Expr; 8]>,
}

impl<'e> KnownEqualities<'e> {
    /// Notes that `condition` holds.
    pub(super) fn add(&mut self, condition: &'e Expr) {
        self.conditions.push(condition);
    }

    /// Whether `condition` follows from what is known.
    pub(super) fn implies(&self, condition: &Expr) -> bool {
        let Some((a, b, domain)) = transitive_equality(condition) else { return false };
        let pairs = self.conditions.iter().filter_map(|known| transitive_equality(known));
        let pairs: SmallVec<[(&Expr, &Expr, CmpDomain); 8]> =
            pairs.filter(|(.., other_domain)| *other_domain == domain).collect();
        if same::same(a, b) {
            // That a column equals itself says that it is not NULL, as every other equality of it does.
            return pairs.iter().any(|(x, y, _)| same::same(x, a) || same::same(y, a));
        }
        let mut reached: SmallVec<[&Expr; 4]> = smallvec![a];
        let mut at = 0;
        while at < reached.len() {
            for (left, right, _) in &pairs {
                for (from, to) in [(*left, *right), (*right, *left)] {
                    if same::same(from, reached[at]) && !reached.iter().any(|e| same::same(e, to)) {
                        reached.push(to);
                    }
                }
            }
            at += 1;
        }
        reached.iter().any(|e| same::same(e, b))
    }
}

/// The sides of an equality that is transitive: columns of one type, constants and parameters.
fn transitive_equality(condition: &Expr) -> Option<(&Expr, &Expr, CmpDomain)> {
    let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &condition.kind else { return None };
    let [a, b] = &**args;
    let is_plain = |e: &Expr| matches!(e.kind, ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_));
    let both_columns = matches!((&a.kind, &b.kind), (ExprKind::Column(_), ExprKind::Column(_)));
    (is_plain(a) && is_plain(b) && (!both_columns || is_one_type(a, b))).then_some((a, b, *domain))
}
