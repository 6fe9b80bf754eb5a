//! The text of a row expression: functions, casts and CASE.

use std::fmt::Write;

use expr::Func;
use types::Charset;

use super::RowExpressionError as Refusal;
use super::text::Printer;
use crate::ast::{BinaryOp, Case, CastType, Expr, ExprKind, FunctionCall, TimeUnit, Trim, TrimSide};
use crate::bind::BindError;
use crate::print::sql_name;

/// Names of functions, and the one under which MySQL keeps each.
const SYNONYMS: &[(&str, &str)] = &[
    ("atan2", "atan"),
    ("ceil", "ceiling"),
    ("character_length", "char_length"),
    ("current_date", "curdate"),
    ("current_time", "curtime"),
    ("current_timestamp", "now"),
    ("day", "dayofmonth"),
    ("lcase", "lower"),
    ("localtime", "now"),
    ("localtimestamp", "now"),
    ("mid", "substr"),
    ("octet_length", "length"),
    ("position", "locate"),
    ("power", "pow"),
    ("schema", "database"),
    ("session_user", "user"),
    ("sha1", "sha"),
    ("substring", "substr"),
    ("system_user", "user"),
    ("ucase", "upper"),
];

/// Functions that MySQL completes with an argument.
const COMPLETED: &[(&str, usize, &str, &str)] = &[
    ("bin", 1, "conv", ",10,2"),
    ("oct", 1, "conv", ",10,8"),
    ("round", 1, "round", ",0"),
    ("week", 1, "week", ",0"),
    ("weekofyear", 1, "week", ",3"),
    ("yearweek", 1, "yearweek", ",0"),
];

/// Functions of one argument that are casts.
const CASTS: &[(&str, &str)] = &[("date", "date"), ("time", "time"), ("timestamp", "datetime")];

impl Printer<'_, '_, '_> {
    /// Functions and the forms with a syntax of their own.
    pub(super) fn call(&mut self, expr: &Expr<'_>) -> Result<(), Refusal> {
        match expr.kind {
            ExprKind::Call(call) => self.named(call),
            ExprKind::Case(case) => self.case(case),
            ExprKind::Cast(cast) if !cast.array => {
                self.put("cast(")?;
                self.expr(&cast.expr)?;
                self.put(" as ")?;
                self.cast_type(cast.ty)?;
                self.put(")")
            }
            ExprKind::ConvertUsing(convert) => {
                self.put("convert(")?;
                self.expr(&convert.expr)?;
                let charset = Charset::find(convert.charset);
                let charset = charset.ok_or_else(|| BindError::UnknownCharset(convert.charset.to_owned()))?;
                Ok(write!(self.out, " using {})", charset.name())?)
            }
            ExprKind::Collate(collate) => {
                self.put("(")?;
                self.expr(&collate.expr)?;
                Ok(write!(self.out, " collate {})", collate.collation.to_ascii_lowercase())?)
            }
            ExprKind::DateAdd(add) => self.interval(&add.date, add.subtract, &add.amount, add.unit),
            ExprKind::UnitCall(call) if call.diff => {
                write!(self.out, "timestampdiff({},", sql_name(call.unit))?;
                self.list("", &[call.first, call.second], ")")
            }
            ExprKind::UnitCall(call) => self.interval(&call.second, false, &call.first, call.unit),
            ExprKind::Extract(part, operand) => {
                write!(self.out, "extract({} from ", unit(part))?;
                self.expr(operand)?;
                self.put(")")
            }
            ExprKind::Trim(trim) => self.trim(trim),
            ExprKind::DefaultOf(name) => {
                self.put("default(")?;
                self.expr(&Expr { kind: ExprKind::Column(name), ..*expr })?;
                self.put(")")
            }
            ExprKind::Keyword(word) => self.put(word),
            _ => Err(Refusal::Construct),
        }
    }

    /// `name(args)`.
    pub(super) fn function(&mut self, name: &str, args: &[Expr<'_>]) -> Result<(), Refusal> {
        self.put(name)?;
        self.list("(", args, ")")
    }

    fn named(&mut self, call: &FunctionCall<'_>) -> Result<(), Refusal> {
        if call.returning.is_some() {
            return Err(BindError::NotSupported("RETURNING").into());
        }
        if Func::find(call.name).is_none() {
            return Err(Refusal::Function(format!("`{}`", call.name)));
        }
        // An error says the name as it is written here.
        self.binder.build.ensure_count(call.name, call.args.len())?;
        let name = call.name.to_ascii_lowercase();
        let is = |known: &str, count: usize| known == name && count == call.args.len();
        if let Some((.., shown, rest)) = COMPLETED.iter().find(|(known, count, ..)| is(known, *count)) {
            self.put(shown)?;
            self.list("(", call.args, rest)?;
            return self.put(")");
        }
        if let Some((_, ty)) = CASTS.iter().find(|(known, _)| is(known, 1)) {
            self.list("cast(", call.args, " as ")?;
            self.put(ty)?;
            return self.put(")");
        }
        match (&*name, call.args) {
            ("isnull", [value]) => {
                self.put("(")?;
                self.expr(value)?;
                self.put(" is null)")
            }
            ("mod", [left, right]) => {
                let kind = ExprKind::Binary(BinaryOp::Mod, left, right);
                self.expr(&Expr { kind, ..*left })
            }
            ("instr", [text, part]) => self.function("locate", &[*part, *text]),
            ("datediff", [left, right]) => {
                self.put("(")?;
                self.function("to_days", &[*left])?;
                self.put(" - ")?;
                self.function("to_days", &[*right])?;
                self.put(")")
            }
            ("get_format", [what, whose]) => {
                self.list("get_format(", &[*what], ", ")?;
                self.expr(whose)?;
                self.put(")")
            }
            (_, args) => {
                let shown = SYNONYMS.iter().find(|(known, _)| *known == name);
                self.function(shown.map_or(&*name, |(_, shown)| shown), args)
            }
        }
    }

    fn case(&mut self, case: &Case<'_>) -> Result<(), Refusal> {
        self.put("(case ")?;
        if let Some(operand) = &case.operand {
            self.expr(operand)?;
            self.put(" ")?;
        }
        for (when, then) in case.arms {
            self.put("when ")?;
            self.expr(when)?;
            self.put(" then ")?;
            self.expr(then)?;
            self.put(" ")?;
        }
        if let Some(otherwise) = &case.otherwise {
            self.put("else ")?;
            self.expr(otherwise)?;
            self.put(" ")?;
        }
        self.put("end)")
    }

    fn interval(
        &mut self,
        date: &Expr<'_>,
        subtract: bool,
        amount: &Expr<'_>,
        of: TimeUnit,
    ) -> Result<(), Refusal> {
        self.put("(")?;
        self.expr(date)?;
        self.put(if subtract { " - interval " } else { " + interval " })?;
        self.expr(amount)?;
        Ok(write!(self.out, " {})", unit(of))?)
    }

    fn trim(&mut self, trim: &Trim<'_>) -> Result<(), Refusal> {
        self.put(match trim.side {
            TrimSide::Both => "trim(",
            TrimSide::Leading => "trim(leading ",
            TrimSide::Trailing => "trim(trailing ",
        })?;
        if let Some(remove) = &trim.remove {
            self.expr(remove)?;
            self.put(" from ")?;
        } else if trim.side != TrimSide::Both {
            // MySQL's text of this, without what is removed, is none that it can read.
            self.put("_utf8mb4' ' from ")?;
        }
        self.expr(&trim.expr)?;
        self.put(")")
    }

    fn cast_type(&mut self, ty: CastType<'_>) -> Result<(), Refusal> {
        match ty {
            CastType::Binary(length) => self.text_type(length, "binary"),
            CastType::Char { binary: true, .. } => {
                Err(BindError::NotSupported("CHAR BINARY in a definition").into())
            }
            CastType::Char { length, national: true, .. } => self.text_type(length, "utf8mb3"),
            CastType::Char { length, charset: Some(name), .. } => {
                let charset =
                    Charset::find(name).ok_or_else(|| BindError::UnknownCharset(name.to_owned()))?;
                self.text_type(length, charset.name())
            }
            CastType::Char { length, charset: None, .. } => {
                let connection = self.binder.ctx.collation.collation();
                self.text_type(length, connection.map_or("binary", |collation| collation.charset.name()))
            }
            CastType::Signed => self.put("signed"),
            CastType::Unsigned => self.put("unsigned"),
            CastType::Date => self.put("date"),
            CastType::Time(digits) => self.sized("time", digits),
            CastType::DateTime(digits) => self.sized("datetime", digits),
            CastType::Year => self.put("year"),
            CastType::Decimal(digits, scale) => {
                Ok(write!(self.out, "decimal({},{})", digits.unwrap_or(10), scale.unwrap_or(0))?)
            }
            CastType::Double => self.put("double"),
            // As many bits of the mantissa as the one or the other has.
            CastType::Float(bits) => {
                self.put(if bits.is_some_and(|bits| bits > 24) { "double" } else { "float" })
            }
            CastType::Json => self.put("json"),
            CastType::Spatial(_) => Err(BindError::NotSupported("spatial types").into()),
        }
    }

    fn text_type(&mut self, length: Option<u32>, charset: &str) -> Result<(), Refusal> {
        self.sized("char", length)?;
        Ok(write!(self.out, " charset {charset}")?)
    }

    fn sized(&mut self, name: &str, size: Option<u32>) -> Result<(), Refusal> {
        self.put(name)?;
        match size {
            Some(size) => Ok(write!(self.out, "({size})")?),
            None => Ok(()),
        }
    }
}

/// The unit's name.
fn unit(unit: TimeUnit) -> String {
    sql_name(unit).to_ascii_lowercase()
}
