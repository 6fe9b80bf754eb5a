//! Functions of user-level locks.

use std::time::Duration;

use types::Value;
use types::collation::Charset;

use super::Call;
use crate::{EvalError, UserLock};

/// Characters that a lock's name may have.
const NAME_CHARS: usize = 64;

/// The name in argument 0, in lower case.
fn name(call: &Call<'_>) -> Result<String, EvalError> {
    let Some(text) = call.text(0)? else {
        return Err(EvalError::UserLockName("NULL".to_owned()));
    };
    if call.collation_of(0).charset == Charset::Binary && std::str::from_utf8(text).is_err() {
        return Err(EvalError::UserLockName(Value::binary(text).message_text()));
    }
    // A longer text than a message shows is too long for a name, too.
    let text = types::value::text_for_message(text);
    if text.chars().count() > NAME_CHARS {
        return Err(EvalError::UserLockNameLength(text));
    }
    if text.is_empty() {
        return Err(EvalError::UserLockName(text));
    }
    Ok(text.to_lowercase())
}

/// GET_LOCK(name, seconds)
pub(crate) fn get_lock<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let name = name(call)?;
    let seconds = call.int(1)?.unwrap_or(0);
    let timeout = u64::try_from(seconds).ok().map(Duration::from_secs);
    call.ctx.session.user_lock(UserLock::Get { name: &name, timeout })
}

/// RELEASE_LOCK(name)
pub(crate) fn release_lock<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    call.ctx.session.user_lock(UserLock::Release(&name(call)?))
}

/// RELEASE_ALL_LOCKS()
pub(crate) fn release_all_locks<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    call.ctx.session.user_lock(UserLock::ReleaseAll)
}

/// IS_FREE_LOCK(name)
pub(crate) fn is_free_lock<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    call.ctx.session.user_lock(UserLock::IsFree(&name(call)?))
}

/// IS_USED_LOCK(name)
pub(crate) fn is_used_lock<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    call.ctx.session.user_lock(UserLock::Owner(&name(call)?))
}
