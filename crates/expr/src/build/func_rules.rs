//! The table of type rules.
//!
//! One row a function: `Variant rule, nulls`. The rules are those of [`Rule`]; what computes a type or builds
//! an expression is in the files of `build/`.

use types::TypeKind;

use super::rules::Nulls::{Args, Maybe, Never, Strict};
use super::rules::Rule::{
    self, Bool, Build, Clock, Date, DateTime, Digits, Double, Fixed, FromFirst, FromTexts, Int, IntOfTexts,
    Of, Text, Time, UDigits, UInt, Year,
};
use super::rules::{self as rule, Nulls};
use super::types_of as of;
use crate::func::Func;

macro_rules! rules {
    ($($variant:ident $rule:expr, $nulls:ident;)*) => {
        /// How the result of `func` is typed; functions of units are typed where they are built.
        pub(crate) fn rule_of(func: Func) -> (Rule, Nulls) {
            match func {
                $(Func::$variant => ($rule, $nulls),)*
                Func::DateAdd(_) | Func::DateSub(_) | Func::Extract(_) | Func::TimestampDiff(_) => (Int, Maybe),
            }
        }
    };
}

rules! {
    // Arithmetic and bits.
    Neg Of(of::signed_number), Args;
    Add Of(of::arithmetic), Args;
    Sub Of(of::arithmetic), Args;
    Mul Of(of::arithmetic), Args;
    Div Of(of::division), Maybe;
    IntDiv Of(of::integer_division), Maybe;
    Mod Of(of::arithmetic), Maybe;
    BitAnd Of(rule::bits), Args;
    BitOr Of(rule::bits), Args;
    BitXor Of(rule::bits), Args;
    ShiftLeft Of(rule::shifted_bits), Args;
    ShiftRight Of(rule::shifted_bits), Args;
    BitNot Of(rule::shifted_bits), Args;
    BitCount Int, Args;

    // Strings and their collations.
    KeptNumber Double, Args;
    KeptValue Of(rule::as_first), Args;
    CachedValue Of(rule::as_first), Args;
    MomentOfText Of(rule::as_first), Args;
    FullScale Of(rule::as_first), Args;
    OwnDigits Of(rule::as_first), Args;
    AsMoment Of(rule::as_first), Args;
    DateInList Date, Args;
    Collate Of(rule::as_first), Args;
    ConvertUsing Of(rule::as_first), Maybe;
    ShareCharset Of(rule::as_first), Maybe;
    CutText Of(rule::as_first), Maybe;
    PadBytes Of(rule::as_first), Maybe;
    Charset Text(64), Strict;
    Collation Text(64), Strict;
    Coercibility Build(of::build_special), Never;

    // Choice.
    If Build(of::build_special), Args;
    Coalesce Build(of::build_special), Args;
    IfNull Build(of::build_ifnull), Args;
    NullIf Build(of::build_special), Maybe;
    IsNull Build(of::build_special), Never;
    Greatest Build(of::build_special), Args;
    Least Build(of::build_special), Args;
    GreatestMoment Build(of::build_special), Args;
    LeastMoment Build(of::build_special), Args;
    Interval Digits(2), Never;
    Elt Build(of::build_special), Maybe;
    Field Build(of::build_field), Never;

    // Lengths and characters.
    Length Digits(11), Args;
    BitLength Digits(11), Args;
    CharLength Digits(11), Args;
    Ascii Digits(4), Args;
    Ord Int, Args;
    Char Of(of::char_bytes), Args;

    // Texts from texts.
    Concat FromTexts(rule::sum_of_chars), Args;
    ConcatWs FromTexts(rule::joined_chars), Args;
    Upper FromTexts(rule::first_chars), Args;
    Lower FromTexts(rule::first_chars), Args;
    Reverse FromTexts(rule::first_chars), Args;
    Left FromFirst(rule::cut_chars), Args;
    Right FromFirst(rule::cut_chars), Args;
    Substring FromFirst(rule::substring_chars), Args;
    SubstringIndex FromTexts(rule::first_chars), Args;
    Trim FromTexts(rule::first_chars), Args;
    TrimLeading FromTexts(rule::first_chars), Args;
    TrimTrailing FromTexts(rule::first_chars), Args;
    LTrim FromTexts(rule::first_chars), Args;
    RTrim FromTexts(rule::first_chars), Args;
    LPad FromTexts(rule::padded_chars), Args;
    RPad FromTexts(rule::padded_chars), Args;
    Repeat FromFirst(rule::repeated_chars), Args;
    Space Of(of::spaces), Args;
    Replace FromTexts(rule::replaced_chars), Args;
    Insert FromTexts(rule::inserted_chars), Args;
    Quote FromTexts(rule::quoted_chars), Args;
    MakeSet FromTexts(rule::set_chars), Args;
    ExportSet FromTexts(rule::exported_chars), Args;
    Soundex FromTexts(rule::soundex_chars), Args;
    Format Of(rule::formatted_number), Args;

    // Searches.
    Instr IntOfTexts(11), Args;
    Locate IntOfTexts(11), Args;
    FindInSet IntOfTexts(11), Args;
    LikeEscape Bool, Args;
    StrCmp IntOfTexts(2), Args;

    // Notations and digests.
    Hex Of(rule::hex_text), Args;
    Unhex Of(rule::decoded_bytes), Maybe;
    ToBase64 Of(rule::base64_text), Args;
    FromBase64 Of(rule::decoded_bytes), Maybe;
    Bin Text(65), Maybe;
    Oct Text(65), Maybe;
    Conv Text(65), Maybe;
    Md5 Text(32), Args;
    Sha1 Text(40), Args;
    Sha2 Of(rule::digest), Maybe;
    Crc32 UDigits(10), Args;

    // Numbers.
    Abs Of(of::signed_number), Args;
    Sign Int, Args;
    Ceiling Of(of::integer_part), Args;
    Floor Of(of::integer_part), Args;
    Round Of(of::rounded), Args;
    Truncate Of(of::rounded), Args;
    Sqrt Double, Maybe;
    Pow Double, Maybe;
    Exp Double, Maybe;
    Ln Double, Maybe;
    Log Double, Maybe;
    Log10 Double, Maybe;
    Log2 Double, Maybe;
    Pi Fixed(6, 8), Never;
    Sin Double, Maybe;
    Cos Double, Maybe;
    Tan Double, Maybe;
    Cot Double, Maybe;
    Asin Double, Maybe;
    Acos Double, Maybe;
    Atan Double, Maybe;
    Degrees Double, Args;
    Radians Double, Args;
    Rand Double, Args;
    IsUuid Digits(1), Maybe;
    UuidToBin Of(of::uuid_bytes), Maybe;
    BinToUuid Text(36), Maybe;
    InetAton UInt, Maybe;
    InetNtoa Text(31), Maybe;
    Uuid Text(36), Args;

    // The session.
    Version Text(60), Never;
    Database Text(64), Maybe;
    User Text(288), Args;
    CurrentUser Text(288), Args;
    CurrentRole Text(12_582_912), Args;
    ConnectionId UInt, Never;
    ValidatePasswordStrength Digits(10), Maybe;
    LastInsertId UInt, Args;
    RowCount Int, Never;
    FoundRows Int, Never;
    Sleep Int, Never;
    GetLock Digits(1), Maybe;
    ReleaseLock Digits(1), Maybe;
    ReleaseAllLocks UInt, Never;
    IsFreeLock Digits(1), Maybe;
    IsUsedLock UInt, Maybe;
    Benchmark Digits(1), Maybe;

    // The clock.
    Now Clock(TypeKind::DateTime), Never;
    SysDate Clock(TypeKind::DateTime), Never;
    CurDate Date, Never;
    CurTime Clock(TypeKind::Time), Never;
    UtcDate Date, Never;
    UtcTime Clock(TypeKind::Time), Never;
    UtcTimestamp Clock(TypeKind::DateTime), Never;
    UnixTimestamp Of(rule::unix_seconds), Args;
    FromUnixTime Build(of::build_from_unixtime), Maybe;
    FormatUnixTime Of(of::formatted_time), Maybe;
    ConvertTz Of(of::datetime_of_first), Maybe;

    // Parts of dates and times.
    DateOf Date, Maybe;
    TimeOf Time, Maybe;
    Year Year, Maybe;
    Month Digits(3), Maybe;
    DayOfMonth Digits(3), Maybe;
    Quarter Digits(2), Maybe;
    Hour Digits(4), Maybe;
    Minute Digits(3), Maybe;
    Second Digits(3), Maybe;
    Microsecond Int, Maybe;
    DayOfWeek Digits(2), Maybe;
    Weekday Digits(2), Maybe;
    DayOfYear Digits(4), Maybe;
    Week Digits(3), Maybe;
    WeekOfYear Digits(3), Maybe;
    YearWeek Digits(7), Maybe;
    DayName Text(9), Maybe;
    MonthName Text(9), Maybe;

    // Arithmetic of dates and times.
    LastDay Date, Maybe;
    ToDays Digits(8), Maybe;
    FromDays Date, Maybe;
    ToSeconds Int, Maybe;
    MakeDate Date, Maybe;
    DateDiff Digits(9), Maybe;
    PeriodAdd Int, Args;
    PeriodDiff Int, Args;
    AddDate Build(of::build_special), Maybe;
    SubDate Build(of::build_special), Maybe;
    Timestamp DateTime, Maybe;
    TimeDiff Time, Maybe;
    AddTime Of(of::add_time), Maybe;
    SubTime Of(of::add_time), Maybe;
    SecToTime Of(of::time_of_seconds), Maybe;
    TimeToSec Digits(10), Maybe;
    MakeTime Of(of::time_of_third), Maybe;
    DateFormat Of(of::formatted_time), Maybe;
    TimeFormat Of(of::formatted_time), Maybe;
    StrToDate Of(of::str_to_date), Maybe;
    GetFormat Text(17), Maybe;
    Regexp Bool, Args;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_rule_of_their_own_are_made_of_no_texts() {
        for func in Func::names().filter_map(Func::find) {
            assert!(!matches!(rule_of(func).0, Text(_)) || func.makes_own_text(), "{}", func.name());
        }
    }

    #[test]
    fn texts_made_of_texts_keep_their_character_set() {
        for func in Func::names().filter_map(Func::find).filter(|func| *func != Func::Coalesce) {
            let is_made_of_texts = matches!(rule_of(func).0, FromTexts(_) | FromFirst(_));
            assert_eq!(func.keeps_charset(), is_made_of_texts, "{}", func.name());
        }
    }
}
