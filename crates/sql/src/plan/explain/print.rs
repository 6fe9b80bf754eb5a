//! Expressions as text, with the names of the query's columns.

use expr::{AggFunc, ColumnRef, Expr, ExprKind, Func, SubqueryForm};
use types::Value;

use crate::plan::{AggSpec, Node, QueryPlan, Relation};

/// Prints the expressions of one query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer<'p> {
    query: &'p QueryPlan,
}

impl<'p> Printer<'p> {
    pub(super) fn new(query: &'p QueryPlan) -> Self {
        Printer { query }
    }

    /// Name of a relation.
    pub(super) fn rel(&self, rel: u16) -> &'p str {
        match self.query.relations.get(usize::from(rel)) {
            Some(Relation::Table { alias, .. }) => alias,
            _ => "<derived>",
        }
    }

    /// Several expressions, parted by commas.
    pub(super) fn list(&self, exprs: &[Expr]) -> String {
        self.join(exprs.iter(), ", ")
    }

    fn join<'e>(&self, exprs: impl Iterator<Item = &'e Expr>, separator: &str) -> String {
        exprs.map(|e| self.expr(e)).collect::<Vec<_>>().join(separator)
    }

    /// `alias.column`; a column of an aggregation is what it shows.
    pub(super) fn column(&self, column: ColumnRef) -> String {
        match self.query.relations.get(usize::from(column.rel)) {
            Some(Relation::Table { def, alias, .. }) => {
                format!("{alias}.{}", def.columns[usize::from(column.col)].name)
            }
            Some(Relation::Rows { columns }) => {
                let name = &columns[usize::from(column.col)].name;
                if name.is_empty() { self.grouped(column) } else { name.to_string() }
            }
            None => format!("?{}.{}", column.rel, column.col),
        }
    }

    fn grouped(&self, column: ColumnRef) -> String {
        let Some((groups, aggs)) = find_aggregate(&self.query.root, column.rel) else { return String::new() };
        let at = usize::from(column.col);
        match groups.get(at) {
            Some(group) => self.expr(group),
            None => aggs.get(at - groups.len()).map_or_else(String::new, |spec| self.aggregate(spec)),
        }
    }

    /// `count(distinct t.a)`
    pub(super) fn aggregate(&self, spec: &AggSpec) -> String {
        let name = match spec.func {
            AggFunc::Count => "count",
            AggFunc::Sum => "sum",
            AggFunc::Avg => "avg",
            AggFunc::Min => "min",
            AggFunc::Max => "max",
            AggFunc::BitAnd => "bit_and",
            AggFunc::BitOr => "bit_or",
            AggFunc::BitXor => "bit_xor",
            AggFunc::StdPop => "std",
            AggFunc::StdSamp => "stddev_samp",
            AggFunc::VarPop => "variance",
            AggFunc::VarSamp => "var_samp",
            AggFunc::GroupConcat => "group_concat",
            AggFunc::AnyValue => "any_value",
        };
        let distinct = if spec.distinct { "distinct " } else { "" };
        let args = if spec.args.is_empty() { "0".to_owned() } else { self.list(&spec.args) };
        format!("{name}({distinct}{args})")
    }

    /// An expression.
    pub(super) fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Const(value) => constant(&value.as_value()),
            ExprKind::Param(n) => format!("?{n}"),
            ExprKind::Column(column) => self.column(*column),
            ExprKind::And(terms) => format!("({})", self.join(terms.iter(), " and ")),
            ExprKind::Or(terms) => format!("({})", self.join(terms.iter(), " or ")),
            ExprKind::Xor(args) => format!("({})", self.join(args.iter(), " xor ")),
            ExprKind::Not(arg) => format!("(not {})", self.expr(arg)),
            ExprKind::Compare { op, args, .. } => {
                format!("({} {} {})", self.expr(&args[0]), op.symbol(), self.expr(&args[1]))
            }
            ExprKind::CompareRows(parts) => {
                let side = |at: usize| self.join(parts.iter().map(|part| &part.sides[at]), ", ");
                let symbol = parts.first().map_or("", |part| part.op.symbol());
                format!("(({}) {symbol} ({}))", side(0), side(1))
            }
            ExprKind::Between { negated, args, .. } => format!(
                "({}{} between {} and {})",
                self.expr(&args[0]),
                not(*negated),
                self.expr(&args[1]),
                self.expr(&args[2])
            ),
            ExprKind::In { negated, needle, list, .. } => {
                format!("({}{} in ({}))", self.expr(needle), not(*negated), self.list(list))
            }
            ExprKind::IsNull { negated, arg } => format!("({} is{} null)", self.expr(arg), not(*negated)),
            ExprKind::IsTruth { negated, truth, arg } => {
                format!("({} is{} {truth})", self.expr(arg), not(*negated))
            }
            ExprKind::Like { negated, args, .. } => {
                format!("({}{} like {})", self.expr(&args[0]), not(*negated), self.expr(&args[1]))
            }
            ExprKind::Cast { arg, .. } => format!("cast({})", self.expr(arg)),
            ExprKind::Call { func, args } => self.call(*func, args),
            ExprKind::UserVar(name) => format!("@{name}"),
            ExprKind::AssignUserVar { name, value } => format!("(@{name}:={})", self.expr(value)),
            ExprKind::SysVar { name, .. } => format!("@@{name}"),
            ExprKind::Case { arms, otherwise } => self.case(arms, otherwise.as_deref()),
            ExprKind::Let { body: shown, .. } | ExprKind::Held { shown: Some(shown), .. } => self.expr(shown),
            ExprKind::Held { shown: None, .. } => "(...)".to_owned(),
            ExprKind::Subquery { plan, form, needle } => self.subquery(*plan, *form, needle.as_deref()),
        }
    }

    fn case(&self, arms: &[(Expr, Expr)], otherwise: Option<&Expr>) -> String {
        let mut out = "case".to_owned();
        for (condition, result) in arms {
            out += &format!(" when {} then {}", self.expr(condition), self.expr(result));
        }
        if let Some(otherwise) = otherwise {
            out += &format!(" else {}", self.expr(otherwise));
        }
        out + " end"
    }

    /// Subqueries count from 2, as MySQL numbers selects.
    fn subquery(&self, plan: u16, form: SubqueryForm, needle: Option<&Expr>) -> String {
        let number = plan + 2;
        match form {
            SubqueryForm::Scalar => format!("(select #{number})"),
            SubqueryForm::Exists { negated } => {
                format!("{}exists(select #{number})", if negated { "not " } else { "" })
            }
            SubqueryForm::In { negated, .. } => {
                let needle = needle.map_or_else(String::new, |e| self.expr(e));
                format!("({needle}{} in (select #{number}))", not(negated))
            }
            SubqueryForm::Quantified { op, all, .. } => {
                let needle = needle.map_or_else(String::new, |e| self.expr(e));
                let word = if all { "all" } else { "any" };
                format!("({needle} {} {word} (select #{number}))", op.symbol())
            }
        }
    }

    fn call(&self, func: Func, args: &[Expr]) -> String {
        let operator = match func {
            Func::Add => " + ",
            Func::Sub => " - ",
            Func::Mul => " * ",
            Func::Div => " / ",
            Func::IntDiv => " DIV ",
            Func::Mod => " % ",
            Func::KeptNumber
            | Func::KeptValue
            | Func::CachedValue
            | Func::MomentOfText
            | Func::AsMoment
            | Func::DateInList
            | Func::FullScale
            | Func::OwnDigits => return self.list(args),
            _ => return format!("{}({})", func.name(), self.list(args)),
        };
        format!("({})", self.join(args.iter(), operator))
    }
}

fn not(negated: bool) -> &'static str {
    if negated { " not" } else { "" }
}

/// Numbers bare, everything else quoted.
fn constant(value: &Value<'_>) -> String {
    let text = value.display_text();
    match value {
        Value::Null
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Double(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Year(_) => text,
        _ => format!("'{text}'"),
    }
}

/// The aggregation whose output is relation `rel`.
fn find_aggregate(node: &Node, rel: u16) -> Option<(&[Expr], &[AggSpec])> {
    match node {
        Node::Aggregate { input, rel: output, groups, aggs, .. } => {
            if *output == rel {
                Some((groups, aggs))
            } else {
                find_aggregate(input, rel)
            }
        }
        Node::Filter { input, .. }
        | Node::Compute { input, .. }
        | Node::Sort { input, .. }
        | Node::Distinct { input, .. }
        | Node::Limit { input, .. } => find_aggregate(input, rel),
        _ => None,
    }
}
