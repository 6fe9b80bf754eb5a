use super::*;

fn serve(args: &[&str]) -> Result<Options, OptionError> {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    match Options::parse(&args)? {
        Invocation::Serve(options) => Ok(*options),
        other => panic!("{other:?}"),
    }
}

fn message(args: &[&str]) -> String {
    serve(args).unwrap_err().0
}

#[test]
fn every_way_of_writing_an_option_is_understood() {
    for args in [
        &["--innodb-buffer-pool-size=64M"][..],
        &["--innodb_buffer_pool_size", "64M"],
        &["--Innodb-Buffer_pool-size=67108864"],
        &["--loose-innodb-buffer-pool-size=65536K"],
    ] {
        let options = serve(args).unwrap();
        assert_eq!(options.variables.named("innodb_buffer_pool_size").as_u64(), 64 << 20, "{args:?}");
    }
}

#[test]
fn switches_are_turned_on_and_off() {
    let on = |args: &[&str], name| serve(args).unwrap().variables.named(name).as_bool();
    assert!(on(&["--skip-networking"], "skip_networking"));
    assert!(on(&["--transaction-read-only"], "transaction_read_only"));
    assert!(!on(&["--skip-innodb-adaptive-flushing"], "innodb_adaptive_flushing"));
    assert!(!on(&["--innodb-stats-persistent=0"], "innodb_stats_persistent"));
}

#[test]
fn mistakes_are_named() {
    assert_eq!(message(&["--frobnicate=1"]), "unknown option '--frobnicate' (command line)");
    assert_eq!(message(&["--port=abc"]), "bad value 'abc' for option '--port' (command line)");
    assert_eq!(message(&["--port"]), "option '--port' needs a value (command line)");
    assert_eq!(message(&["stray"]), "unexpected argument 'stray'");
    assert_eq!(message(&["--version-comment=x"]), "unknown option '--version-comment' (command line)");
    assert_eq!(message(&["--port=3\n\u{1b}"]), "bad value '3\\n\\u{1b}' for option '--port' (command line)");
    assert_eq!(message(&["--sql-mode=FOO"]), "bad value 'FOO' for option '--sql-mode' (command line)");
    assert_eq!(message(&["--port=1", "--defaults-file=x"]), "option '--defaults-file' must be the first one");
    assert_eq!(serve(&["--loose-frobnicate"]).unwrap().warnings.len(), 1);
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    assert_eq!(message(&["--read-only"]), "bad value '' for option '--read-only' (command line)");
    assert_eq!(message(&["--general-log=1"]), "bad value '1' for option '--general-log' (command line)");
    assert!(message(&["--lower-case-table-names=1"]).starts_with("bad value '1'"));
    assert!(message(&["--status-port=80"]).starts_with("unknown option"));
    assert!(message(&["--daemonize"]).starts_with("option '--daemonize' is not supported"));
    assert!(message(&["--user=nobody at all"]).contains("there is no user"));
    for refused in ["--mysql-native-password=OFF", "--skip-log-bin=0", "--console=false", "--console=x"] {
        assert!(message(&[refused]).starts_with("bad value"), "{refused}");
    }
    assert!(message(&["--log-bin"]).starts_with("unknown option"));
    serve(&["--mysql-native-password=ON", "--skip-log-bin", "--console"]).unwrap();
    let without =
        ["--read-only=0", "--general-log=OFF", "--lower-case-table-names=0", "--daemonize=0", "--skip-ssl"];
    serve(&without).unwrap();
}

#[test]
fn paths_follow_the_datadir() {
    let options = serve(&["-h", "/data", "-P3310"]).unwrap();
    assert_eq!(options.datadir(), Path::new("/data"));
    assert_eq!(options.port(), 3310);
    assert_eq!(options.variables.named("pid_file").as_text(), "/data/ratchetd.pid");
    assert_eq!(options.variables.named("tmpdir").as_text(), "/data/tmp");
}

#[test]
fn the_command_line_wins_over_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    std::fs::write(&path, "[mysqld]\nport=3310\nmax_connections=9\n").unwrap();
    let file = format!("--defaults-file={}", path.display());
    let options = serve(&[&file, "--port=3311"]).unwrap();
    assert_eq!(options.port(), 3311);
    assert_eq!(options.variables.named("max_connections").as_u64(), 9);
    std::fs::write(&path, "[mysqld]\nnonsense=1\n").unwrap();
    assert!(message(&[&file]).starts_with("unknown option '--nonsense' ("));
}

#[test]
fn help_and_version_are_told_apart() {
    assert!(matches!(Options::parse(&["--help".to_owned()]), Ok(Invocation::Help)));
    assert!(matches!(Options::parse(&["-V".to_owned()]), Ok(Invocation::Version)));
    assert!(help().contains("--innodb-buffer-pool-size [134217728]"));
}
