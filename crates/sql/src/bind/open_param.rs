//! Open parameters: the `?` whose types are not given.
//!
//! The text implies their types: beside a column they are what the column is, as arguments of a function what
//! it wants, else texts. Clients see these types in the answer to PREPARE, the statement's columns are typed
//! by them, and each execution converts its values to them. Types are given for an execution whose values do
//! not fit.

use expr::{Expr, ExprKind, Func};
use types::decimal::{PRECISION_MAX, SCALE_MAX};
use types::temporal::IntervalUnit;
use types::{CollationId, LobSize, OwnedValue, SqlType, TypeKind};

use super::binder::Binder;
use super::literal::PARAM_CHARS;
use super::{BindContext, Literals, NumberRead, ParamRole, ParamUse};

/// Bytes of a text whose length is not known.
const PARAM_BYTES: u32 = 65_535;

const BYTES: CollationId = CollationId::BINARY;

/// Digits of the number that a TIME, a DATETIME with microseconds is.
const TIME_DIGITS: u32 = 13;
const DATE_DIGITS: u32 = 8;
const DATETIME_DIGITS: u32 = 20;

/// What a function takes an argument for that says nothing of its type.
#[derive(Clone, Copy)]
enum Wanted {
    Text,
    Bytes,
    Int,
    /// An integer whose digits are read, to another base than ten.
    Digits,
    Decimal,
    Double,
    Date,
    DateTime,
    Time,
    /// A date and time, of which the function reads the time.
    Clock,
    /// As [`Wanted::Clock`], where the value becomes a date and time before.
    DatedClock,
    /// A time that the function reads from texts itself.
    TimeOfDay,
}

impl Binder<'_, '_> {
    /// Notes that the result of an operator, if it is a number, shows as many digits after the point as the
    /// types of `operands` have.
    pub(super) fn note_padding(&mut self, operands: &[Expr]) {
        let is_number = |e: &Expr| {
            let is_other =
                matches!(e.ty.kind, TypeKind::Decimal | TypeKind::Null | TypeKind::Bit | TypeKind::Year)
                    || matches!(e.kind, ExprKind::Const(OwnedValue::Bit { .. }));
            is_other || e.ty.is_integer() || (e.ty.is_temporal() && matches!(e.kind, ExprKind::Param(_)))
        };
        if !operands.iter().all(|e| self.is_open(e) || is_number(e)) {
            return;
        }
        for operand in operands {
            if let ExprKind::Param(n) = operand.kind
                && let Some(known) = self.param_uses.get_mut(usize::from(n))
            {
                known.is_padded = true;
            }
        }
    }

    /// The number of an open parameter.
    fn open_param(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Param(n) = expr.kind else { return None };
        let n = usize::from(n);
        (self.has_open_params && is_open(self.ctx, n)).then_some(n)
    }

    pub(super) fn is_open(&self, expr: &Expr) -> bool {
        self.open_param(expr).is_some()
    }

    /// Makes `expr`, if it is an open parameter, one for values of type `ty`.
    pub(super) fn settle(&mut self, expr: &mut Expr, ty: &SqlType) {
        if !self.is_open(expr) {
            return;
        }
        let described = propagated(ty);
        let collation = self.ctx.collation;
        let charset = |id: CollationId| id.collation().map(|known| known.charset);
        let kept = match described.kind {
            // Texts of the connection's character set keep its collation, others are converted.
            TypeKind::VarChar | TypeKind::Text(_) if charset(collation) == charset(described.collation) => {
                SqlType { collation, ..described.clone() }
            }
            _ => described.clone(),
        };
        self.settle_as(expr, described, kept);
    }

    /// Makes `expr`, if it is an open parameter, one that is described as `described` and takes values of
    /// type `ty`.
    fn settle_as(&mut self, expr: &mut Expr, described: SqlType, ty: SqlType) {
        let Some(n) = self.open_param(expr) else { return };
        expr.ty = ty.clone();
        if let Some(known) = self.param_uses.get_mut(n) {
            (known.described, known.ty) = (described, ty);
        }
    }

    /// Whether `expr` is a parameter of the client.
    pub(super) fn is_param(&self, expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Param(n) if usize::from(n) < self.param_uses.len())
    }

    /// The text that a parameter is cast to, of the length of any: its values may be longer than those of the
    /// type that it was planned for.
    pub(super) fn lengthened(text: Expr) -> Expr {
        let length = PARAM_BYTES / text.ty.max_char_bytes();
        let kind = match text.ty.kind {
            TypeKind::Text(_) => TypeKind::VarChar,
            TypeKind::Blob(_) => TypeKind::VarBinary,
            kind => kind,
        };
        Expr { ty: SqlType { kind, length, ..text.ty }, ..text }
    }

    /// Notes what place `expr` has, if it is a parameter.
    pub(super) fn note_role(&mut self, expr: &Expr, role: ParamRole) {
        let ExprKind::Param(n) = expr.kind else { return };
        if let Some(known) = self.param_uses.get_mut(usize::from(n)) {
            known.role = role;
        }
    }

    /// Notes as what number `expr` is read, if it is a parameter.
    pub(super) fn note_read_as(&mut self, expr: &Expr, reads: NumberRead) {
        let ExprKind::Param(n) = expr.kind else { return };
        if let Some(known) = self.param_uses.get_mut(usize::from(n)) {
            known.reads = reads;
        }
    }

    /// Notes that parameters that are divided are no integers.
    fn note_quotient(&mut self, func: Func, operands: &[Expr]) {
        if func == Func::Div && common_number(operands, false) == NumberRead::Integer {
            for operand in operands {
                self.note_read_as(operand, NumberRead::Decimal);
            }
        }
    }

    /// Notes that the parameters among `operands` are read as the number that all of them have in common.
    fn note_common_number(&mut self, operands: &[Expr], are_compared: bool) {
        let reads = common_number(operands, are_compared);
        for operand in operands {
            self.note_read_as(operand, reads);
        }
    }

    /// Types the open parameters among operands that meet as equals by the first other; by `default` if all
    /// are open.
    pub(super) fn settle_alike(&mut self, operands: &mut [Expr], default: &SqlType) {
        let Some(ty) = self.type_alike(operands, default) else { return };
        for operand in operands {
            self.settle(operand, &ty);
        }
    }

    /// The type that the other operands give to those that are open parameters: that of the first of them.
    /// `None` without open parameters.
    fn type_alike(&self, operands: &[Expr], default: &SqlType) -> Option<SqlType> {
        if !operands.iter().any(|e| self.is_open(e)) {
            return None;
        }
        let known = operands.iter().find(|e| !self.is_open(e));
        Some(known.map_or_else(|| default.clone(), |first| first.ty.clone()))
    }

    /// Notes that `operands` are read as numbers.
    pub(super) fn note_numbers(&mut self, operands: &[Expr]) {
        for operand in operands {
            self.note_role(operand, ParamRole::Number);
        }
    }

    /// As [`Binder::settle_alike`], for the operands of the operator `func`.
    pub(super) fn settle_operands(&mut self, func: Func, operands: &mut [Expr]) {
        self.note_numbers(operands);
        let bytes = SqlType::new(TypeKind::VarBinary, PARAM_BYTES);
        match func {
            Func::BitAnd | Func::BitOr | Func::BitXor | Func::BitNot => self.settle_alike(operands, &bytes),
            Func::ShiftLeft | Func::ShiftRight => {
                for (operand, ty) in operands.iter_mut().zip([bytes, SqlType::bigint()]) {
                    self.settle(operand, &ty);
                }
            }
            _ => {
                self.settle_numbers(func, operands);
                self.note_common_number(operands, false);
                return self.note_quotient(func, operands);
            }
        }
        for operand in operands.iter() {
            self.note_read_as(operand, NumberRead::Integer);
        }
    }

    /// As [`Binder::settle_alike`], for operands that are read as numbers: beside a date, a value is the
    /// number of a date.
    fn settle_numbers(&mut self, func: Func, operands: &mut [Expr]) {
        self.note_padding(operands);
        let default = if func == Func::IntDiv { SqlType::bigint() } else { SqlType::double() };
        let Some(described) = self.type_alike(operands, &default) else { return };
        let described = propagated(&described);
        let number = match described.kind {
            // Integers divide as such, however large they are.
            TypeKind::Double if func == Func::IntDiv => {
                number_of(&SqlType::decimal(PRECISION_MAX, SCALE_MAX))
            }
            _ => number_of(&described),
        };
        for operand in operands {
            self.settle_as(operand, described.clone(), number.clone());
        }
    }

    /// Types an open parameter that is a condition.
    pub(super) fn settle_condition(&mut self, operands: &mut [Expr]) {
        if self.param_uses.is_empty() {
            return;
        }
        self.note_numbers(operands);
        for operand in operands {
            self.settle(operand, &SqlType::bigint());
            self.note_read_as(operand, own_number(&operand.ty));
        }
    }

    /// Types open parameters that are compared by the first typed operand, or as texts.
    pub(super) fn settle_compared(&mut self, operands: &mut [Expr]) {
        if self.param_uses.is_empty() {
            return;
        }
        self.note_compared(operands);
        let first = operands.iter().find(|e| !self.is_open(e));
        let ty = first.map(|first| first.ty.clone()).or_else(|| self.type_of_place.clone());
        let ty = ty.unwrap_or_else(|| self.param_text());
        for operand in operands.iter_mut() {
            self.settle(operand, &ty);
        }
        self.note_common_number(operands, true);
        self.note_compared_below(operands);
    }

    /// Notes that `operands` are compared: as numbers, if all that are no parameters are some, or of
    /// parameters alone all others are.
    fn note_compared(&mut self, operands: &[Expr]) {
        let is_param = |e: &Expr| matches!(e.kind, ExprKind::Param(_));
        let is_text = |e: &Expr| e.ty.is_string() || matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
        let is_number = |e: &Expr| !is_text(e) && !e.ty.is_temporal() && !self.is_open(e);
        let are_params = operands.iter().all(is_param);
        let decides = |e: &&Expr| are_params || !is_param(e);
        let no_numbers = operands.iter().filter(decides).filter(|e| !is_number(e)).count();
        let roles: Vec<ParamRole> = operands
            .iter()
            .map(|operand| match no_numbers - usize::from(are_params && !is_number(operand)) {
                0 if operands.len() > 1 => ParamRole::BesideNumbers,
                _ => ParamRole::Operand,
            })
            .collect();
        for (operand, role) in operands.iter().zip(roles) {
            self.note_role(operand, role);
        }
    }

    /// Types an open parameter that is negated.
    pub(super) fn settle_negated(&mut self, operand: &mut Expr) {
        self.settle(operand, &SqlType::double());
        self.note_role(operand, ParamRole::Number);
        self.note_read_as(operand, NumberRead::Double);
    }

    /// Types open parameters that are added up, exactly where they are no doubles.
    pub(super) fn settle_summed(&mut self, operands: &mut [Expr]) {
        self.settle_alike(operands, &SqlType::double());
        for operand in operands {
            let is_double = common_number(std::slice::from_ref(operand), false) == NumberRead::Double;
            self.note_role(operand, ParamRole::Number);
            self.note_read_as(operand, if is_double { NumberRead::Double } else { NumberRead::Decimal });
        }
    }

    /// Types open parameters that are read as texts.
    pub(super) fn settle_texts(&mut self, operands: &mut [Expr]) {
        let text = self.param_text();
        for operand in operands {
            self.note_role(operand, ParamRole::Text);
            self.settle(operand, &text);
        }
    }

    /// As [`Binder::settle_alike`], for operands that are read as texts.
    fn settle_texts_alike(&mut self, operands: &mut [Expr]) {
        let text = self.param_text();
        self.settle_alike(operands, &text);
        for operand in operands {
            self.note_role(operand, ParamRole::Text);
        }
    }

    /// Types open parameters among operands of LIKE: as texts in the character set of the others, which are
    /// texts if one of them is none.
    pub(super) fn settle_like(&mut self, operands: &mut [Expr]) {
        let is_bytes = |e: &Expr| e.ty.kind == TypeKind::Bit || e.ty.is_string() && e.ty.collation == BYTES;
        let known = operands.iter().find(|e| !self.is_open(e));
        let ty = match known {
            Some(known) if is_bytes(known) => SqlType::new(TypeKind::VarBinary, PARAM_BYTES),
            Some(known) if known.ty.is_string() => {
                SqlType::varchar(PARAM_BYTES / known.ty.max_char_bytes(), known.ty.collation)
            }
            _ => return self.settle_texts(operands),
        };
        for operand in operands {
            self.note_role(operand, ParamRole::Text);
            self.settle(operand, &ty);
        }
    }

    /// Types open parameters of which one is the result, texts if all are open.
    pub(super) fn settle_values(&mut self, operands: &mut [Expr]) {
        let text = self.param_text();
        if let Some(ty) = self.type_alike(operands, &text) {
            for operand in operands.iter_mut() {
                self.settle(operand, &ty);
            }
        }
        self.note_results(&operands.iter().collect::<Vec<_>>());
    }

    /// Notes which parameters among `results`, of which one is the result, are read as texts: all of a result
    /// that is one. Those of a number are read as that number.
    fn note_results(&mut self, results: &[&Expr]) {
        if !results.iter().any(|e| matches!(e.kind, ExprKind::Param(_))) {
            return;
        }
        let Ok(ty) = self.build.common_type(results, "") else { return };
        for result in results {
            match ty.kind {
                _ if ty.is_string() => self.note_role(result, ParamRole::Text),
                TypeKind::Decimal | TypeKind::Float | TypeKind::Double => {
                    self.note_read_as(result, own_number(&ty));
                }
                _ => {}
            }
        }
    }

    /// The type of the first of `exprs` that is no open parameter; text without any.
    fn known_type<'e>(&self, mut exprs: impl Iterator<Item = &'e Expr>) -> SqlType {
        exprs.find(|e| !self.is_open(e)).map_or_else(|| self.param_text(), |first| first.ty.clone())
    }

    /// Types the open parameters of a CASE: what conditions compare, and the results.
    pub(super) fn settle_case(
        &mut self,
        mut operand: Option<Expr>,
        mut arms: Vec<(Expr, Expr)>,
        mut otherwise: Option<Expr>,
    ) -> (Option<Expr>, Vec<(Expr, Expr)>, Option<Expr>) {
        if !self.has_open_params {
            self.note_case(&arms, otherwise.as_ref());
            return (operand, arms, otherwise);
        }
        let compared = self.known_type(arms.iter().map(|(condition, _)| condition).chain(&operand));
        let result = self.known_type(arms.iter().map(|(_, result)| result).chain(&otherwise));
        let condition = if operand.is_some() { compared.clone() } else { self.param_text() };
        for (tested, shown) in &mut arms {
            self.settle(tested, &condition);
            self.settle(shown, &result);
        }
        if let Some(operand) = &mut operand {
            self.settle(operand, &compared);
        }
        if let Some(otherwise) = &mut otherwise {
            self.settle(otherwise, &result);
        }
        self.note_case(&arms, otherwise.as_ref());
        (operand, arms, otherwise)
    }

    fn note_case(&mut self, arms: &[(Expr, Expr)], otherwise: Option<&Expr>) {
        if !self.param_uses.is_empty() {
            let results: Vec<&Expr> = arms.iter().map(|(_, result)| result).chain(otherwise).collect();
            self.note_results(&results);
            self.note_late(results);
        }
    }

    /// Types the open parameters among the arguments of the function called `name`.
    pub(super) fn settle_args(&mut self, name: &str, args: &mut [Expr]) {
        if !args.iter().any(|e| matches!(e.kind, ExprKind::Param(_))) {
            return;
        }
        let Some(func) = Func::find(name) else { return };
        match func {
            Func::IfNull | Func::Coalesce | Func::Greatest | Func::Least => {
                self.note_padding(args);
                self.settle_values(args);
                if matches!(func, Func::IfNull | Func::Coalesce) {
                    self.note_late(&*args);
                }
                return;
            }
            Func::NullIf => return self.settle_values(args),
            Func::StrCmp if !args.iter().all(|arg| self.is_param(arg)) => {
                return self.settle_texts_alike(args);
            }
            Func::Field => return self.settle_compared(args),
            Func::If if args.len() == 3 => {
                self.settle_condition(&mut args[..1]);
                self.settle_values(&mut args[1..]);
                return self.note_late(&args[1..]);
            }
            Func::Mod => return self.settle_operands(func, args),
            Func::TimeDiff => return self.settle_time_diff(args),
            _ => {}
        }
        for (at, arg) in args.iter_mut().enumerate() {
            let wanted = wanted(func, at);
            let ty = match func {
                // What is read as bytes is described by a collation that compares them.
                Func::Sha2 if at == 0 => SqlType::varchar(PARAM_CHARS, CollationId::UTF8MB4_BIN),
                _ => self.wanted_type(wanted),
            };
            self.settle(arg, &ty);
            let reads = match wanted {
                Wanted::Int if func == Func::Interval => NumberRead::Decimal,
                Wanted::Int | Wanted::Bytes => NumberRead::Integer,
                Wanted::Decimal if matches!(func, Func::Round | Func::Truncate) => own_number(&arg.ty),
                Wanted::Decimal => NumberRead::Decimal,
                Wanted::Double if func == Func::Rand => NumberRead::Integer,
                Wanted::Double => NumberRead::Double,
                _ if func == Func::Hex => NumberRead::Integer,
                _ => NumberRead::Own,
            };
            self.note_read_as(arg, reads);
            let role = match wanted {
                Wanted::Text | Wanted::Digits => ParamRole::Text,
                Wanted::Bytes | Wanted::Int | Wanted::Decimal | Wanted::Double => ParamRole::Number,
                Wanted::Date | Wanted::DateTime | Wanted::TimeOfDay => ParamRole::Moment,
                Wanted::Clock => ParamRole::Clock,
                Wanted::Time | Wanted::DatedClock => ParamRole::Value,
            };
            self.note_role(arg, role);
        }
    }

    fn settle_time_diff(&mut self, args: &mut [Expr]) {
        let text = self.param_text();
        self.settle_alike(args, &text);
        // It reads the time of a text itself, whatever number the type says.
        for arg in args.iter().filter(|e| !e.ty.is_temporal()) {
            self.note_role(arg, ParamRole::TimeText);
        }
    }

    /// Types an open parameter that is read as a date, or a date and time.
    pub(super) fn settle_moment(&mut self, expr: &mut Expr, kind: TypeKind) {
        self.settle(expr, &SqlType::new(kind, 0));
        self.note_role(expr, ParamRole::Moment);
    }

    /// Types open parameters that are a date and the number of units that is added to it.
    pub(super) fn settle_interval(&mut self, unit: IntervalUnit, date: &mut Expr, amount: &mut Expr) {
        let kind = if unit.is_date_unit() { TypeKind::Date } else { TypeKind::DateTime };
        self.settle_moment(date, kind);
        if unit.is_composite() {
            return self.settle_texts(std::slice::from_mut(amount));
        }
        let number = match unit {
            IntervalUnit::Second => SqlType::decimal(PRECISION_MAX, SCALE_MAX),
            _ => SqlType::bigint(),
        };
        self.settle(amount, &number);
        self.note_role(amount, ParamRole::Number);
        let is_decimal = number.kind == TypeKind::Decimal;
        self.note_read_as(amount, if is_decimal { NumberRead::Decimal } else { NumberRead::Integer });
    }

    fn wanted_type(&self, wanted: Wanted) -> SqlType {
        match wanted {
            Wanted::Text => self.param_text(),
            Wanted::Bytes => SqlType::new(TypeKind::VarBinary, PARAM_BYTES),
            Wanted::Int | Wanted::Digits => SqlType::bigint(),
            Wanted::Decimal => SqlType::decimal(PRECISION_MAX, SCALE_MAX),
            Wanted::Double => SqlType::double(),
            Wanted::Date => SqlType::new(TypeKind::Date, 10),
            Wanted::DateTime | Wanted::Clock | Wanted::DatedClock => SqlType::new(TypeKind::DateTime, 0),
            Wanted::Time | Wanted::TimeOfDay => SqlType::new(TypeKind::Time, 0),
        }
    }

    fn param_text(&self) -> SqlType {
        SqlType::varchar(PARAM_CHARS, self.ctx.collation)
    }
}

/// Whether the type of `?` number `n` is not given.
fn is_open(ctx: &BindContext<'_>, n: usize) -> bool {
    n < usize::from(ctx.param_count) && ctx.param_types.get(n).is_none_or(Option::is_none)
}

/// Whether a statement has open parameters.
pub(super) fn has_open(ctx: &BindContext<'_>) -> bool {
    ctx.literals == Literals::Constants && (0..usize::from(ctx.param_count)).any(|n| is_open(ctx, n))
}

/// The uses of a statement's parameters before it is bound: of the types given, else of texts.
pub(super) fn given_uses(ctx: &BindContext<'_>) -> Vec<ParamUse> {
    if ctx.literals != Literals::Constants {
        return Vec::new();
    }
    let text = || SqlType::varchar(PARAM_CHARS, ctx.collation);
    let given = |n| ctx.param_types.get(n).cloned().flatten();
    (0..ctx.param_count.into()).map(|n| ParamUse::of_type(given(n).unwrap_or_else(text))).collect()
}

/// The number that `operands` have in common: of dates beside numbers, if they are compared, doubles.
pub(super) fn common_number(operands: &[Expr], are_compared: bool) -> NumberRead {
    let has = |is_such: &dyn Fn(&SqlType) -> bool| operands.iter().any(|e| is_such(&e.ty));
    let is_real = |ty: &SqlType| {
        matches!(ty.kind, TypeKind::Float | TypeKind::Double | TypeKind::Enum | TypeKind::Set)
            || ty.is_string()
    };
    let is_exact = |ty: &SqlType| ty.is_integer() || ty.kind == TypeKind::Decimal;
    if has(&is_real) || (are_compared && has(&SqlType::is_temporal) && has(&is_exact)) {
        return NumberRead::Double;
    }
    let is_decimal = |ty: &SqlType| ty.kind == TypeKind::Decimal || (ty.is_temporal() && ty.decimals > 0);
    if has(&is_decimal) { NumberRead::Decimal } else { NumberRead::Integer }
}

/// Whether the value of `e` is a number.
pub(super) fn is_number(e: &Expr) -> bool {
    e.ty.is_integer() || matches!(e.ty.kind, TypeKind::Decimal | TypeKind::Float | TypeKind::Double)
}

/// The number that a value of type `ty` is read as where any number will do. A date or time is read as its
/// text would be.
fn own_number(ty: &SqlType) -> NumberRead {
    match ty.kind {
        TypeKind::Bit | TypeKind::Year => NumberRead::Integer,
        TypeKind::Decimal => NumberRead::Decimal,
        _ if ty.is_integer() => NumberRead::Integer,
        _ => NumberRead::Double,
    }
}

/// The type of the numbers that values of type `ty` are in arithmetic.
fn number_of(ty: &SqlType) -> SqlType {
    use TypeKind::{Bit, Date, DateTime, Time, Year};
    match ty.kind {
        Date => SqlType::new(TypeKind::BigInt, DATE_DIGITS + 1),
        Bit => SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, ty.length) },
        Year => SqlType::bigint_unsigned(),
        Time => SqlType::decimal(TIME_DIGITS, types::temporal::FSP_MAX),
        DateTime => SqlType::decimal(DATETIME_DIGITS, types::temporal::FSP_MAX),
        _ => ty.clone(),
    }
}

/// The type of a parameter for values of type `ty`: the widest of its kind.
fn propagated(ty: &SqlType) -> SqlType {
    use TypeKind::{
        BigInt, Binary, Bit, Blob, Char, Date, DateTime, Decimal, Double, Enum, Float, Int, MediumInt, Null,
        Set, SmallInt, Text, Time, Timestamp, TinyInt, VarBinary, VarChar, Year,
    };
    let micros = |kind| SqlType { decimals: types::temporal::FSP_MAX, ..SqlType::new(kind, 0) };
    match ty.kind {
        Bit => SqlType::new(Bit, 64),
        TinyInt | SmallInt | MediumInt | Int | BigInt => {
            SqlType { unsigned: ty.unsigned, ..SqlType::bigint() }
        }
        Year => SqlType { unsigned: true, ..SqlType::new(Year, 4) },
        Decimal => SqlType::decimal(PRECISION_MAX, SCALE_MAX),
        Float | Double => SqlType::double(),
        Char | VarChar | Enum | Set => SqlType::varchar(PARAM_BYTES / ty.max_char_bytes(), ty.collation),
        Null | Binary | VarBinary => SqlType::new(VarBinary, PARAM_BYTES),
        Text(_) => SqlType { collation: ty.collation, ..SqlType::new(Text(LobSize::Long), 0) },
        Blob(_) => SqlType::new(Blob(LobSize::Long), 0),
        Date => SqlType::new(Date, 10),
        Time => micros(Time),
        DateTime | Timestamp => micros(DateTime),
    }
}

/// What `func` takes its argument at position `at` for.
fn wanted(func: Func, at: usize) -> Wanted {
    use Func::{
        Abs, Acos, AddTime, Asin, Atan, Benchmark, Bin, BinToUuid, BitCount, Ceiling, Char, Conv, ConvertTz,
        Cos, Cot, DateDiff, DateFormat, DateOf, DayName, DayOfMonth, DayOfWeek, DayOfYear, Degrees, Elt, Exp,
        ExportSet, Floor, Format, FromDays, FromUnixTime, GetLock, Hour, InetNtoa, Insert, Interval, LPad,
        LastDay, LastInsertId, Left, Ln, Locate, Log, Log2, Log10, MakeDate, MakeSet, MakeTime, Microsecond,
        Minute, Month, MonthName, Oct, PeriodAdd, PeriodDiff, Pow, Quarter, RPad, Radians, Rand, Repeat,
        Right, Round, SecToTime, Second, Sha2, Sign, Sin, Sleep, Space, Sqrt, SubTime, Substring,
        SubstringIndex, Tan, TimeFormat, TimeOf, TimeToSec, Timestamp, ToDays, ToSeconds, Truncate,
        UnixTimestamp, UuidToBin, Week, WeekOfYear, Weekday, Year, YearWeek,
    };
    match (func, at) {
        (Substring | Left | Right | LPad | RPad | Repeat | Sha2 | Format | Round | Truncate | GetLock, 1) => {
            Wanted::Int
        }
        (Week | YearWeek | UuidToBin | BinToUuid, 1) | (Substring | SubstringIndex | Locate, 2) => {
            Wanted::Int
        }
        (BitCount, 0) => Wanted::Bytes,
        (Conv | Bin | Oct, 0) => Wanted::Digits,
        (Insert | Conv, 1 | 2) | (ExportSet | Elt | MakeSet, 0) | (ExportSet, 4) => Wanted::Int,
        (Space | InetNtoa | FromDays | LastInsertId | Benchmark, 0) | (Char | Interval, _) => Wanted::Int,
        (MakeDate | PeriodAdd | PeriodDiff, _) | (MakeTime, 0 | 1) => Wanted::Int,
        (MakeTime, 2) | (SecToTime | FromUnixTime | Sleep | Round | Truncate | Format, 0) => Wanted::Decimal,
        (
            Abs | Sign | Ceiling | Floor | Sqrt | Exp | Ln | Log2 | Log10 | Sin | Cos | Tan | Cot | Asin
            | Acos | Degrees | Radians | Rand,
            0,
        )
        | (Pow | Log | Atan, _) => Wanted::Double,
        (AddTime | SubTime, _) | (Timestamp, 1) => Wanted::Time,
        (TimeToSec, 0) => Wanted::TimeOfDay,
        (DateOf, 0) => Wanted::Date,
        (
            Year | Month | DayOfMonth | Quarter | DayOfWeek | Weekday | DayOfYear | Week | WeekOfYear
            | YearWeek | DayName | MonthName | LastDay | ToDays | ToSeconds | Timestamp | UnixTimestamp
            | DateFormat | ConvertTz,
            0,
        )
        | (DateDiff, _) => Wanted::DateTime,
        (Hour | Minute | Second | Microsecond | TimeOf, 0) => Wanted::Clock,
        (TimeFormat, 0) => Wanted::DatedClock,
        _ => Wanted::Text,
    }
}
