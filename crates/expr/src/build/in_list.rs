//! IN lists: items of several types are one IN for each domain in which they meet the needle.

use types::temporal::FSP_MAX;
use types::{OwnedValue, SqlType, Time, TypeKind, Value};

use super::compare::{is_plain_integer, is_temporal};
use super::kept_constant::is_constant;
use super::logic::truth;
use super::typing::{Class, class_of, is_long_hexadecimal, is_number, is_text};
use super::{BindError, Builder};
use crate::func::Func;
use crate::{CmpDomain, Expr, ExprKind, fold};

impl Builder {
    /// `needle [NOT] IN (list)`. A list of mixed types is one IN for each domain in which an item meets the
    /// needle.
    pub fn in_list(&self, needle: Expr, mut list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        if list.len() > 1 && is_plain_integer(&needle) && list.iter().all(is_plain_integer) {
            return Ok(in_set(CmpDomain::Integer, needle, list, negated));
        }
        let needle = match class_of(&needle) {
            Class::Text | Class::DateTime | Class::Time => {
                list.insert(0, needle);
                self.share_among_dates(&mut list, " IN ");
                list.remove(0)
            }
            _ => needle,
        };
        let mut groups: Vec<(Mixing, Vec<Expr>)> = Vec::new();
        // A number is looked for from left to right; a text, which warns when it is read as a number, is read
        // as one once.
        let is_ordered = class_of(&needle) != Class::Text;
        for item in list {
            let mixing = Mixing::of(&needle, &item);
            // Those of a text are few: one of each kind.
            let first = if is_ordered { groups.len().saturating_sub(1) } else { 0 };
            let mut known = groups[first..].iter_mut();
            let meets = |known: Mixing| known == mixing || mixing == Mixing::None || known == Mixing::None;
            match known.find(|(known, _)| meets(*known)) {
                Some((known, items)) => {
                    if *known == Mixing::None {
                        *known = mixing;
                    }
                    items.push(item);
                }
                None => groups.push((mixing, vec![item])),
            }
        }
        if let [(_, items)] = &mut groups[..] {
            return self.in_uniform_list(needle, std::mem::take(items), negated);
        }
        let shown = if needle.is_trivial() { needle.clone() } else { needle.held() };
        let parts = groups.into_iter().map(|(mixing, mut items)| {
            let is_text = class_of(&shown) == Class::Text;
            if mixing == Mixing::Text && is_text && items.iter().any(is_temporal) {
                // Beside numbers a text meets dates as texts.
                items.insert(0, shown.clone());
                let domain = self.agree_in_text(&mut items, " IN ")?;
                return Ok(in_domain(domain, items, negated));
            }
            if mixing == Mixing::Text && class_of(&shown) == Class::Time {
                return Ok(in_read_times(shown.clone(), items, negated));
            }
            if mixing == Mixing::Double && is_number(&shown) && items.iter().any(is_temporal) {
                return Ok(self.in_numbers(shown.clone(), items, negated));
            }
            // A number that is no date stays a number.
            let is_direct = mixing == Mixing::Double;
            self.in_part_of_list(shown.clone(), items, negated, (is_direct, false))
        });
        let parts = parts.collect::<Result<Vec<Expr>, BindError>>()?;
        let whole = if negated { self.and(parts) } else { self.or(parts) };
        Ok(if needle.is_trivial() { whole } else { whole.holding(needle) })
    }

    /// `needle [NOT] IN (list)` of a number among values that are read as doubles.
    fn in_numbers(&self, needle: Expr, mut list: Vec<Expr>, negated: bool) -> Expr {
        list.insert(0, needle);
        for arg in &mut list {
            self.read_special_text(arg);
        }
        in_domain(CmpDomain::Double, list, negated)
    }

    fn in_uniform_list(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        let is_direct = list.len() == 1;
        let are_times = !is_direct && meets_in_time(&needle, &list);
        let is_among_dates = !is_direct && is_text(&needle) && are_given_dates(&list);
        let are_dates = !is_direct && !are_times && needle.ty.kind == TypeKind::Date;
        let list = if are_dates || is_among_dates { self.dates_of_list(list) } else { list };
        let needle = if is_among_dates { date_in_list(needle) } else { needle };
        if !is_direct && !are_times && is_number(&needle) && list.iter().any(is_temporal) {
            return Ok(self.in_numbers(needle, list, negated));
        }
        let is_read_each_row = |e: &Expr| class_of(e) == Class::Text && !is_given(e);
        if !is_direct && class_of(&needle) == Class::Time && list.iter().any(is_read_each_row) {
            return Ok(in_read_times(needle, list, negated));
        }
        if are_times {
            return Ok(self.in_times(needle, list, negated));
        }
        self.in_part_of_list(needle, list, negated, (is_direct, true))
    }

    /// `needle [NOT] IN (list)`, compared as times. MySQL reads the text of a date as a time, and warns. What
    /// is no time is 00:00:00 in a list that is read once, and equals no time in one that is read for each
    /// row.
    fn in_times(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Expr {
        let needle = if needle.ty.kind == TypeKind::Date { self.text_of(needle) } else { needle };
        let is_read_once = list.iter().all(is_given);
        let mut args = [vec![needle], list].concat();
        for (at, arg) in args.iter_mut().enumerate() {
            let is_time = self.adopt_temporal_constant(arg, CmpDomain::Time).is_ok();
            if !is_read_once || at == 0 {
                continue;
            }
            if !is_time {
                *arg = self.time_at_front(arg);
            } else if matches!(arg.kind, ExprKind::Param(_)) && class_of(arg) == Class::Text {
                *arg = self.time_of_param(arg.clone());
            }
        }
        let args = args.into_iter().map(bits_as_text).collect();
        in_domain(CmpDomain::Time, args, negated)
    }

    /// The time with which a parameter's text begins; 00:00:00 if it begins with none.
    fn time_of_param(&self, text: Expr) -> Expr {
        let ty = super::literal::time_type(FSP_MAX);
        let read = Expr::cast(text.clone(), ty.clone(), true);
        let args = Box::new([read, self.time(Time::ZERO, FSP_MAX)]);
        let time =
            Expr { kind: ExprKind::Call { func: Func::Coalesce, args }, ty: ty.clone(), nullable: false };
        let is_null = truth(ExprKind::IsNull { negated: false, arg: Box::new(text) }, false);
        let kind =
            ExprKind::Case { arms: Box::new([(is_null, self.null())]), otherwise: Some(Box::new(time)) };
        Expr { kind, ty, nullable: true }
    }

    /// The time with which a constant text begins; 00:00:00 if it begins with none.
    fn time_at_front(&self, text: &Expr) -> Expr {
        let folded = fold(text.clone());
        let read = match &folded.kind {
            ExprKind::Const(value) => value.as_value().to_time(),
            _ => None,
        };
        self.time(read.map_or(Time::ZERO, |read| read.value), FSP_MAX)
    }

    /// `is_direct`: the items are compared as `needle = item` is. `is_whole`: the list has no other items, so
    /// that its texts are read once.
    fn in_part_of_list(
        &self,
        needle: Expr,
        list: Vec<Expr>,
        negated: bool,
        (is_direct, is_whole): (bool, bool),
    ) -> Result<Expr, BindError> {
        let mut args = Vec::with_capacity(list.len() + 1);
        args.push(needle);
        args.extend(list);
        let domain = self.agree_among(&mut args, " IN ", is_direct)?;
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) {
            for arg in args.iter_mut().filter(|arg| is_long_hexadecimal(arg)) {
                self.read_special_text(arg);
            }
            // MySQL reads a list of constants of one type once, another one for each row.
            if is_whole && args[1..].iter().all(is_given) {
                self.read_texts(&mut args, domain);
            } else {
                for arg in &mut args {
                    self.read_special_text(arg);
                }
            }
        }
        Ok(in_domain(domain, args, negated))
    }
}

/// `needle [NOT] IN (list)`, compared in `domain`; `args`: the needle, then the list.
fn in_domain(domain: CmpDomain, mut args: Vec<Expr>, negated: bool) -> Expr {
    let needle = args.remove(0);
    in_set(domain, needle, args, negated)
}

/// `needle [NOT] IN (list)`, compared in `domain`.
fn in_set(domain: CmpDomain, needle: Expr, list: Vec<Expr>, negated: bool) -> Expr {
    let nullable = needle.nullable || list.iter().any(|e| e.nullable);
    truth(ExprKind::In { negated, domain, needle: Box::new(needle), list: list.into() }, nullable)
}

/// `needle [NOT] IN (list)` of values that are read as times for each row.
fn in_read_times(needle: Expr, list: Vec<Expr>, negated: bool) -> Expr {
    let args = std::iter::once(needle).chain(list).map(bits_as_text).collect();
    in_domain(CmpDomain::Time, args, negated)
}

/// Bits among times are a text.
pub(super) fn bits_as_text(e: Expr) -> Expr {
    let ExprKind::Const(value @ OwnedValue::Bit { .. }) = &e.kind else { return e };
    let text = Value::binary(value.as_value().as_text(&mut Vec::new())).to_owned_value();
    Expr { kind: ExprKind::Const(text), ..e }
}

/// Whether `e` has one value for the whole statement, which is known before it runs.
pub(super) fn is_given(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_)) || is_constant(e)
}

/// Whether the needle and the items of an IN list are compared as times: texts and times of which one is
/// TIME, with no date in the list. The needle may be a DATE, which is a text then.
fn meets_in_time(needle: &Expr, list: &[Expr]) -> bool {
    let is_textual = |e: &Expr| is_text(e) || matches!(class_of(e), Class::Time | Class::Null);
    let is_time = |e: &Expr| class_of(e) == Class::Time;
    list.iter().all(is_textual)
        && (is_textual(needle) || needle.ty.kind == TypeKind::Date)
        && (is_time(needle) || list.iter().any(is_time))
}

/// A text as the date that is searched in a list of dates, without its time of day.
fn date_in_list(text: Expr) -> Expr {
    let nullable = text.nullable;
    let ty = SqlType::new(TypeKind::Date, 10);
    Expr { kind: ExprKind::Call { func: Func::DateInList, args: Box::new([text]) }, ty, nullable }
}

/// Whether `list` has constants alone: dates without a time of day and texts.
fn are_given_dates(list: &[Expr]) -> bool {
    let is_date = |e: &Expr| e.ty.kind == TypeKind::Date;
    let is_dateless = |e: &Expr| class_of(e) == Class::Null || (is_text(e) && class_of(e) != Class::Int);
    list.iter().any(is_date) && list.iter().all(|e| is_given(e) && (is_date(e) || is_dateless(e)))
}

/// How an item of an IN list meets the needle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mixing {
    /// NULL goes with any.
    None,
    Text,
    Exact,
    Double,
}

impl Mixing {
    fn of(needle: &Expr, item: &Expr) -> Self {
        let (left, right) = (class_of(needle), class_of(item));
        let is_time = |class: Class| matches!(class, Class::DateTime | Class::Time);
        let has_text = left == Class::Text || right == Class::Text || is_time(left) || is_time(right);
        let is_textual = |expr: &Expr, class: Class| is_text(expr) || is_time(class);
        match (left, right) {
            (Class::Null, _) | (_, Class::Null) => Mixing::None,
            // A hexadecimal literal is a number only among numbers.
            _ if has_text && is_textual(needle, left) && is_textual(item, right) => Mixing::Text,
            (Class::Int | Class::Decimal, Class::Int | Class::Decimal) => Mixing::Exact,
            _ => Mixing::Double,
        }
    }
}
