//! The table of operators and functions: names, argument counts, types, implementations.
//!
//! One row a function: `Variant [names] least..=most rule nulls implementation`. A function without names is
//! an operator, or is written with keywords. Type rules are in `build/`, implementations in `functions/`.

use types::temporal::IntervalUnit;
use types::{TypeKind, Value};

use crate::EvalError;
use crate::build::rules::Nulls::{Args, Maybe, Never, Strict};
use crate::build::rules::Rule::{
    self, Bool, Build, Clock, Date, DateTime, Digits, Double, Fixed, FromFirst, FromTexts, Int, IntOfTexts,
    Of, Text, Time, UDigits, UInt, Year,
};
use crate::build::rules::{self as rule, Nulls};
use crate::build::types_of as of;
use crate::functions::{
    Call, arithmetic, bits, choose, clock, date, date_add, date_parts, encode, epoch, format, hash,
    identifier, info, kept, number, pad, radix, random, round, search, str_to_date, text, text_edit, time,
    user_lock,
};

/// Any number of arguments.
const MANY: usize = u16::MAX as usize;

macro_rules! functions {
    (
        calls { $($variant:ident [$($name:literal),*] $least:literal ..= $most:tt $rule:expr, $nulls:ident, $eval:path;)* }
        units { $($unit:ident $unit_name:literal $unit_arity:literal $unit_eval:path;)* }
    ) => {
        /// An operator or function. Argument counts and types are settled by [`crate::Builder`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are MySQL's")]
        #[non_exhaustive]
        pub enum Func {
            $($variant,)*
            $($unit(IntervalUnit),)*
        }

        /// Every function that has a name.
        static NAMES: &[(&str, Func)] = &[$($(($name, Func::$variant),)*)*];

        impl Func {
            /// Least and largest number of arguments.
            pub fn arity(self) -> (usize, usize) {
                match self {
                    $(Func::$variant => ($least, $most),)*
                    $(Func::$unit(_) => ($unit_arity, $unit_arity),)*
                }
            }

            /// How the result is typed; functions of units are typed where they are built.
            pub(crate) fn rule(self) -> (Rule, Nulls) {
                match self {
                    $(Func::$variant => ($rule, $nulls),)*
                    $(Func::$unit(_) => (Int, Maybe),)*
                }
            }

            /// The name as error texts show it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Func::$variant => [$($name,)* stringify!($variant)][0],)*
                    $(Func::$unit(_) => $unit_name,)*
                }
            }

            /// Evaluates a call.
            pub(crate) fn eval<'v>(self, call: &Call<'v>) -> Result<Value<'v>, EvalError> {
                match self {
                    $(Func::$variant => $eval(call),)*
                    $(Func::$unit(unit) => $unit_eval(call, unit),)*
                }
            }
        }
    };
}

functions! {
    calls {
        // Arithmetic and bits.
        Neg [] 1..=1 Of(of::signed_number), Args, arithmetic::negate;
        Add [] 2..=2 Of(of::arithmetic), Args, arithmetic::add;
        Sub [] 2..=2 Of(of::arithmetic), Args, arithmetic::subtract;
        Mul [] 2..=2 Of(of::arithmetic), Args, arithmetic::multiply;
        Div [] 2..=2 Of(of::division), Maybe, arithmetic::divide;
        IntDiv [] 2..=2 Of(of::integer_division), Maybe, arithmetic::divide_int;
        Mod ["mod"] 2..=2 Of(of::arithmetic), Maybe, arithmetic::modulo;
        BitAnd [] 2..=2 Of(rule::bits), Args, bits::and;
        BitOr [] 2..=2 Of(rule::bits), Args, bits::or;
        BitXor [] 2..=2 Of(rule::bits), Args, bits::xor;
        ShiftLeft [] 2..=2 Of(rule::shifted_bits), Args, bits::shift_left;
        ShiftRight [] 2..=2 Of(rule::shifted_bits), Args, bits::shift_right;
        BitNot [] 1..=1 Of(rule::shifted_bits), Args, bits::not;
        BitCount ["bit_count"] 1..=1 Int, Args, bits::count;

        // Strings and their collations.
        KeptNumber [] 1..=1 Double, Args, kept::number;
        KeptValue [] 1..=1 Of(rule::as_first), Args, kept::value;
        FullScale [] 1..=1 Of(rule::as_first), Args, round::full_scale;
        AsMoment [] 1..=1 Of(rule::as_first), Args, choose::as_moment;
        Collate [] 1..=1 Of(rule::as_first), Args, text::collate;
        ConvertUsing [] 1..=1 Of(rule::as_first), Maybe, text::convert_using;
        ShareCharset [] 1..=1 Of(rule::as_first), Maybe, text::share_charset;
        CutText [] 1..=1 Of(rule::as_first), Maybe, text::cut;
        PadBytes [] 1..=1 Of(rule::as_first), Maybe, text::pad_bytes;
        Charset ["charset"] 1..=1 Text(64), Strict, info::charset;
        Collation ["collation"] 1..=1 Text(64), Strict, info::collation;
        Coercibility ["coercibility"] 1..=1 Build(of::build_special), Never, choose::rewritten;

        // Choice.
        If ["if"] 3..=3 Build(of::build_special), Args, choose::rewritten;
        Coalesce ["coalesce"] 1..=MANY Build(of::build_special), Args, choose::coalesce;
        IfNull ["ifnull"] 2..=2 Build(of::build_ifnull), Args, choose::coalesce;
        NullIf ["nullif"] 2..=2 Build(of::build_special), Maybe, choose::rewritten;
        IsNull ["isnull"] 1..=1 Build(of::build_special), Never, choose::rewritten;
        Greatest ["greatest"] 2..=MANY Build(of::build_special), Args, choose::greatest;
        Least ["least"] 2..=MANY Build(of::build_special), Args, choose::least;
        GreatestMoment [] 2..=MANY Build(of::build_special), Args, choose::greatest_moment;
        LeastMoment [] 2..=MANY Build(of::build_special), Args, choose::least_moment;
        Interval ["interval"] 2..=MANY Digits(2), Never, choose::interval;
        Elt ["elt"] 2..=MANY Build(of::build_special), Maybe, choose::elt;
        Field ["field"] 2..=MANY Build(of::build_field), Never, choose::field;

        // Lengths and characters.
        Length ["length", "octet_length"] 1..=1 Digits(11), Args, text::length;
        BitLength ["bit_length"] 1..=1 Digits(11), Args, text::bit_length;
        CharLength ["char_length", "character_length"] 1..=1 Digits(11), Args, text::char_length;
        Ascii ["ascii"] 1..=1 Digits(4), Args, text::ascii;
        Ord ["ord"] 1..=1 Int, Args, text::ord;
        Char ["char"] 1..=MANY Of(of::char_bytes), Args, text::char;

        // Texts from texts.
        Concat ["concat"] 1..=MANY FromTexts(rule::sum_of_chars), Args, text_edit::concat;
        ConcatWs ["concat_ws"] 2..=MANY FromTexts(rule::joined_chars), Args, text_edit::concat_ws;
        Upper ["upper", "ucase"] 1..=1 FromTexts(rule::first_chars), Args, text::upper;
        Lower ["lower", "lcase"] 1..=1 FromTexts(rule::first_chars), Args, text::lower;
        Reverse ["reverse"] 1..=1 FromTexts(rule::first_chars), Args, text::reverse;
        Left ["left"] 2..=2 FromFirst(rule::cut_chars), Args, text::left;
        Right ["right"] 2..=2 FromFirst(rule::cut_chars), Args, text::right;
        Substring ["substring", "substr", "mid"] 2..=3 FromFirst(rule::substring_chars), Args, text::substring;
        SubstringIndex ["substring_index"] 3..=3 FromTexts(rule::first_chars), Args, text_edit::substring_index;
        Trim ["trim"] 1..=2 FromTexts(rule::first_chars), Args, pad::trim_both;
        TrimLeading [] 1..=2 FromTexts(rule::first_chars), Args, pad::trim_leading;
        TrimTrailing [] 1..=2 FromTexts(rule::first_chars), Args, pad::trim_trailing;
        LTrim ["ltrim"] 1..=1 FromTexts(rule::first_chars), Args, pad::trim_leading;
        RTrim ["rtrim"] 1..=1 FromTexts(rule::first_chars), Args, pad::trim_trailing;
        LPad ["lpad"] 3..=3 FromTexts(rule::padded_chars), Args, pad::left;
        RPad ["rpad"] 3..=3 FromTexts(rule::padded_chars), Args, pad::right;
        Repeat ["repeat"] 2..=2 FromFirst(rule::repeated_chars), Args, pad::repeat;
        Space ["space"] 1..=1 Of(of::spaces), Args, pad::space;
        Replace ["replace"] 3..=3 FromTexts(rule::replaced_chars), Args, text_edit::replace;
        Insert ["insert"] 4..=4 FromTexts(rule::inserted_chars), Args, text_edit::insert;
        Quote ["quote"] 1..=1 FromTexts(rule::quoted_chars), Args, text_edit::quote;
        MakeSet ["make_set"] 2..=MANY FromTexts(rule::set_chars), Args, text_edit::make_set;
        ExportSet ["export_set"] 3..=5 Of(of::export_set), Args, text_edit::export_set;
        Soundex ["soundex"] 1..=1 FromTexts(rule::soundex_chars), Args, text_edit::soundex;
        Format ["format"] 2..=3 Of(rule::formatted_number), Args, format::format;

        // Searches.
        Instr ["instr"] 2..=2 IntOfTexts(11), Args, search::instr;
        Locate ["locate", "position"] 2..=3 IntOfTexts(11), Args, search::locate;
        FindInSet ["find_in_set"] 2..=2 IntOfTexts(11), Args, search::find_in_set;
        LikeEscape [] 3..=3 Bool, Args, search::like_escape;
        StrCmp ["strcmp"] 2..=2 IntOfTexts(2), Args, search::strcmp;

        // Notations and digests.
        Hex ["hex"] 1..=1 Of(rule::hex_text), Args, encode::hex;
        Unhex ["unhex"] 1..=1 Of(rule::decoded_bytes), Maybe, encode::unhex;
        ToBase64 ["to_base64"] 1..=1 Of(rule::base64_text), Args, encode::to_base64;
        FromBase64 ["from_base64"] 1..=1 Of(rule::decoded_bytes), Maybe, encode::from_base64;
        Bin ["bin"] 1..=1 Text(65), Maybe, radix::bin;
        Oct ["oct"] 1..=1 Text(65), Maybe, radix::oct;
        Conv ["conv"] 3..=3 Text(65), Maybe, radix::conv;
        Md5 ["md5"] 1..=1 Text(32), Args, hash::md5;
        Sha1 ["sha1", "sha"] 1..=1 Text(40), Args, hash::sha1;
        Sha2 ["sha2"] 2..=2 Of(rule::digest), Maybe, hash::sha2;
        Crc32 ["crc32"] 1..=1 UDigits(10), Args, hash::crc32;

        // Numbers.
        Abs ["abs"] 1..=1 Of(of::signed_number), Args, number::abs;
        Sign ["sign"] 1..=1 Int, Args, number::sign;
        Ceiling ["ceiling", "ceil"] 1..=1 Of(of::integer_part), Args, round::ceiling;
        Floor ["floor"] 1..=1 Of(of::integer_part), Args, round::floor;
        Round ["round"] 1..=2 Of(of::rounded), Args, round::round;
        Truncate ["truncate"] 2..=2 Of(of::rounded), Args, round::truncate;
        Sqrt ["sqrt"] 1..=1 Double, Maybe, number::sqrt;
        Pow ["pow", "power"] 2..=2 Double, Maybe, number::pow;
        Exp ["exp"] 1..=1 Double, Maybe, number::exp;
        Ln ["ln"] 1..=1 Double, Maybe, number::ln;
        Log ["log"] 1..=2 Double, Maybe, number::log;
        Log10 ["log10"] 1..=1 Double, Maybe, number::log10;
        Log2 ["log2"] 1..=1 Double, Maybe, number::log2;
        Pi ["pi"] 0..=0 Fixed(6, 8), Never, number::pi;
        Sin ["sin"] 1..=1 Double, Maybe, number::sin;
        Cos ["cos"] 1..=1 Double, Maybe, number::cos;
        Tan ["tan"] 1..=1 Double, Maybe, number::tan;
        Cot ["cot"] 1..=1 Double, Maybe, number::cot;
        Asin ["asin"] 1..=1 Double, Maybe, number::asin;
        Acos ["acos"] 1..=1 Double, Maybe, number::acos;
        Atan ["atan", "atan2"] 1..=2 Double, Maybe, number::atan;
        Degrees ["degrees"] 1..=1 Double, Args, number::degrees;
        Radians ["radians"] 1..=1 Double, Args, number::radians;
        Rand ["rand"] 0..=1 Double, Args, random::rand;
        IsUuid ["is_uuid"] 1..=1 Digits(1), Maybe, identifier::is_uuid;
        UuidToBin ["uuid_to_bin"] 1..=2 Of(of::uuid_bytes), Maybe, identifier::uuid_to_bin;
        BinToUuid ["bin_to_uuid"] 1..=2 Text(36), Maybe, identifier::bin_to_uuid;
        InetAton ["inet_aton"] 1..=1 UInt, Maybe, identifier::inet_aton;
        InetNtoa ["inet_ntoa"] 1..=1 Text(31), Maybe, identifier::inet_ntoa;
        Uuid ["uuid"] 0..=0 Text(36), Args, random::uuid;

        // The session.
        Version ["version"] 0..=0 Text(60), Never, info::version;
        Database ["database", "schema"] 0..=0 Text(64), Maybe, info::database;
        User ["user", "session_user", "system_user"] 0..=0 Text(288), Args, info::user;
        CurrentUser ["current_user"] 0..=0 Text(288), Args, info::current_user;
        CurrentRole ["current_role"] 0..=0 Text(12_582_912), Args, info::current_role;
        ConnectionId ["connection_id"] 0..=0 UInt, Never, info::connection_id;
        ValidatePasswordStrength ["validate_password_strength"] 1..=1 Digits(10), Maybe, info::password_strength;
        LastInsertId ["last_insert_id"] 0..=1 UInt, Args, info::last_insert_id;
        RowCount ["row_count"] 0..=0 Int, Never, info::row_count;
        FoundRows ["found_rows"] 0..=0 Int, Never, info::found_rows;
        Sleep ["sleep"] 1..=1 Int, Never, info::sleep;
        GetLock ["get_lock"] 2..=2 Digits(1), Maybe, user_lock::get_lock;
        ReleaseLock ["release_lock"] 1..=1 Digits(1), Maybe, user_lock::release_lock;
        ReleaseAllLocks ["release_all_locks"] 0..=0 UInt, Never, user_lock::release_all_locks;
        IsFreeLock ["is_free_lock"] 1..=1 Digits(1), Maybe, user_lock::is_free_lock;
        IsUsedLock ["is_used_lock"] 1..=1 UInt, Maybe, user_lock::is_used_lock;
        Benchmark ["benchmark"] 2..=2 Digits(1), Maybe, info::benchmark;

        // The clock.
        Now ["now", "current_timestamp", "localtime", "localtimestamp"] 0..=1 Clock(TypeKind::DateTime), Never, clock::now;
        SysDate ["sysdate"] 0..=1 Clock(TypeKind::DateTime), Never, clock::sysdate;
        CurDate ["curdate", "current_date"] 0..=0 Date, Never, clock::curdate;
        CurTime ["curtime", "current_time"] 0..=1 Clock(TypeKind::Time), Never, clock::curtime;
        UtcDate ["utc_date"] 0..=0 Date, Never, clock::utc_date;
        UtcTime ["utc_time"] 0..=1 Clock(TypeKind::Time), Never, clock::utc_time;
        UtcTimestamp ["utc_timestamp"] 0..=1 Clock(TypeKind::DateTime), Never, clock::utc_timestamp;
        UnixTimestamp ["unix_timestamp"] 0..=1 Of(rule::unix_seconds), Args, epoch::unix_timestamp;
        FromUnixTime ["from_unixtime"] 1..=2 Build(of::build_from_unixtime), Maybe, epoch::from_unixtime;
        FormatUnixTime [] 2..=2 Of(of::formatted_time), Maybe, epoch::format_unixtime;
        ConvertTz ["convert_tz"] 3..=3 Of(of::datetime_of_first), Maybe, epoch::convert_tz;

        // Parts of dates and times.
        DateOf ["date"] 1..=1 Date, Maybe, date_parts::date;
        TimeOf ["time"] 1..=1 Time, Maybe, date_parts::time;
        Year ["year"] 1..=1 Year, Maybe, date_parts::year;
        Month ["month"] 1..=1 Digits(3), Maybe, date_parts::month;
        DayOfMonth ["dayofmonth", "day"] 1..=1 Digits(3), Maybe, date_parts::day;
        Quarter ["quarter"] 1..=1 Digits(2), Maybe, date_parts::quarter;
        Hour ["hour"] 1..=1 Digits(4), Maybe, date_parts::hour;
        Minute ["minute"] 1..=1 Digits(3), Maybe, date_parts::minute;
        Second ["second"] 1..=1 Digits(3), Maybe, date_parts::second;
        Microsecond ["microsecond"] 1..=1 Int, Maybe, date_parts::microsecond;
        DayOfWeek ["dayofweek"] 1..=1 Digits(2), Maybe, date_parts::day_of_week;
        Weekday ["weekday"] 1..=1 Digits(2), Maybe, date_parts::weekday;
        DayOfYear ["dayofyear"] 1..=1 Digits(4), Maybe, date_parts::day_of_year;
        Week ["week"] 1..=2 Digits(3), Maybe, date_parts::week;
        WeekOfYear ["weekofyear"] 1..=1 Digits(3), Maybe, date_parts::week_of_year;
        YearWeek ["yearweek"] 1..=2 Digits(7), Maybe, date_parts::year_week;
        DayName ["dayname"] 1..=1 Text(9), Maybe, date_parts::day_name;
        MonthName ["monthname"] 1..=1 Text(9), Maybe, date_parts::month_name;

        // Arithmetic of dates and times.
        LastDay ["last_day"] 1..=1 Date, Maybe, date::last_day;
        ToDays ["to_days"] 1..=1 Digits(8), Maybe, date::to_days;
        FromDays ["from_days"] 1..=1 Date, Maybe, date::from_days;
        ToSeconds ["to_seconds"] 1..=1 Int, Maybe, date::to_seconds;
        MakeDate ["makedate"] 2..=2 Date, Maybe, date::make_date;
        DateDiff ["datediff"] 2..=2 Digits(9), Maybe, date::date_diff;
        PeriodAdd ["period_add"] 2..=2 Int, Args, date::period_add;
        PeriodDiff ["period_diff"] 2..=2 Int, Args, date::period_diff;
        AddDate ["adddate"] 2..=2 Build(of::build_special), Maybe, choose::rewritten;
        SubDate ["subdate"] 2..=2 Build(of::build_special), Maybe, choose::rewritten;
        Timestamp ["timestamp"] 1..=2 DateTime, Maybe, time::timestamp;
        TimeDiff ["timediff"] 2..=2 Time, Maybe, time::time_diff;
        AddTime ["addtime"] 2..=2 Of(of::add_time), Maybe, time::add_time;
        SubTime ["subtime"] 2..=2 Of(of::add_time), Maybe, time::sub_time;
        SecToTime ["sec_to_time"] 1..=1 Of(of::time_of_seconds), Maybe, time::sec_to_time;
        TimeToSec ["time_to_sec"] 1..=1 Digits(10), Maybe, time::time_to_sec;
        MakeTime ["maketime"] 3..=3 Of(of::time_of_third), Maybe, time::make_time;
        DateFormat ["date_format"] 2..=2 Of(of::formatted_time), Maybe, format::date_format;
        TimeFormat ["time_format"] 2..=2 Of(of::formatted_time), Maybe, format::time_format;
        StrToDate ["str_to_date"] 2..=2 Of(of::str_to_date), Maybe, str_to_date::str_to_date;
        GetFormat ["get_format"] 2..=2 Text(17), Maybe, format::get_format;
        Regexp ["regexp_like"] 2..=3 Bool, Args, info::regexp;
    }
    units {
        DateAdd "date_add_interval" 2 date_add::date_add;
        DateSub "date_sub_interval" 2 date_add::date_sub;
        Extract "extract" 1 date_add::extract;
        TimestampDiff "timestampdiff" 2 date_add::timestamp_diff;
    }
}

impl Func {
    /// Whether this is an operator on bits, of numbers or of bytes.
    pub(crate) fn is_bitwise(self) -> bool {
        use Func::{BitAnd, BitNot, BitOr, BitXor, ShiftLeft, ShiftRight};
        matches!(self, BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | BitNot)
    }

    /// Whether the text that this makes has nothing of a text among its arguments, its collation neither.
    pub(crate) fn is_own_text(self) -> bool {
        use Func::{
            AddTime, Char, DateAdd, DateSub, Format, FromBase64, Hex, Sha2, Space, SubTime, ToBase64, Unhex,
            UuidToBin,
        };
        let is_listed = matches!(
            self,
            AddTime
                | Char
                | DateAdd(_)
                | DateSub(_)
                | Format
                | FromBase64
                | Hex
                | Sha2
                | Space
                | SubTime
                | ToBase64
                | Unhex
                | UuidToBin
        );
        is_listed || matches!(self.rule().0, Rule::Text(_))
    }

    /// Whether this reads a time in its argument.
    pub(crate) fn reads_time(self) -> bool {
        use Func::{Hour, Microsecond, Minute, Second, TimeOf, TimeToSec};
        matches!(self, Hour | Minute | Second | Microsecond | TimeOf | TimeToSec)
    }

    /// Whether argument `i` of a function of texts is a text; the others are counts and places.
    pub(crate) fn takes_text(self, i: usize) -> bool {
        match self {
            Func::LPad | Func::RPad => i != 1,
            Func::Insert => i == 0 || i == 3,
            Func::SubstringIndex | Func::Locate => i < 2,
            Func::MakeSet => i > 0,
            _ => true,
        }
    }

    /// The argument of a search whose character set decides: bytes that it searches for, or puts in, are made
    /// text of that set.
    pub(crate) fn main_text(self) -> Option<usize> {
        match self {
            Func::Locate => Some(1),
            Func::Instr
            | Func::Replace
            | Func::SubstringIndex
            | Func::Trim
            | Func::TrimLeading
            | Func::TrimTrailing
            | Func::LPad
            | Func::RPad
            | Func::Insert => Some(0),
            _ => None,
        }
    }

    /// Whether each call may have another value, or has an effect: it is called as often as MySQL calls it,
    /// and never to find out about a statement that is not run.
    pub fn is_volatile(self) -> bool {
        matches!(
            self,
            Func::Rand
                | Func::Uuid
                | Func::Sleep
                | Func::SysDate
                | Func::Benchmark
                | Func::GetLock
                | Func::ReleaseLock
                | Func::ReleaseAllLocks
                | Func::IsFreeLock
                | Func::IsUsedLock
        )
    }

    /// Whether a call may take its time for others.
    pub fn waits(self) -> bool {
        matches!(self, Func::Sleep | Func::GetLock)
    }

    /// Whether the result is in the character set of the arguments' texts.
    pub(crate) fn keeps_charset(self) -> bool {
        matches!(self, Func::Coalesce) || matches!(self.rule().0, FromTexts(_) | FromFirst(_))
    }

    /// Every name that a call may have.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// The function of this name, without regard to case.
    pub fn find(name: &str) -> Option<Func> {
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, func)| *func)
    }
}
