//! What names of functions say: which are failure machinery, which validators, and whose they are.

/// A symbol's name as people write it: demangled, without the compiler's hash.
pub(super) fn readable(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// What a called function is to a hot one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    /// Panics: it does not return.
    Panic,
    /// Makes text.
    Format,
    /// Does not return, but is part of unwinding: only a panic gets there.
    Unwind,
    /// Copies as many bytes as its third argument says.
    Copy,
    /// Anything else.
    Other,
}

/// Functions of the standard library that end in a panic and are not called after it.
const PANICS: [&str; 7] = [
    "core::panicking::",
    "std::panicking::",
    "core::cell::panic_",
    "std::thread::local::panic_",
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::handle_error",
    "alloc::raw_vec::capacity_overflow",
];

/// Those of them that run during unwinding only.
const UNWINDING: [&str; 3] =
    ["core::panicking::panic_in_cleanup", "core::panicking::panic_cannot_unwind", "_Unwind_Resume"];

/// Where text is made, also as part of an `impl` (`<String as core::fmt::Write>::write_str`).
const FORMATS: [&str; 3] = ["core::fmt::", "alloc::fmt::", "alloc::string::ToString"];

/// Judges a readable name.
pub(super) fn callee(name: &str) -> Callee {
    let of_std = ["core::", "alloc::", "std::"].iter().any(|c| name.starts_with(c));
    let last = name.rsplit("::").next().unwrap_or(name);
    let fails = last.ends_with("_fail") || last.ends_with("_failed") || last.starts_with("panic_");
    if UNWINDING.iter().any(|u| name.starts_with(u)) {
        Callee::Unwind
    } else if PANICS.iter().any(|p| name.starts_with(p)) || of_std && fails {
        Callee::Panic
    } else if FORMATS.iter().any(|f| name.contains(f)) {
        Callee::Format
    } else if ["memcpy", "memmove"].contains(&name) {
        Callee::Copy
    } else {
        Callee::Other
    }
}

/// Whether a function claims to validate something.
pub(super) fn is_validator(name: &str) -> bool {
    let function = name.rsplit("::").find(|segment| !segment.starts_with(['{', '<']));
    function.is_some_and(|f| ["check_", "validate_", "verify_"].iter().any(|claim| f.starts_with(claim)))
}

/// The crate that a function or an `impl` is of.
pub(super) fn crate_of(name: &str) -> &str {
    name.trim_start_matches(['<', '&']).split("::").next().unwrap_or(name)
}

/// Whether a function is of a module called `check`.
pub(super) fn in_check_module(name: &str) -> bool {
    name.split("::").any(|segment| segment == "check")
}

/// The function's own name, without its path.
pub(super) fn last_segment(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_hash() {
        assert_eq!(readable("_ZN3foo3barE"), "foo::bar");
        assert_eq!(readable("_ZN3foo3bar17h05af221e174051e9E"), "foo::bar");
        assert_eq!(readable("memcpy"), "memcpy");
    }

    #[test]
    fn failure_machinery_is_known_by_name() {
        for panics in [
            "core::panicking::panic_bounds_check",
            "core::panicking::panic_const::panic_const_div_by_zero",
            "core::option::unwrap_failed",
            "core::option::expect_failed",
            "core::slice::index::slice_index_fail",
            "core::slice::copy_from_slice_impl::len_mismatch_fail",
            "core::cell::panic_already_borrowed",
            "alloc::vec::Vec<T,A>::remove::assert_failed",
            "alloc::raw_vec::handle_error",
        ] {
            assert_eq!(callee(panics), Callee::Panic, "{panics}");
        }
        for formats in [
            "core::fmt::write",
            "alloc::fmt::format::format_inner",
            "<alloc::string::String as core::fmt::Write>::write_str",
            "<engine::error::Error as core::fmt::Display>::fmt",
        ] {
            assert_eq!(callee(formats), Callee::Format, "{formats}");
        }
        assert_eq!(callee("core::panicking::panic_in_cleanup"), Callee::Unwind);
        assert_eq!(callee("memmove"), Callee::Copy);
        for other in ["exec::update::has_failed", "core::slice::sort::merge", "jiff::fmt::offset::parse"] {
            assert_eq!(callee(other), Callee::Other, "{other}");
        }
    }

    #[test]
    fn validators_are_known_by_name_wherever_they_stand() {
        assert!(is_validator("page::record::check_offsets"));
        assert!(is_validator("page::record::validate_field::{{closure}}"));
        assert!(is_validator("<page::record::Record as page::Look>::verify_all"));
        assert!(!is_validator("page::check_offsets::find") && !is_validator("page::recheck_offsets"));
        assert!(in_check_module("btree::check::tree::check_tree") && !in_check_module("page::check_sums::x"));
        assert_eq!(crate_of("<exec::project::RowSender as exec::source::Sink>::batch"), "exec");
        assert_eq!(last_segment("buffer::pool::verify_on_read"), "verify_on_read");
    }
}
