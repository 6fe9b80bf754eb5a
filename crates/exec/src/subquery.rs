//! Subqueries inside expressions: run once a statement, or once an outer row where they depend on it.

use std::rc::Rc;

use bumpalo::Bump;
use expr::{
    CmpDomain, ColumnRef, EvalCtx, EvalError, Expr, ExprKind, HashIndex, PatternMemo, RowSource,
    SubqueryForm, SubqueryRunner, compare_values, fail_if_cut_short, in_arena, truth,
};
use types::{OwnedValue, Value};

use crate::answer::{Answer, Extremes};
use crate::answer_memo::AnswerMemo;
use crate::domain_key::append_domain_key;
use crate::error::{ExecError, Result};
use crate::frame::Frame;
use crate::quantified::Quantified;
use crate::query::SubProgram;
use crate::query_run::QueryRun;
use crate::query_values::each_value;
use crate::source::{Collect, Flow};

impl SubqueryRunner for QueryRun<'_> {
    fn column_name(&self, column: ColumnRef) -> Option<String> {
        self.program.column_name(column)
    }

    fn reserve(&self, arena: &Bump, bytes: usize) -> std::result::Result<(), EvalError> {
        Ok(self.st.reserve(arena, bytes)?)
    }

    fn patterns(&self) -> Option<&PatternMemo> {
        Some(&self.st.rare().patterns)
    }

    fn run<'v>(
        &'v self,
        expr: &'v Expr,
        outer: &'v dyn RowSource,
        ctx: &'v EvalCtx<'v>,
    ) -> std::result::Result<Value<'v>, EvalError> {
        evaluate(self, expr, outer, ctx)
    }
}

/// The value of the subquery expression `expr` for the row `outer`.
fn evaluate<'v>(
    run: &'v QueryRun<'_>,
    expr: &'v Expr,
    outer: &'v dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> std::result::Result<Value<'v>, EvalError> {
    let ExprKind::Subquery { plan, form, needle } = &expr.kind else {
        return Err(EvalError::NotSupported("an expression other than a subquery"));
    };
    let needle = needle.as_ref().map(|needle| needle.eval(outer, ctx)).transpose()?;
    evaluate_with(run, usize::from(*plan), *form, needle, outer, ctx).map_err(|error| {
        run.st.fail(error);
        EvalError::Subplan(0)
    })
}

fn evaluate_with<'v>(
    run: &QueryRun<'_>,
    plan: usize,
    form: SubqueryForm,
    needle: Option<Value<'v>>,
    outer: &dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>> {
    let Some(sub) = run.program.subqueries.get(plan) else {
        return Err(ExecError::NotSupported("a subquery without a plan"));
    };
    if !sub.outer.is_empty() {
        if !sub.repeatable {
            return correlated(run, sub, form, needle.as_ref(), outer, ctx);
        }
        let mut memo = run.subqueries.take_memo(plan, run.st.memory);
        let value = remembered(&mut memo, run, sub, form, needle.as_ref(), outer, ctx);
        run.subqueries.put_memo(plan, memo);
        return value;
    }
    let answer = if let Some(answer) = run.subqueries.get(plan) {
        answer
    } else if sub.kept {
        run.st.rare().answers.get_or_make(sub, || collect(run, sub, form))?
    } else {
        let answer = Rc::new(collect(run, sub, form)?);
        run.subqueries.put(plan, &answer);
        answer
    };
    Ok(match (&*answer, form) {
        (Answer::Scalar(value), _) => in_arena(value, ctx.arena),
        (Answer::Exists(found), SubqueryForm::Exists { negated }) => truth(Some(*found != negated)),
        (Answer::List { keys, has_null }, SubqueryForm::In { negated, domain }) => {
            let Some(needle) = needle else { return Ok(Value::Null) };
            truth(look_up(&needle, keys, *has_null, domain, run).map(|found| found != negated))
        }
        (Answer::Extremes(values), SubqueryForm::Quantified { op, all, domain }) => {
            let Some(needle) = needle else { return Ok(Value::Null) };
            truth(Quantified { op, all, domain }.of(&needle, values, run, ctx)?)
        }
        _ => Value::Null,
    })
}

/// Runs a subquery without outer columns and keeps what its form needs.
fn collect(run: &QueryRun<'_>, sub: &SubProgram, form: SubqueryForm) -> Result<Answer> {
    let inner = QueryRun::new(run.st, run.params, &sub.query);
    match form {
        SubqueryForm::Scalar => scalar(&inner).map(Answer::Scalar),
        SubqueryForm::Exists { .. } => exists(&inner).map(Answer::Exists),
        SubqueryForm::In { domain, .. } => {
            let (mut keys, mut has_null) = (HashIndex::new(run.st.memory), false);
            let mut key = Vec::new();
            each_value(&inner, |value, _| {
                key.clear();
                if value.is_null() {
                    has_null = true;
                    return Ok(Flow::More);
                }
                append_domain_key(value, domain, &inner, &mut key);
                keys.insert(&key)?;
                Ok(Flow::More)
            })?;
            Ok(Answer::List { keys, has_null })
        }
        SubqueryForm::Quantified { domain, .. } => Extremes::collect(&inner, domain).map(Answer::Extremes),
    }
}

/// IN over a finished list: NULL if nothing is equal and something is NULL.
fn look_up(
    needle: &Value<'_>,
    keys: &HashIndex,
    has_null: bool,
    domain: CmpDomain,
    run: &QueryRun<'_>,
) -> Option<bool> {
    if keys.is_empty() && !has_null {
        return Some(false);
    }
    if needle.is_null() {
        return None;
    }
    let mut key = Vec::new();
    append_domain_key(needle, domain, run, &mut key);
    if keys.find(&key).is_some() {
        return Some(true);
    }
    if has_null { None } else { Some(false) }
}

/// As [`correlated`], once for rows whose outer columns and needle are the same.
fn remembered<'v>(
    memo: &mut AnswerMemo,
    run: &QueryRun<'_>,
    sub: &SubProgram,
    form: SubqueryForm,
    needle: Option<&Value<'_>>,
    outer: &dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>> {
    let columns = sub.outer.iter();
    let known = match needle {
        None => memo.find(columns.map(|column| outer.column(column.rel, column.col))),
        Some(needle) => {
            let mut values: Vec<Value<'_>> = columns.map(|c| outer.column(c.rel, c.col)).collect();
            values.push(*needle);
            memo.find(values.into_iter())
        }
    };
    if let Some(known) = known {
        return Ok(in_arena(known, ctx.arena));
    }
    let value = correlated(run, sub, form, needle, outer, ctx)?;
    memo.put(&value.to_owned_value());
    Ok(value)
}

/// Runs a subquery for one outer row, whose columns become parameters.
fn correlated<'v>(
    run: &QueryRun<'_>,
    sub: &SubProgram,
    form: SubqueryForm,
    needle: Option<&Value<'_>>,
    outer: &dyn RowSource,
    ctx: &'v EvalCtx<'v>,
) -> Result<Value<'v>> {
    let base = usize::from(sub.outer_base);
    let mut params: Vec<Value<'_>> = run.params.iter().copied().take(base).collect();
    params.resize(base, Value::Null);
    params.extend(sub.outer.iter().map(|column| outer.column(column.rel, column.col)));
    let inner = QueryRun::new(run.st, &params, &sub.query);
    match form {
        SubqueryForm::Scalar => scalar(&inner).map(|value| in_arena(&value, ctx.arena)),
        SubqueryForm::Exists { negated } => exists(&inner).map(|found| truth(Some(found != negated))),
        SubqueryForm::In { negated, domain } => {
            let Some(needle) = needle else { return Ok(Value::Null) };
            Ok(truth(is_among(needle, &inner, domain)?.map(|found| found != negated)))
        }
        SubqueryForm::Quantified { op, all, domain } => {
            let Some(needle) = needle else { return Ok(Value::Null) };
            Ok(truth(Quantified { op, all, domain }.over(needle, &inner)?))
        }
    }
}

/// The one value of the one row; NULL without a row.
fn scalar<'r>(inner: &'r QueryRun<'r>) -> Result<OwnedValue> {
    let mut found = None;
    each_value(inner, |value, _| {
        if found.is_some() {
            return Err(ExecError::SubqueryRows);
        }
        found = Some(value.to_owned_value());
        Ok(Flow::More)
    })?;
    Ok(found.unwrap_or(OwnedValue::Null))
}

fn exists<'r>(inner: &'r QueryRun<'r>) -> Result<bool> {
    let mut found = false;
    inner.rows(&mut Collect(|_: &Frame<'_>| {
        found = true;
        Ok(Flow::Enough)
    }))?;
    Ok(found)
}

fn is_among<'r>(needle: &Value<'_>, inner: &'r QueryRun<'r>, domain: CmpDomain) -> Result<Option<bool>> {
    let (mut found, mut unknown) = (false, false);
    each_value(inner, |value, ctx| {
        let order = compare_values(needle, value, domain, ctx);
        fail_if_cut_short(domain, [needle, value], ctx).map_err(|error| inner.st.eval_error(error))?;
        match order {
            Some(std::cmp::Ordering::Equal) => found = true,
            Some(_) => {}
            None => unknown = true,
        }
        Ok(if found { Flow::Enough } else { Flow::More })
    })?;
    Ok(if found {
        Some(true)
    } else if unknown {
        None
    } else {
        Some(false)
    })
}
