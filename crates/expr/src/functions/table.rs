//! The table of implementations.
//!
//! One row a function: `Variant implementation`, a function of the call.

use types::Value;

use super::{
    Call, arithmetic, bits, choose, clock, date, date_add, date_parts, encode, epoch, format, hash,
    identifier, info, kept, number, own_digits, pad, radix, random, round, search, str_to_date, text,
    text_edit, time, user_lock,
};
use crate::EvalError;
use crate::func::Func;

macro_rules! implementations {
    (
        calls { $($variant:ident $eval:path;)* }
        units { $($unit:ident $unit_eval:path;)* }
    ) => {
        /// Evaluates a call of `func`.
        pub(crate) fn eval<'v>(func: Func, call: &Call<'v>) -> Result<Value<'v>, EvalError> {
            match func {
                $(Func::$variant => $eval(call),)*
                $(Func::$unit(unit) => $unit_eval(call, unit),)*
            }
        }
    };
}

implementations! {
    calls {
        // Arithmetic and bits.
        Neg arithmetic::negate;
        Add arithmetic::add;
        Sub arithmetic::subtract;
        Mul arithmetic::multiply;
        Div arithmetic::divide;
        IntDiv arithmetic::divide_int;
        Mod arithmetic::modulo;
        BitAnd bits::and;
        BitOr bits::or;
        BitXor bits::xor;
        ShiftLeft bits::shift_left;
        ShiftRight bits::shift_right;
        BitNot bits::not;
        BitCount bits::count;

        // Strings and their collations.
        KeptNumber kept::number;
        KeptValue kept::value;
        CachedValue kept::value;
        MomentOfText kept::moment_of_text;
        FullScale round::full_scale;
        OwnDigits own_digits::own_digits;
        AsMoment choose::as_moment;
        DateInList date::date_in_list;
        Collate text::collate;
        ConvertUsing text::convert_using;
        ShareCharset text::share_charset;
        CutText text::cut;
        PadBytes text::pad_bytes;
        Charset info::charset;
        Collation info::collation;
        Coercibility choose::rewritten;

        // Choice.
        If choose::rewritten;
        Coalesce choose::coalesce;
        IfNull choose::coalesce;
        NullIf choose::rewritten;
        IsNull choose::rewritten;
        Greatest choose::greatest;
        Least choose::least;
        GreatestMoment choose::greatest_moment;
        LeastMoment choose::least_moment;
        Interval choose::interval;
        Elt choose::elt;
        Field choose::field;

        // Lengths and characters.
        Length text::length;
        BitLength text::bit_length;
        CharLength text::char_length;
        Ascii text::ascii;
        Ord text::ord;
        Char text::char;

        // Texts from texts.
        Concat text_edit::concat;
        ConcatWs text_edit::concat_ws;
        Upper text::upper;
        Lower text::lower;
        Reverse text::reverse;
        Left text::left;
        Right text::right;
        Substring text::substring;
        SubstringIndex text_edit::substring_index;
        Trim pad::trim_both;
        TrimLeading pad::trim_leading;
        TrimTrailing pad::trim_trailing;
        LTrim pad::trim_leading;
        RTrim pad::trim_trailing;
        LPad pad::left;
        RPad pad::right;
        Repeat pad::repeat;
        Space pad::space;
        Replace text_edit::replace;
        Insert text_edit::insert;
        Quote text_edit::quote;
        MakeSet text_edit::make_set;
        ExportSet text_edit::export_set;
        Soundex text_edit::soundex;
        Format format::format;

        // Searches.
        Instr search::instr;
        Locate search::locate;
        FindInSet search::find_in_set;
        LikeEscape search::like_escape;
        StrCmp search::strcmp;

        // Notations and digests.
        Hex encode::hex;
        Unhex encode::unhex;
        ToBase64 encode::to_base64;
        FromBase64 encode::from_base64;
        Bin radix::bin;
        Oct radix::oct;
        Conv radix::conv;
        Md5 hash::md5;
        Sha1 hash::sha1;
        Sha2 hash::sha2;
        Crc32 hash::crc32;

        // Numbers.
        Abs number::abs;
        Sign number::sign;
        Ceiling round::ceiling;
        Floor round::floor;
        Round round::round;
        Truncate round::truncate;
        Sqrt number::sqrt;
        Pow number::pow;
        Exp number::exp;
        Ln number::ln;
        Log number::log;
        Log10 number::log10;
        Log2 number::log2;
        Pi number::pi;
        Sin number::sin;
        Cos number::cos;
        Tan number::tan;
        Cot number::cot;
        Asin number::asin;
        Acos number::acos;
        Atan number::atan;
        Degrees number::degrees;
        Radians number::radians;
        Rand random::rand;
        IsUuid identifier::is_uuid;
        UuidToBin identifier::uuid_to_bin;
        BinToUuid identifier::bin_to_uuid;
        InetAton identifier::inet_aton;
        InetNtoa identifier::inet_ntoa;
        Uuid random::uuid;

        // The session.
        Version info::version;
        Database info::database;
        User info::user;
        CurrentUser info::current_user;
        CurrentRole info::current_role;
        ConnectionId info::connection_id;
        ValidatePasswordStrength info::password_strength;
        LastInsertId info::last_insert_id;
        RowCount info::row_count;
        FoundRows info::found_rows;
        Sleep info::sleep;
        GetLock user_lock::get_lock;
        ReleaseLock user_lock::release_lock;
        ReleaseAllLocks user_lock::release_all_locks;
        IsFreeLock user_lock::is_free_lock;
        IsUsedLock user_lock::is_used_lock;
        Benchmark info::benchmark;

        // The clock.
        Now clock::now;
        SysDate clock::sysdate;
        CurDate clock::curdate;
        CurTime clock::curtime;
        UtcDate clock::utc_date;
        UtcTime clock::utc_time;
        UtcTimestamp clock::utc_timestamp;
        UnixTimestamp epoch::unix_timestamp;
        FromUnixTime epoch::from_unixtime;
        FormatUnixTime epoch::format_unixtime;
        ConvertTz epoch::convert_tz;

        // Parts of dates and times.
        DateOf date_parts::date;
        TimeOf date_parts::time;
        Year date_parts::year;
        Month date_parts::month;
        DayOfMonth date_parts::day;
        Quarter date_parts::quarter;
        Hour date_parts::hour;
        Minute date_parts::minute;
        Second date_parts::second;
        Microsecond date_parts::microsecond;
        DayOfWeek date_parts::day_of_week;
        Weekday date_parts::weekday;
        DayOfYear date_parts::day_of_year;
        Week date_parts::week;
        WeekOfYear date_parts::week_of_year;
        YearWeek date_parts::year_week;
        DayName date_parts::day_name;
        MonthName date_parts::month_name;

        // Arithmetic of dates and times.
        LastDay date::last_day;
        ToDays date::to_days;
        FromDays date::from_days;
        ToSeconds date::to_seconds;
        MakeDate date::make_date;
        DateDiff date::date_diff;
        PeriodAdd date::period_add;
        PeriodDiff date::period_diff;
        AddDate choose::rewritten;
        SubDate choose::rewritten;
        Timestamp time::timestamp;
        TimeDiff time::time_diff;
        AddTime time::add_time;
        SubTime time::sub_time;
        SecToTime time::sec_to_time;
        TimeToSec time::time_to_sec;
        MakeTime time::make_time;
        DateFormat format::date_format;
        TimeFormat format::time_format;
        StrToDate str_to_date::str_to_date;
        GetFormat format::get_format;
        Regexp info::regexp;
    }
    units {
        DateAdd date_add::date_add;
        DateSub date_add::date_sub;
        Extract date_add::extract;
        TimestampDiff date_add::timestamp_diff;
    }
}
