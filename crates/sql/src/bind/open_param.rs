//! Open parameters: the `?` of a statement that is being prepared, before values are bound.
//!
//! Nothing is known of them but what the text implies: beside a column they are what the column is, as arguments of a
//! function what it wants, else texts. Clients see these types in the answer to PREPARE, and the statement's columns are
//! typed by them. Executions are bound anew with the types of their values.

use expr::{Expr, ExprKind, Func};
use types::{LobSize, SqlType, TypeKind};

use super::Literals;
use super::binder::Binder;
use super::literal::PARAM_CHARS;

/// Bytes of a text whose length is not known.
const PARAM_BYTES: u32 = 65_535;

/// What a function takes an argument for that says nothing of its type.
#[derive(Clone, Copy)]
enum Wanted {
    Text,
    Int,
    Decimal,
    Double,
    Date,
    DateTime,
    Time,
}

impl Binder<'_, '_> {
    /// The number of an open parameter.
    fn open_param(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Param(n) = expr.kind else { return None };
        let n = usize::from(n);
        (self.ctx.literals == Literals::Constants && n >= self.ctx.param_types.len()).then_some(n)
    }

    /// Whether there are open parameters.
    pub(super) fn prepares(&self) -> bool {
        self.ctx.literals == Literals::Constants
            && self.ctx.param_types.len() < usize::from(self.ctx.param_count)
    }

    fn is_open(&self, expr: &Expr) -> bool {
        self.open_param(expr).is_some()
    }

    /// Makes `expr`, if it is an open parameter, one for values of type `ty`.
    pub(super) fn settle(&mut self, expr: &mut Expr, ty: &SqlType) {
        let Some(n) = self.open_param(expr) else { return };
        expr.ty = propagated(ty);
        if self.open_params.len() <= n {
            let text = self.param_text();
            self.open_params.resize(n + 1, text);
        }
        self.open_params[n] = expr.ty.clone();
    }

    /// Types the open parameters among operands that meet as equals by the others; by `default` if all are open.
    pub(super) fn settle_alike(&mut self, operands: &mut [Expr], default: &SqlType) {
        if !operands.iter().any(|e| self.is_open(e)) {
            return;
        }
        let known: Vec<&Expr> = operands.iter().filter(|e| !self.is_open(e)).collect();
        let ty = match known[..] {
            [] => default.clone(),
            [only] => only.ty.clone(),
            _ => self.build.common_type(&known, "").unwrap_or_else(|_| default.clone()),
        };
        for operand in operands {
            self.settle(operand, &ty);
        }
    }

    /// As [`Binder::settle_alike`], for the operands of the operator `func`.
    pub(super) fn settle_operands(&mut self, func: Func, operands: &mut [Expr]) {
        let bytes = SqlType::new(TypeKind::VarBinary, PARAM_BYTES);
        match func {
            Func::BitAnd | Func::BitOr | Func::BitXor | Func::BitNot => self.settle_alike(operands, &bytes),
            Func::ShiftLeft | Func::ShiftRight => {
                for (operand, ty) in operands.iter_mut().zip([bytes, SqlType::bigint()]) {
                    self.settle(operand, &ty);
                }
            }
            _ => self.settle_alike(operands, &SqlType::double()),
        }
    }

    /// Types an open parameter that is a condition.
    pub(super) fn settle_condition(&mut self, operands: &mut [Expr]) {
        for operand in operands {
            self.settle(operand, &SqlType::bigint());
        }
    }

    /// Types open parameters that are texts.
    pub(super) fn settle_texts(&mut self, operands: &mut [Expr]) {
        if !self.prepares() {
            return;
        }
        let text = self.param_text();
        self.settle_alike(operands, &text);
    }

    /// The common type of those of `exprs` that are no open parameters; text without any.
    fn known_type<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) -> SqlType {
        let known: Vec<&Expr> = exprs.filter(|e| !self.is_open(e)).collect();
        let common = self.build.common_type(&known, "").ok().filter(|ty| ty.kind != TypeKind::Null);
        common.unwrap_or_else(|| self.param_text())
    }

    /// Types the open parameters of a CASE: what conditions compare, and the results.
    pub(super) fn settle_case(
        &mut self,
        mut operand: Option<Expr>,
        mut arms: Vec<(Expr, Expr)>,
        mut otherwise: Option<Expr>,
    ) -> (Option<Expr>, Vec<(Expr, Expr)>, Option<Expr>) {
        if !self.prepares() {
            return (operand, arms, otherwise);
        }
        let compared = self.known_type(operand.iter().chain(arms.iter().map(|(condition, _)| condition)));
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
        (operand, arms, otherwise)
    }

    /// Types the open parameters among the arguments of the function called `name`.
    pub(super) fn settle_args(&mut self, name: &str, args: &mut [Expr]) {
        if !args.iter().any(|e| self.is_open(e)) {
            return;
        }
        let Some(func) = Func::find(name) else { return };
        match func {
            Func::IfNull | Func::Coalesce | Func::NullIf | Func::Greatest | Func::Least | Func::Field => {
                return self.settle_texts(args);
            }
            Func::If if args.len() == 3 => {
                self.settle_condition(&mut args[..1]);
                return self.settle_texts(&mut args[1..]);
            }
            Func::Mod => return self.settle_operands(func, args),
            _ => {}
        }
        for (at, arg) in args.iter_mut().enumerate() {
            let ty = self.wanted_type(wanted(func, at));
            self.settle(arg, &ty);
        }
    }

    fn wanted_type(&self, wanted: Wanted) -> SqlType {
        match wanted {
            Wanted::Text => self.param_text(),
            Wanted::Int => SqlType::bigint(),
            Wanted::Decimal => SqlType::decimal(types::decimal::MAX_PRECISION, types::decimal::MAX_SCALE),
            Wanted::Double => SqlType::double(),
            Wanted::Date => SqlType::new(TypeKind::Date, 10),
            Wanted::DateTime => SqlType::new(TypeKind::DateTime, 0),
            Wanted::Time => SqlType::new(TypeKind::Time, 0),
        }
    }

    fn param_text(&self) -> SqlType {
        SqlType::varchar(PARAM_CHARS, self.ctx.collation)
    }

    /// The types of all parameters of a statement that is being prepared.
    pub(super) fn take_open_params(&mut self) -> Vec<SqlType> {
        if self.ctx.literals != Literals::Constants || !self.ctx.param_types.is_empty() {
            return Vec::new();
        }
        let text = self.param_text();
        self.open_params.resize(self.ctx.param_count.into(), text);
        std::mem::take(&mut self.open_params)
    }
}

/// The type of a parameter for values of type `ty`: the widest of its kind.
fn propagated(ty: &SqlType) -> SqlType {
    use TypeKind::{
        BigInt, Binary, Bit, Blob, Char, Date, DateTime, Decimal, Double, Enum, Float, Int, MediumInt, Null,
        Set, SmallInt, Text, Time, Timestamp, TinyInt, VarBinary, VarChar, Year,
    };
    let micros = |kind| SqlType { decimals: types::temporal::MAX_FSP, ..SqlType::new(kind, 0) };
    match ty.kind {
        Bit => SqlType::new(Bit, 64),
        TinyInt | SmallInt | MediumInt | Int | BigInt => {
            SqlType { unsigned: ty.unsigned, ..SqlType::bigint() }
        }
        Year => SqlType { unsigned: true, ..SqlType::new(Year, 4) },
        Decimal => SqlType::decimal(types::decimal::MAX_PRECISION, types::decimal::MAX_SCALE),
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
        Abs, Acos, Asin, Atan, Benchmark, BinToUuid, BitCount, Ceiling, Char, Conv, ConvertTz, Cos, Cot,
        DateDiff, DateFormat, DateOf, DayName, DayOfMonth, DayOfWeek, DayOfYear, Degrees, Elt, Exp,
        ExportSet, Floor, Format, FromDays, FromUnixTime, GetLock, Hour, InetNtoa, Insert, LPad, LastDay,
        LastInsertId, Left, Ln, Locate, Log, Log2, Log10, MakeDate, MakeSet, MakeTime, Microsecond, Minute,
        Month, MonthName, PeriodAdd, PeriodDiff, Pow, Quarter, RPad, Radians, Rand, Repeat, Right, Round,
        SecToTime, Second, Sha2, Sign, Sin, Sleep, Space, Sqrt, Substring, SubstringIndex, Tan, TimeFormat,
        TimeOf, TimeToSec, Timestamp, ToDays, ToSeconds, Truncate, UnixTimestamp, UuidToBin, Week,
        WeekOfYear, Weekday, Year, YearWeek,
    };
    match (func, at) {
        (Substring | Left | Right | LPad | RPad | Repeat | Sha2 | Format | Round | Truncate | GetLock, 1) => {
            Wanted::Int
        }
        (Week | YearWeek | UuidToBin | BinToUuid, 1) | (Substring | SubstringIndex | Locate, 2) => {
            Wanted::Int
        }
        (Insert | Conv, 1 | 2) | (ExportSet | Elt | MakeSet, 0) | (ExportSet, 4) => Wanted::Int,
        (Space | Char | InetNtoa | FromDays | BitCount | LastInsertId | Rand | Benchmark, 0) | (Char, _) => {
            Wanted::Int
        }
        (MakeDate | PeriodAdd | PeriodDiff, _) | (MakeTime, 0 | 1) => Wanted::Int,
        (MakeTime, 2) | (SecToTime | FromUnixTime | Sleep | Round | Truncate, 0) => Wanted::Decimal,
        (
            Abs | Sign | Ceiling | Floor | Sqrt | Exp | Ln | Log2 | Log10 | Sin | Cos | Tan | Cot | Asin
            | Acos | Degrees | Radians,
            0,
        )
        | (Pow | Log | Atan, _) => Wanted::Double,
        (Hour | Minute | Second | Microsecond | TimeOf | TimeFormat | TimeToSec, 0) => Wanted::Time,
        (DateOf, 0) => Wanted::Date,
        (
            Year | Month | DayOfMonth | Quarter | DayOfWeek | Weekday | DayOfYear | Week | WeekOfYear
            | YearWeek | DayName | MonthName | LastDay | ToDays | ToSeconds | Timestamp | UnixTimestamp
            | DateFormat | ConvertTz,
            0,
        )
        | (DateDiff, _) => Wanted::DateTime,
        _ => Wanted::Text,
    }
}
