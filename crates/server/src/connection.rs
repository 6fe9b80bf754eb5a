//! The life of a connection: handshake, commands, end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wire::reply;

use crate::authenticate::{self, Refusal};
use crate::client_io::{ClientIo, ReadError};
use crate::commands::{self, After};
use crate::error_map::{self, SqlError};
use crate::process_list::Kill;
use crate::server::Server;
use crate::session::Session;
use crate::status::bump;
use crate::stream::Stream;
use crate::{table_locks, transaction};

/// Stack of a connection's thread; parser and interpreter bound their depth to fit.
pub const STACK_BYTES: usize = 2 << 20;
/// Largest packet before the client is known: connection attributes of at most 64 KiB, names, and a password.
const HANDSHAKE_PACKET_BYTES: usize = (64 + 4) << 10;

/// Serves one client until it leaves. Runs on the connection's own thread.
pub fn serve(server: &Arc<Server>, stream: Stream) {
    let stream = Arc::new(stream);
    let Ok((peer, host)) = stream.peer() else {
        return;
    };
    let counters = server.status.connection();
    let mut io = ClientIo::new(Arc::clone(&stream), Arc::clone(&counters), HANDSHAKE_PACKET_BYTES);
    let Some(_place) = Place::take(server) else {
        refuse(&mut io);
        return;
    };
    let Ok(nonce) = wire::auth::new_nonce() else {
        server.log.error("no random bytes for a connection's challenge");
        return;
    };
    let process = server.processes.add(host, stream);
    let mut session = Session::new(Arc::clone(server), process, counters, peer, nonce);
    if establish(&mut session, &mut io) {
        if !answer_commands(&mut session, &mut io) {
            bump(&server.status.aborted_clients, 1);
        }
    } else {
        bump(&server.status.aborted_connects, 1);
    }
    transaction::rollback(&mut session);
    table_locks::release(&mut session);
    server.user_locks.release_all(session.process.id());
    let forgotten = session.prepared.clear() as u64;
    server.status.prepared_statements.fetch_sub(forgotten, Ordering::Relaxed);
    server.processes.remove(session.process.id());
}

/// A place among `max_connections`.
struct Place<'a>(&'a Server);

impl<'a> Place<'a> {
    fn take(server: &'a Server) -> Option<Self> {
        let status = &server.status;
        bump(&status.connections, 1);
        let limit = server.variables.read().named("max_connections").as_u64();
        let taken = status.threads_connected.fetch_add(1, Ordering::Relaxed) + 1;
        let place = Place(server);
        if taken > limit {
            bump(&status.refused_at_limit, 1);
            return None;
        }
        status.max_used_connections.fetch_max(taken, Ordering::Relaxed);
        Some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.status.threads_connected.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cold]
fn refuse(io: &mut ClientIo) {
    let error = error_map::CON_COUNT_ERROR.bare();
    reply::write_early_error(&mut io.out, error.code, &error.message);
    io.send_and_close();
}

/// Socket options and handshake; false if the client was not let in.
fn establish(session: &mut Session, io: &mut ClientIo) -> bool {
    let (connect_timeout, write_timeout) = {
        let variables = session.server.variables.read();
        (variables.named("connect_timeout").as_u64(), variables.hot.net_write_timeout)
    };
    let stream = io.stream();
    let ready = stream.set_no_delay().is_ok()
        && stream.set_read_timeout(Some(connect_timeout)).is_ok()
        && stream.set_write_timeout(write_timeout).is_ok();
    if !ready {
        return false;
    }
    match authenticate::handshake(session, io) {
        Ok(()) => {
            let limit = session.variables.hot.max_allowed_packet as usize;
            io.reader.set_limit(limit);
            take_interactive_timeout(session);
            session.process.set_idle_limit(idle_timeout(session));
            session.process.end();
            io.stream().set_read_timeout(None).is_ok() && io.send().is_ok()
        }
        Err(Refusal::Lost) => false,
        Err(Refusal::Error(error)) => {
            authenticate::write_refusal(io, session.capabilities, &error);
            io.send_and_close();
            false
        }
    }
}

/// Seconds that the client may be silent.
#[inline]
fn idle_timeout(session: &Session) -> u64 {
    session.variables.hot.wait_timeout
}

/// Interactive clients begin with `interactive_timeout` as their `wait_timeout`.
fn take_interactive_timeout(session: &mut Session) {
    if session.capabilities.has(wire::Capabilities::INTERACTIVE) {
        let timeout = session.variables.named("interactive_timeout").clone();
        session.variables.put_named("wait_timeout", timeout);
    }
}

/// Answers commands until the connection ends; true if the client took its leave.
fn answer_commands(session: &mut Session, io: &mut ClientIo) -> bool {
    guarded(session, io, command_loop)
}

/// Runs commands by `run`. A panic outside critical sections costs the client its statement, its transaction and its
/// connection, nobody else anything; one inside aborts the process in the panic hook.
fn guarded(
    session: &mut Session,
    io: &mut ClientIo,
    run: impl FnOnce(&mut Session, &mut ClientIo) -> bool,
) -> bool {
    let result = catch_unwind(AssertUnwindSafe(|| run(session, io)));
    result.unwrap_or_else(|_| {
        transaction::rollback(session);
        session.server.log.error(&format!("connection {}: a statement panicked", session.process.id()));
        if io.out.rewind_answer() {
            let error = error_map::UNKNOWN.saying("Internal error: the statement was given up".to_owned());
            commands::write_error(&mut io.out, &error);
        }
        io.send_and_close();
        false
    })
}

fn command_loop(session: &mut Session, io: &mut ClientIo) -> bool {
    let mut timeout = idle_timeout(session);
    loop {
        io.reader.begin_command();
        if let Err(error) = io.read_packet() {
            farewell(session, io, error);
            return false;
        }
        let after = commands::run(session, io);
        if io.send().is_err() {
            return false;
        }
        match after {
            After::Quit => return true,
            After::Close => {
                io.send_and_close();
                return false;
            }
            After::Continue => {}
        }
        if session.process.kill_requested() == Kill::Connection || session.server.is_stopping() {
            io.stream().shut_down();
            return true;
        }
        let wanted = idle_timeout(session);
        if wanted != timeout {
            timeout = wanted;
            session.process.set_idle_limit(timeout);
        }
    }
}

/// Tells the client why its connection ends, if there is anybody to tell.
#[cold]
fn farewell(session: &Session, io: &mut ClientIo, error: ReadError) {
    let error: SqlError = match error {
        ReadError::Closed if !session.process.is_timed_out() => return,
        ReadError::Closed | ReadError::TimedOut => error_map::CLIENT_INTERACTION_TIMEOUT.bare(),
        ReadError::Malformed(error) => {
            io.out.set_sequence(1);
            authenticate::protocol_error(&error)
        }
    };
    commands::write_error(&mut io.out, &error);
    io.send_and_close();
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use wire::Command;

    use super::*;
    use engine::{Engine, EngineConfig};
    use env::SimDisk;

    use crate::account::{MemoryStore, Peer};
    use crate::idle_watch::IdleWatch;
    use crate::options::{Invocation, Options};
    use crate::server_log::ServerLog;

    /// A session, its connection and the client's end of that.
    fn session() -> (Session, ClientIo, UnixStream) {
        let Ok(Invocation::Serve(options)) = Options::parse(&[]) else {
            panic!("no arguments are right arguments");
        };
        let config =
            EngineConfig { pool_bytes: 8 << 20, ..EngineConfig::new(Arc::new(SimDisk::new()), "data") };
        let engine = Engine::open(config).unwrap();
        let server = Server::new(*options, engine, Box::new(MemoryStore), ServerLog::to_stderr()).unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let stream = Arc::new(Stream::Unix(ours));
        let process = server.processes.add("localhost".to_owned(), Arc::clone(&stream));
        let counters = server.status.connection();
        let io = ClientIo::new(stream, Arc::clone(&counters), 1024);
        (Session::new(server, process, counters, Peer::Local, [1; 20]), io, theirs)
    }

    #[test]
    fn a_panic_costs_the_statement_its_transaction_and_its_connection() {
        let (mut session, mut io, mut theirs) = session();
        transaction::begin(&mut session, false, false).unwrap();
        let half_answer = |_: &mut Session, io: &mut ClientIo| -> bool {
            io.out.begin_answer(1);
            reply::write_column_count(&mut io.out, 3);
            panic!("made by a test");
        };
        theirs.shutdown(Shutdown::Write).unwrap();
        assert!(!guarded(&mut session, &mut io, half_answer));
        assert!(!session.transaction.open);
        let mut packet = Vec::new();
        drop((session, io));
        theirs.read_to_end(&mut packet).unwrap();
        assert_eq!(packet.get(3..7), Some(&[1, 0xff, 0x51, 0x04][..]), "1105 in place of the half answer");
    }

    #[test]
    fn a_client_that_is_silent_for_too_long_is_told_so() {
        let (mut session, mut io, mut theirs) = session();
        session.process.set_idle_limit(60);
        let (mut watch, start) = (IdleWatch::default(), Instant::now());
        let mut look = |session: &Session, seconds| {
            watch.look(&session.server.processes, start + Duration::from_secs(seconds));
            session.process.is_timed_out()
        };
        assert!(!look(&session, 0) && !look(&session, 100), "nobody waits for a client that logs in");
        session.process.end();
        assert!(!look(&session, 200) && !look(&session, 259));
        session.process.begin(Command::Query, b"SELECT SLEEP(100)");
        assert!(!look(&session, 300) && !look(&session, 400), "a command takes the time it takes");
        session.process.end();
        assert!(!look(&session, 401) && !look(&session, 460) && look(&session, 461));
        assert!(!answer_commands(&mut session, &mut io));
        drop((session, io));
        let mut packet = Vec::new();
        theirs.read_to_end(&mut packet).unwrap();
        assert_eq!(packet.get(4..7), Some(&[0xff, 0xbf, 0x0f][..]), "4031");
    }

    #[test]
    fn what_expressions_do_is_applied_after_their_statement() {
        use expr::SessionInfo as _;
        let (mut session, _io, _theirs) = session();
        let context = crate::statement_context::StatementContext::new(&session);
        context.set_user_variable("A", types::OwnedValue::Int(1));
        context.set_user_variable("a", types::OwnedValue::Int(2));
        assert!(matches!(context.user_variable("A"), types::OwnedValue::Int(2)));
        context.set_last_insert_id(7);
        expr::SessionInfo::warn(&context, expr::Warning::DivisionByZero);
        assert_eq!((context.last_insert_id(), context.user()), (0, "@localhost"));
        context.into_effects().apply(&mut session);
        assert_eq!((session.last_insert_id, session.diagnostics.warning_count()), (7, 1));
        assert!(matches!(session.user_variables["a"], types::OwnedValue::Int(2)));
    }

    #[test]
    fn a_kill_of_an_idle_session_does_not_meet_its_next_statement() {
        let (session, _io, _theirs) = session();
        session.process.kill(Kill::Query);
        assert_eq!(session.process.kill_requested(), Kill::Query);
        session.process.begin(Command::Query, b"SELECT 1");
        assert!(session.fail_if_killed().is_ok());
        session.process.kill(Kill::Query);
        assert_eq!(session.fail_if_killed().unwrap_err().code, 1317);
    }
}
