//! A folder of scripts as tests, one a script.

/// Makes a test of each script `NAME.test` in `tests/FOLDER`, run by `RUN_FILE` against a server of its own,
/// and one that no script is left out. For tests of the crate with the server's binary.
#[macro_export]
macro_rules! script_tests {
    ($folder:literal, $run_file:path; $($name:ident),+ $(,)?) => {
        fn folder() -> std::path::PathBuf {
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join($folder)
        }

        /// Runs one script; every statement whose answer differs from the recorded one is reported.
        fn run(name: &str) {
            let binary = std::path::Path::new(env!("CARGO_BIN_EXE_ratchetd"));
            let server = $crate::server::TestServer::start(binary, &[]).unwrap();
            let target = $crate::runner::Target { port: server.port, user: "root".to_owned() };
            let differences = $run_file(&folder().join(name), &target, false).unwrap();
            assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n\n"));
        }

        $(
            #[test]
            fn $name() {
                run(concat!(stringify!($name), ".test"));
            }
        )+

        #[test]
        fn every_script_is_run() {
            let mut found: Vec<String> = std::fs::read_dir(folder())
                .unwrap()
                .filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".test").map(str::to_owned))
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),+]);
        }
    };
}
