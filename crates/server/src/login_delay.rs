//! Holds logins back whose names have failed before.

use std::sync::Arc;
use std::time::Duration;

use crate::error_map;
use crate::failed_logins::Settings;
use crate::process_list::Waited;
use crate::refusal::Refusal;
use crate::server::Server;
use crate::session::Session;
use crate::status::bump;

/// A delayed login; until it is dropped it counts among those.
#[derive(Debug)]
pub(crate) struct Delayed(Arc<Server>);

impl Delayed {
    fn begin(server: &Arc<Server>) -> Option<Self> {
        let guard = Delayed(Arc::clone(server));
        server.failed_logins.begin_delay().then_some(guard)
    }
}

impl Drop for Delayed {
    fn drop(&mut self) {
        self.0.failed_logins.end_delay();
    }
}

/// Holds a login as `user` back if the name has failed too often. The guard is kept until the login has
/// ended.
///
/// # Errors
/// 1040 if too many logins are delayed; [`Refusal::Lost`] if the client leaves or the server stops.
pub(crate) fn delay_login(session: &mut Session, user: &str) -> Result<Option<Delayed>, Refusal> {
    let settings = Settings::of(&session.server.variables.read());
    let failures = session.server.failed_logins.failures(user, session.peer);
    settings.delay(failures).map(|delay| hold(session, delay)).transpose()
}

#[cold]
fn hold(session: &mut Session, delay: Duration) -> Result<Delayed, Refusal> {
    let delayed = Delayed::begin(&session.server).ok_or_else(|| error_map::CON_COUNT_ERROR.bare())?;
    bump(&session.server.status.login_delays, 1);
    if let Some(slot) = &mut session.slot {
        slot.release();
    }
    let deadline = env::deadline_in(delay);
    session.process.delay_login(true);
    let waited = session.process.wait_until(Some(deadline), || None::<()>);
    session.process.delay_login(false);
    match waited {
        Waited::InVain => Ok(delayed),
        Waited::For(()) | Waited::Killed => Err(Refusal::Lost),
    }
}

/// Counts a login as `user` that has failed, or forgets the failures before one that has not.
pub(crate) fn record(session: &Session, user: &str, succeeded: bool) {
    let server = &session.server;
    if Settings::of(&server.variables.read()).counts() {
        server.failed_logins.record(user, session.peer, succeeded);
    }
}
