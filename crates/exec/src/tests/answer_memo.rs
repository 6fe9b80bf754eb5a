//! Answers by the values of outer columns.

use std::sync::Arc;

use base::memory::{ConnectionAccount, ConnectionLimits, ServerAccount, StatementAccount};
use types::{CollationId, OwnedValue, Value};

use crate::answer_memo::AnswerMemo;

fn ask(memo: &mut AnswerMemo, n: i64) -> Option<i64> {
    match memo.find([Value::Int(n), Value::Null].into_iter())? {
        OwnedValue::Int(answer) => Some(*answer),
        _ => None,
    }
}

/// Asks for `n`, and keeps `10 n` where that is not known.
fn ask_or_make(memo: &mut AnswerMemo, n: i64) -> bool {
    let known = ask(memo, n);
    if let Some(known) = known {
        assert_eq!(known, 10 * n);
        return true;
    }
    memo.put(&OwnedValue::Int(10 * n));
    false
}

#[test]
fn answers_are_found_by_the_very_values() {
    let mut memo = AnswerMemo::new(&StatementAccount::unlimited());
    let text = |data| Value::Bytes { data, collation: CollationId::BINARY };
    let keys: [&[Value<'_>]; 7] = [
        &[Value::Int(1), Value::Null],
        &[Value::Null, Value::Int(1)],
        &[Value::UInt(1), Value::Null],
        &[text(b"ab"), text(b"c")],
        &[text(b"a"), text(b"bc")],
        &[text(b""), Value::Null],
        &[Value::Null, Value::Null],
    ];
    for (at, key) in keys.iter().enumerate() {
        assert!(memo.find(key.iter().copied()).is_none(), "{key:?}");
        memo.put(&OwnedValue::Int(at as i64));
    }
    for (at, key) in keys.iter().enumerate() {
        assert!(
            matches!(memo.find(key.iter().copied()), Some(OwnedValue::Int(n)) if *n == at as i64),
            "{key:?}"
        );
    }
}

#[test]
fn it_forgets_when_full_and_ends_when_nothing_is_repeated() {
    let mut memo = AnswerMemo::new(&StatementAccount::unlimited());
    // Each second question is one of the last few thousand, so that it continues while it fills again and
    // again.
    let known = (0..40_000).filter(|n| ask_or_make(&mut memo, n / 2)).count();
    assert_eq!(known, 20_000);
    assert!(ask_or_make(&mut memo, 19_999) && !ask_or_make(&mut memo, 0), "the first are forgotten");
    let known = (50_000..60_000).filter(|&n| ask_or_make(&mut memo, n)).count();
    assert!(known == 0 && !ask_or_make(&mut memo, 59_999), "it has ended");
}

#[test]
fn without_memory_it_ends_and_nothing_fails() {
    let connection = ConnectionAccount::new(Arc::new(ServerAccount::default()));
    connection.set_limits(ConnectionLimits { statement_bytes: 128 << 10, ..ConnectionLimits::default() });
    let account = StatementAccount::new(connection);
    let mut memo = AnswerMemo::new(&account);
    let known = (0..20_000).filter(|n| ask_or_make(&mut memo, n / 2)).count();
    assert!(known > 100 && known < 5_000, "{known}");
    assert_eq!(account.used(), 0, "what it held is given back");
}
