//! Assertions by tier. `debug_assert!` is for per-record and per-field checks (absent from release);
//! [`invariant!`](crate::invariant!) is for O(1) checks at irreversible or rare steps and is always on.

/// Checks an O(1) condition at a step that cannot be undone (split, page allocation, commit, checkpoint).
///
/// A failure is a bug in this program, never bad input: it stops the process with the message, which is built
/// out of line.
#[macro_export]
macro_rules! invariant {
    ($cond:expr, $($message:tt)+) => {
        if !$cond {
            $crate::invariant::violated(stringify!($cond), format_args!($($message)+));
        }
    };
}

/// Reports a violated invariant and panics.
#[cold]
#[inline(never)]
#[track_caller]
pub fn violated(condition: &str, message: std::fmt::Arguments<'_>) -> ! {
    panic!("invariant violated: {condition}: {message}");
}
