//! Operators and functions: their names, and how many arguments they have.
//!
//! One row a function: `Variant [names] least..=most`. A function without names is an operator, or is written
//! with keywords. `build/func_rules.rs` types their calls, `functions/table.rs` evaluates them.

use types::temporal::IntervalUnit;

/// Any number of arguments.
const MANY: usize = u16::MAX as usize;

macro_rules! functions {
    (
        calls { $($variant:ident [$($name:literal),*] $least:literal ..= $most:tt;)* }
        units { $($unit:ident $unit_name:literal $unit_arity:literal;)* }
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

            /// The name as error texts show it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Func::$variant => [$($name,)* stringify!($variant)][0],)*
                    $(Func::$unit(_) => $unit_name,)*
                }
            }
        }
    };
}

functions! {
    calls {
        // Arithmetic and bits.
        Neg [] 1..=1;
        Add [] 2..=2;
        Sub [] 2..=2;
        Mul [] 2..=2;
        Div [] 2..=2;
        IntDiv [] 2..=2;
        Mod ["mod"] 2..=2;
        BitAnd [] 2..=2;
        BitOr [] 2..=2;
        BitXor [] 2..=2;
        ShiftLeft [] 2..=2;
        ShiftRight [] 2..=2;
        BitNot [] 1..=1;
        BitCount ["bit_count"] 1..=1;

        // Strings and their collations.
        KeptNumber [] 1..=1;
        KeptValue [] 1..=1;
        CachedValue [] 1..=1;
        MomentOfText [] 1..=1;
        FullScale [] 1..=1;
        OwnDigits [] 1..=1;
        AsMoment [] 1..=1;
        DateInList [] 1..=1;
        Collate [] 1..=1;
        ConvertUsing [] 1..=1;
        ShareCharset [] 1..=1;
        CutText [] 1..=1;
        PadBytes [] 1..=1;
        Charset ["charset"] 1..=1;
        Collation ["collation"] 1..=1;
        Coercibility ["coercibility"] 1..=1;

        // Choice.
        If ["if"] 3..=3;
        Coalesce ["coalesce"] 1..=MANY;
        IfNull ["ifnull"] 2..=2;
        NullIf ["nullif"] 2..=2;
        IsNull ["isnull"] 1..=1;
        Greatest ["greatest"] 2..=MANY;
        Least ["least"] 2..=MANY;
        GreatestMoment [] 2..=MANY;
        LeastMoment [] 2..=MANY;
        Interval ["interval"] 2..=MANY;
        Elt ["elt"] 2..=MANY;
        Field ["field"] 2..=MANY;

        // Lengths and characters.
        Length ["length", "octet_length"] 1..=1;
        BitLength ["bit_length"] 1..=1;
        CharLength ["char_length", "character_length"] 1..=1;
        Ascii ["ascii"] 1..=1;
        Ord ["ord"] 1..=1;
        Char ["char"] 1..=MANY;

        // Texts from texts.
        Concat ["concat"] 1..=MANY;
        ConcatWs ["concat_ws"] 2..=MANY;
        Upper ["upper", "ucase"] 1..=1;
        Lower ["lower", "lcase"] 1..=1;
        Reverse ["reverse"] 1..=1;
        Left ["left"] 2..=2;
        Right ["right"] 2..=2;
        Substring ["substring", "substr", "mid"] 2..=3;
        SubstringIndex ["substring_index"] 3..=3;
        Trim ["trim"] 1..=2;
        TrimLeading [] 1..=2;
        TrimTrailing [] 1..=2;
        LTrim ["ltrim"] 1..=1;
        RTrim ["rtrim"] 1..=1;
        LPad ["lpad"] 3..=3;
        RPad ["rpad"] 3..=3;
        Repeat ["repeat"] 2..=2;
        Space ["space"] 1..=1;
        Replace ["replace"] 3..=3;
        Insert ["insert"] 4..=4;
        Quote ["quote"] 1..=1;
        MakeSet ["make_set"] 2..=MANY;
        ExportSet ["export_set"] 3..=5;
        Soundex ["soundex"] 1..=1;
        Format ["format"] 2..=3;

        // Searches.
        Instr ["instr"] 2..=2;
        Locate ["locate", "position"] 2..=3;
        FindInSet ["find_in_set"] 2..=2;
        LikeEscape [] 3..=3;
        StrCmp ["strcmp"] 2..=2;

        // Notations and digests.
        Hex ["hex"] 1..=1;
        Unhex ["unhex"] 1..=1;
        ToBase64 ["to_base64"] 1..=1;
        FromBase64 ["from_base64"] 1..=1;
        Bin ["bin"] 1..=1;
        Oct ["oct"] 1..=1;
        Conv ["conv"] 3..=3;
        Md5 ["md5"] 1..=1;
        Sha1 ["sha1", "sha"] 1..=1;
        Sha2 ["sha2"] 2..=2;
        Crc32 ["crc32"] 1..=1;

        // Numbers.
        Abs ["abs"] 1..=1;
        Sign ["sign"] 1..=1;
        Ceiling ["ceiling", "ceil"] 1..=1;
        Floor ["floor"] 1..=1;
        Round ["round"] 1..=2;
        Truncate ["truncate"] 2..=2;
        Sqrt ["sqrt"] 1..=1;
        Pow ["pow", "power"] 2..=2;
        Exp ["exp"] 1..=1;
        Ln ["ln"] 1..=1;
        Log ["log"] 1..=2;
        Log10 ["log10"] 1..=1;
        Log2 ["log2"] 1..=1;
        Pi ["pi"] 0..=0;
        Sin ["sin"] 1..=1;
        Cos ["cos"] 1..=1;
        Tan ["tan"] 1..=1;
        Cot ["cot"] 1..=1;
        Asin ["asin"] 1..=1;
        Acos ["acos"] 1..=1;
        Atan ["atan", "atan2"] 1..=2;
        Degrees ["degrees"] 1..=1;
        Radians ["radians"] 1..=1;
        Rand ["rand"] 0..=1;
        IsUuid ["is_uuid"] 1..=1;
        UuidToBin ["uuid_to_bin"] 1..=2;
        BinToUuid ["bin_to_uuid"] 1..=2;
        InetAton ["inet_aton"] 1..=1;
        InetNtoa ["inet_ntoa"] 1..=1;
        Uuid ["uuid"] 0..=0;

        // The session.
        Version ["version"] 0..=0;
        Database ["database", "schema"] 0..=0;
        User ["user", "session_user", "system_user"] 0..=0;
        CurrentUser ["current_user"] 0..=0;
        CurrentRole ["current_role"] 0..=0;
        ConnectionId ["connection_id"] 0..=0;
        ValidatePasswordStrength ["validate_password_strength"] 1..=1;
        LastInsertId ["last_insert_id"] 0..=1;
        RowCount ["row_count"] 0..=0;
        FoundRows ["found_rows"] 0..=0;
        Sleep ["sleep"] 1..=1;
        GetLock ["get_lock"] 2..=2;
        ReleaseLock ["release_lock"] 1..=1;
        ReleaseAllLocks ["release_all_locks"] 0..=0;
        IsFreeLock ["is_free_lock"] 1..=1;
        IsUsedLock ["is_used_lock"] 1..=1;
        Benchmark ["benchmark"] 2..=2;

        // The clock.
        Now ["now", "current_timestamp", "localtime", "localtimestamp"] 0..=1;
        SysDate ["sysdate"] 0..=1;
        CurDate ["curdate", "current_date"] 0..=0;
        CurTime ["curtime", "current_time"] 0..=1;
        UtcDate ["utc_date"] 0..=0;
        UtcTime ["utc_time"] 0..=1;
        UtcTimestamp ["utc_timestamp"] 0..=1;
        UnixTimestamp ["unix_timestamp"] 0..=1;
        FromUnixTime ["from_unixtime"] 1..=2;
        FormatUnixTime [] 2..=2;
        ConvertTz ["convert_tz"] 3..=3;

        // Parts of dates and times.
        DateOf ["date"] 1..=1;
        TimeOf ["time"] 1..=1;
        Year ["year"] 1..=1;
        Month ["month"] 1..=1;
        DayOfMonth ["dayofmonth", "day"] 1..=1;
        Quarter ["quarter"] 1..=1;
        Hour ["hour"] 1..=1;
        Minute ["minute"] 1..=1;
        Second ["second"] 1..=1;
        Microsecond ["microsecond"] 1..=1;
        DayOfWeek ["dayofweek"] 1..=1;
        Weekday ["weekday"] 1..=1;
        DayOfYear ["dayofyear"] 1..=1;
        Week ["week"] 1..=2;
        WeekOfYear ["weekofyear"] 1..=1;
        YearWeek ["yearweek"] 1..=2;
        DayName ["dayname"] 1..=1;
        MonthName ["monthname"] 1..=1;

        // Arithmetic of dates and times.
        LastDay ["last_day"] 1..=1;
        ToDays ["to_days"] 1..=1;
        FromDays ["from_days"] 1..=1;
        ToSeconds ["to_seconds"] 1..=1;
        MakeDate ["makedate"] 2..=2;
        DateDiff ["datediff"] 2..=2;
        PeriodAdd ["period_add"] 2..=2;
        PeriodDiff ["period_diff"] 2..=2;
        AddDate ["adddate"] 2..=2;
        SubDate ["subdate"] 2..=2;
        Timestamp ["timestamp"] 1..=2;
        TimeDiff ["timediff"] 2..=2;
        AddTime ["addtime"] 2..=2;
        SubTime ["subtime"] 2..=2;
        SecToTime ["sec_to_time"] 1..=1;
        TimeToSec ["time_to_sec"] 1..=1;
        MakeTime ["maketime"] 3..=3;
        DateFormat ["date_format"] 2..=2;
        TimeFormat ["time_format"] 2..=2;
        StrToDate ["str_to_date"] 2..=2;
        GetFormat ["get_format"] 2..=2;
        Regexp ["regexp_like"] 2..=3;
    }
    units {
        DateAdd "date_add_interval" 2;
        DateSub "date_sub_interval" 2;
        Extract "extract" 1;
        TimestampDiff "timestampdiff" 2;
    }
}

impl Func {
    /// Whether this is an operator on bits, of numbers or of bytes.
    pub(crate) fn is_bitwise(self) -> bool {
        use Func::{BitAnd, BitNot, BitOr, BitXor, ShiftLeft, ShiftRight};
        matches!(self, BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | BitNot)
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
            Func::ExportSet => (1..4).contains(&i),
            _ => true,
        }
    }

    /// Whether argument `i` is read as a number whatever its type is. Texts that are none warn by where they
    /// come from.
    pub(crate) fn takes_number(self, i: usize) -> bool {
        use Func::{
            Add, BitAnd, BitNot, BitOr, BitXor, Char, Div, Elt, ExportSet, FormatUnixTime, FromDays,
            FromUnixTime, Insert, IntDiv, LPad, Left, Locate, MakeDate, MakeSet, MakeTime, Mod, Mul, Neg,
            PeriodAdd, PeriodDiff, RPad, Repeat, Right, SecToTime, ShiftLeft, ShiftRight, Space, Sub,
            Substring, SubstringIndex,
        };
        match self {
            Add | Sub | Mul | Div | IntDiv | Mod | Neg => true,
            BitAnd | BitOr | BitXor | BitNot | ShiftLeft | ShiftRight => true,
            Char | FromDays | MakeDate | MakeTime | PeriodAdd | PeriodDiff | SecToTime | Space => true,
            Elt | ExportSet | FormatUnixTime | FromUnixTime => i == 0,
            Left | Right | Repeat | Substring => i > 0,
            Insert | LPad | Locate | MakeSet | RPad | SubstringIndex => !self.takes_text(i),
            _ => false,
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
        use Func::{
            Coalesce, Concat, ConcatWs, ExportSet, Insert, LPad, LTrim, Left, Lower, MakeSet, Quote, RPad,
            RTrim, Repeat, Replace, Reverse, Right, Soundex, Substring, SubstringIndex, Trim, TrimLeading,
            TrimTrailing, Upper,
        };
        matches!(
            self,
            Coalesce
                | Concat
                | ConcatWs
                | Upper
                | Lower
                | Reverse
                | Left
                | Right
                | Substring
                | SubstringIndex
                | Trim
                | TrimLeading
                | TrimTrailing
                | LTrim
                | RTrim
                | LPad
                | RPad
                | Repeat
                | Replace
                | Insert
                | ExportSet
                | Quote
                | MakeSet
                | Soundex
        )
    }

    /// Whether the text that it makes has nothing of a text among its arguments, its collation neither.
    pub(crate) fn makes_own_text(self) -> bool {
        use Func::{
            AddTime, Bin, BinToUuid, Char, Charset, Collation, Conv, CurrentRole, CurrentUser, Database,
            DateAdd, DateSub, DayName, Format, FromBase64, GetFormat, Hex, InetNtoa, Md5, MonthName, Oct,
            Sha1, Sha2, Space, SubTime, ToBase64, Unhex, User, Uuid, UuidToBin, Version,
        };
        matches!(
            self,
            AddTime
                | BinToUuid
                | Bin
                | Char
                | Charset
                | Collation
                | Conv
                | CurrentRole
                | CurrentUser
                | Database
                | DateAdd(_)
                | DateSub(_)
                | DayName
                | Format
                | FromBase64
                | GetFormat
                | Hex
                | InetNtoa
                | Md5
                | MonthName
                | Oct
                | Sha1
                | Sha2
                | Space
                | SubTime
                | ToBase64
                | Unhex
                | User
                | Uuid
                | UuidToBin
                | Version
        )
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
