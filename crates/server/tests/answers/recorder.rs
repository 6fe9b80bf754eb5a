//! What answers are not recorded from.

use testkit::runner::{Target, run_file};
use testkit::{isolation, locks, metadata};

#[test]
fn a_server_of_this_project_is_no_source_of_answers() {
    let server = testkit::server::TestServer::start(&testkit::server::built_with_this_test(), &[]).unwrap();
    let target = Target { port: server.port, user: "root".to_owned() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.test");
    let text = "SELECT 1\n----\nas it was\n";
    std::fs::write(&path, text).unwrap();
    let refused = [
        run_file(&path, &target, true).map(drop),
        isolation::run_file(&path, &target, true).map(drop),
        metadata::record_file(&path, &target),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(error.starts_with("answers are recorded from MySQL, and this is 8.4"), "{error}");
    }
    assert!(locks::record_file(&path, &target).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
