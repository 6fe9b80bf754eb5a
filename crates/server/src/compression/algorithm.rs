//! The algorithm of a connection, chosen from the client's flags and `protocol_compression_algorithms`.

use wire::Capabilities;

use crate::error_map::{self, SqlError};

/// Algorithm names in the order in which the server chooses, and the default of
/// `protocol_compression_algorithms`.
pub(crate) const ALGORITHMS: &str = "zlib,zstd,uncompressed";

const ZLIB: &str = "zlib";
const ZSTD: &str = "zstd";
const UNCOMPRESSED: &str = "uncompressed";

/// zlib's level, which no client can choose.
const ZLIB_LEVEL: u8 = 6;
/// Highest level of zstd.
const ZSTD_LEVEL_MAX: u8 = 22;

/// The compression algorithm of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// zlib at level 6.
    Zlib,
    /// zstd at a level from 1 to 22.
    Zstd(u8),
}

impl Algorithm {
    /// The name in `Compression_algorithm`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Zlib => ZLIB,
            Algorithm::Zstd(_) => ZSTD,
        }
    }

    /// The level in `Compression_level`.
    pub(crate) fn level(self) -> u8 {
        match self {
            Algorithm::Zlib => ZLIB_LEVEL,
            Algorithm::Zstd(level) => level,
        }
    }
}

/// Whether `list` is a value of `protocol_compression_algorithms`: one to three names, separated by commas.
/// As in MySQL, one comma may follow the last name, and names may repeat.
pub(crate) fn is_algorithm_list(list: &str) -> bool {
    let list = list.strip_suffix(',').unwrap_or(list);
    let is_known =
        |name: &str| [ZLIB, ZSTD, UNCOMPRESSED].iter().any(|known| known.eq_ignore_ascii_case(name));
    list.split(',').count() <= 3 && list.split(',').all(is_known)
}

/// Whether `list` names `algorithm`.
fn names(list: &str, algorithm: &str) -> bool {
    list.split(',').any(|name| name.eq_ignore_ascii_case(algorithm))
}

/// Returns the capabilities that offer the algorithms of `list`.
pub(crate) fn offered(list: &str) -> Capabilities {
    let none = Capabilities::default();
    none.with(Capabilities::COMPRESS, names(list, ZLIB)).with(Capabilities::ZSTD, names(list, ZSTD))
}

/// Chooses the algorithm for a client that sent the flags `wanted` and the zstd `level`, if the server allows
/// the algorithms of `list`. `None`: packets are not compressed.
///
/// # Errors
/// 3922 for a client that wants an algorithm that is not allowed, 3923 for a level that zstd does not have.
pub(crate) fn agree(
    list: &str,
    wanted: Capabilities,
    level: Option<u8>,
) -> Result<Option<Algorithm>, SqlError> {
    let agreed = wanted & offered(list);
    if agreed.has(Capabilities::COMPRESS) {
        return Ok(Some(Algorithm::Zlib));
    }
    if agreed.has(Capabilities::ZSTD) {
        let level = level.filter(|level| (1..=ZSTD_LEVEL_MAX).contains(level));
        let level = level.ok_or_else(|| error_map::WRONG_COMPRESSION_LEVEL_CLIENT.with(&[&ZSTD]))?;
        return Ok(Some(Algorithm::Zstd(level)));
    }
    // A client that sends a flag that was not offered compresses all the same.
    let refused = if wanted.has(Capabilities::COMPRESS) {
        ZLIB
    } else if wanted.has(Capabilities::ZSTD) {
        ZSTD
    } else if !names(list, UNCOMPRESSED) {
        UNCOMPRESSED
    } else {
        return Ok(None);
    };
    Err(error_map::WRONG_COMPRESSION_ALGORITHM_CLIENT.with(&[&refused]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z: Capabilities = Capabilities::COMPRESS;
    const S: Capabilities = Capabilities::ZSTD;
    const NONE: Capabilities = Capabilities(0);

    fn both() -> Capabilities {
        Z | S
    }

    /// MySQL 9.7's answers, 27 November 2026.
    #[test]
    fn lists_are_checked_as_mysql_does() {
        for good in [ALGORITHMS, "ZLIB", "zlib,zlib", "zlib,", "UnCompressed,ZSTD"] {
            assert!(is_algorithm_list(good), "{good}");
        }
        let bad = ["", "foo", "zlib,foo", ",zlib", " zlib", "zlib ", "zlib, zstd", "zlib;zstd", "zlib,,zstd"];
        for bad in bad.into_iter().chain(["zlib,zstd,uncompressed,zlib", ",", "NULL"]) {
            assert!(!is_algorithm_list(bad), "{bad}");
        }
    }

    /// MySQL 9.7's choices, 27 November 2026.
    #[test]
    fn zlib_goes_before_zstd() {
        let choose = |list, wanted, level| agree(list, wanted, level).map_err(|error| error.code);
        assert_eq!(choose(ALGORITHMS, NONE, None), Ok(None));
        assert_eq!(choose(ALGORITHMS, Z, None), Ok(Some(Algorithm::Zlib)));
        assert_eq!(choose(ALGORITHMS, both(), Some(99)), Ok(Some(Algorithm::Zlib)));
        assert_eq!(choose(ALGORITHMS, S, Some(1)), Ok(Some(Algorithm::Zstd(1))));
        assert_eq!(choose("ZSTD,Zlib", S, Some(22)), Ok(Some(Algorithm::Zstd(22))));
        assert_eq!(choose("zstd", both(), Some(5)), Ok(Some(Algorithm::Zstd(5))));
        for level in [None, Some(0), Some(23), Some(255)] {
            assert_eq!(choose(ALGORITHMS, S, level), Err(3923));
        }
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        let refuse = |list, wanted| agree(list, wanted, Some(3)).unwrap_err();
        for (list, wanted, named) in [
            ("zlib,zstd", NONE, "uncompressed"),
            ("uncompressed", Z, "zlib"),
            ("uncompressed", S, "zstd"),
            ("zlib,uncompressed", S, "zstd"),
        ] {
            let error = refuse(list, wanted);
            assert_eq!(
                (error.code, error.message),
                (3922, format!("Invalid compression algorithm '{named}'."))
            );
        }
    }
}
