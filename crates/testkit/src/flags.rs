//! Command lines of the tools: pairs of a flag and a number, and how a tool ends.

use std::process::ExitCode;

/// Reads `args`, pairs of a flag in `flags` and its number, into the places beside the flags. `None`: they
/// are anything else.
pub fn numbers(args: &[String], flags: &mut [(&str, &mut u64)]) -> Option<()> {
    for pair in args.chunks(2) {
        let number = pair.get(1)?.parse().ok()?;
        let (_, place) = flags.iter_mut().find(|(flag, _)| *flag == pair[0])?;
        **place = number;
    }
    Some(())
}

/// How a tool ends whose work came to `result`; its error goes to standard error.
pub fn ending(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_flags_with_numbers_are_taken() {
        let read = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let (mut seed, mut rounds) = (1, 2);
            numbers(&args, &mut [("--seed", &mut seed), ("--rounds", &mut rounds)])?;
            Some((seed, rounds))
        };
        assert_eq!(read(""), Some((1, 2)));
        assert_eq!(read("--rounds 7 --seed 9"), Some((9, 7)));
        assert_eq!([read("--rounds"), read("--rounds x"), read("--other 1")], [None; 3]);
    }
}
