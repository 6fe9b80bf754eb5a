//! The life of a connection: handshake, commands, end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::sync::{assert_no_latch, interrupt};
use wire::{OutBuffer, reply};

use crate::audit;
use crate::authenticate;
use crate::client_io::ClientIo;
use crate::commands::{self, After};
use crate::compression::CompressedStream;
use crate::connection_slots::slot::ConnectionSlot;
use crate::error_map::{self, ErrorKind, SqlError};
use crate::host_cache::{self, Limits};
use crate::peer::Peer;
use crate::process_list::Kill;
use crate::refusal::{Refusal, packet_error};
use crate::reset::let_go;
use crate::response::write_error;
use crate::server::Server;
use crate::session::Session;
use crate::socket::ReadError;
use crate::status::bump;
use crate::stream::Stream;

pub use crate::stack::STACK_BYTES;

/// Largest packet before the client is known: connection attributes of at most 64 KiB, names, and a password.
const HANDSHAKE_PACKET_BYTES_MAX: usize = (64 + 4) << 10;

/// A client that has connected, with a slot for its handshake.
#[derive(Debug)]
pub struct Accepted {
    server: Arc<Server>,
    stream: Arc<Stream>,
    peer: Peer,
    host: String,
    slot: ConnectionSlot,
}

impl Accepted {
    /// Admits a client, or sends it the error that refuses it. Does not wait for the client.
    pub fn enter(server: &Arc<Server>, stream: Stream) -> Option<Self> {
        // A client that is gone already has no address.
        let (peer, host) = stream.peer().ok()?;
        let stream = Arc::new(stream);
        if let Some(address) = host_cache::counted_address(peer)
            && server.hosts.is_blocked(address, Limits::of(&server.variables.read()))
        {
            refuse(&stream, &error_map::HOST_IS_BLOCKED.with(&[&address]));
            return None;
        }
        let Some(slot) = ConnectionSlot::enter(server, &stream) else {
            refuse(&stream, &error_map::CON_COUNT_ERROR.bare());
            return None;
        };
        Some(Accepted { server: Arc::clone(server), stream, peer, host, slot })
    }

    /// Its socket.
    pub fn stream(&self) -> Arc<Stream> {
        Arc::clone(&self.stream)
    }

    /// Serves the client until it leaves. Runs on the connection's own thread.
    pub fn serve(self) {
        let Accepted { server, stream, peer, host, slot } = self;
        let Ok(nonce) = wire::auth::new_nonce() else {
            server.log.error("no random bytes for a connection's challenge");
            return;
        };
        let counters = server.status.connection();
        let mut io = ClientIo::new(Arc::clone(&stream), Arc::clone(&counters), HANDSHAKE_PACKET_BYTES_MAX);
        let process = server.processes.add(host, stream);
        interrupt::set_flag(Some(process.interrupt()));
        let mut session = Session::new(Arc::clone(&server), process, counters, peer, nonce);
        session.slot = Some(slot);
        let is_established = establish(&mut session, &mut io);
        if is_established {
            if let End::Lost(why) = answer_commands(&mut session, &mut io) {
                bump(&server.status.aborted_clients, 1);
                note_lost(&session, why);
            }
        } else {
            bump(&server.status.aborted_connects, 1);
        }
        if is_established {
            session.server.audit(|| audit::Event::disconnect(session.who()));
        }
        let_go(&mut session);
        let forgotten = session.prepared.clear() as u64;
        server.status.prepared_statements.fetch_sub(forgotten, Ordering::Relaxed);
        server.processes.remove(session.process.id());
        interrupt::set_flag(None);
    }
}

/// Serves one client until it leaves. Runs on the connection's own thread.
pub fn serve(server: &Arc<Server>, stream: Stream) {
    if let Some(accepted) = Accepted::enter(server, stream) {
        accepted.serve();
    }
}

/// Sends an error in place of the greeting and closes the connection. Does not wait.
#[cold]
pub fn refuse(stream: &Stream, error: &SqlError) {
    let mut out = OutBuffer::new();
    reply::write_early_error(&mut out, error.code, &error.message);
    // There is room in the socket of a new connection; a client that is gone needs no answer.
    let _ = stream.send_without_waiting(out.pending());
    stream.shut_down_write();
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The client took its leave, or KILL or the server's end took it.
    Regular,
    /// Otherwise.
    Lost(&'static ErrorKind),
}

/// Logs the end of a connection without COM_QUIT, where `log_error_verbosity` asks for notes.
#[cold]
fn note_lost(session: &Session, why: &ErrorKind) {
    let server = &session.server;
    if server.variables.read().named("log_error_verbosity").as_u64() < 3 {
        return;
    }
    let (id, database) = (session.process.id(), session.database.as_deref().unwrap_or("unconnected"));
    let (user, host, why) = (&session.user, session.peer.host(), why.bare().message);
    let line = error_map::NEW_ABORTING_CONNECTION.with(&[&id, &database, user, &host, &why]);
    server.log.note(&line.message);
}

/// Socket options and handshake; false if the client was not let in.
fn establish(session: &mut Session, io: &mut ClientIo) -> bool {
    authenticate::begin_handshake(session, io);
    if io.stream().set_no_delay().is_err() {
        return false;
    }
    match authenticate::handshake(session, io) {
        Ok(compression) => {
            let limit = session.variables.hot.max_allowed_packet as usize;
            io.reader.set_bytes_max(limit);
            take_interactive_timeout(session);
            session.process.set_idle_limit(idle_timeout(session));
            session.process.end();
            count_handshake(session, false);
            if io.stream().tls().is_some() {
                session.server.drop_thread_cache();
            }
            let is_sent = io.send().is_ok();
            if let Some(algorithm) = compression {
                io.begin_compression(algorithm, &session.server.memory);
            }
            is_sent
        }
        Err(Refusal::Lost) => {
            count_handshake(session, true);
            false
        }
        Err(Refusal::Error(error)) => {
            // Errors of communication, which a wrong password is not.
            if error.sqlstate == error_map::HANDSHAKE_ERROR.sqlstate {
                count_handshake(session, true);
            }
            authenticate::write_refusal(io, session.capabilities, &error);
            io.send_refusal();
            false
        }
    }
}

/// Counts a handshake for its host, as broken or not.
fn count_handshake(session: &Session, broken: bool) {
    let Some(address) = host_cache::counted_address(session.peer) else { return };
    let server = &session.server;
    if broken {
        server.hosts.count_error(address, Limits::of(&server.variables.read()));
    } else {
        server.hosts.forgive(address);
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

/// Answers commands until the connection ends.
fn answer_commands(session: &mut Session, io: &mut ClientIo) -> End {
    guarded(session, io, command_loop)
}

/// Runs commands by `run`. A panic outside critical sections costs the client its statement, its transaction
/// and its connection, and does not affect others; one inside aborts the process in the panic hook.
fn guarded(
    session: &mut Session,
    io: &mut ClientIo,
    run: impl FnOnce(&mut Session, &mut ClientIo) -> End,
) -> End {
    let result = catch_unwind(AssertUnwindSafe(|| run(session, io)));
    result.unwrap_or_else(|_| {
        let_go(session);
        session.server.log.error(&format!("connection {}: a statement panicked", session.process.id()));
        if io.out.rewind_answer() {
            let error =
                error_map::UNKNOWN.with_message("Internal error: the statement was given up".to_owned());
            write_error(&mut io.out, &error);
        }
        io.send_and_close();
        End::Lost(&error_map::UNKNOWN)
    })
}

fn command_loop(session: &mut Session, io: &mut ClientIo) -> End {
    let mut timeout = idle_timeout(session);
    loop {
        io.reader.begin_command();
        if let Err(error) = io.read_command()
            && let Err(why) = read_on(session, io, error)
        {
            return End::Lost(why);
        }
        let after = commands::run(session, io);
        assert_no_latch();
        if let Err(error) = io.send() {
            return End::Lost(write_error_kind(&error));
        }
        match after {
            After::Quit => return End::Regular,
            After::Close => {
                let_go(session);
                io.send_and_close();
                return End::Lost(&error_map::NET_READ_ERROR);
            }
            After::Continue => {}
        }
        if session.process.kill_requested() == Kill::Connection || session.server.is_stopping() {
            io.stream().shut_down();
            if session.ends_server {
                end_server(session);
            }
            return End::Regular;
        }
        let wanted = idle_timeout(session);
        if wanted != timeout {
            timeout = wanted;
            session.process.set_idle_limit(timeout);
        }
    }
}

/// Ends the server as SIGTERM does, which cannot fail for the own process.
#[cold]
fn end_server(session: &Session) {
    session.server.log.note(&format!("SHUTDOWN of connection {}", session.process.id()));
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
}

#[cold]
fn write_error_kind(error: &io::Error) -> &'static ErrorKind {
    match error.kind() {
        io::ErrorKind::WouldBlock => &error_map::NET_WRITE_INTERRUPTED,
        _ => &error_map::NET_ERROR_ON_WRITE,
    }
}

/// Reads what is left of a command after `error`, or ends the connection.
///
/// # Errors
/// Why the connection has ended.
#[cold]
fn read_on(session: &mut Session, io: &mut ClientIo, error: ReadError) -> Result<(), &'static ErrorKind> {
    let error = match error {
        ReadError::Incomplete => {
            let timeout = Duration::from_secs(session.variables.hot.net_read_timeout);
            match io.read_rest(timeout) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            }
        }
        error => error,
    };
    let_go(session);
    Err(farewell(session, io, &error))
}

/// Sends the error that ends the connection, if the client is still connected, with MySQL's packet number for
/// it.
fn farewell(session: &Session, io: &mut ClientIo, error: &ReadError) -> &'static ErrorKind {
    let (sequence, kind) = match error {
        ReadError::Closed if session.process.is_timed_out() => (0, &error_map::CLIENT_INTERACTION_TIMEOUT),
        ReadError::Closed | ReadError::Incomplete => return &error_map::NET_READ_ERROR,
        ReadError::TimedOut => (1, &error_map::NET_READ_INTERRUPTED),
        ReadError::Malformed(error @ wire::Error::OutOfOrder { .. }) => (0, packet_error(error)),
        // After the part that was too much.
        ReadError::Malformed(error @ wire::Error::PacketTooLarge { .. }) => {
            (io.reader.next_sequence().wrapping_add(1), packet_error(error))
        }
        ReadError::Malformed(error) => (1, packet_error(error)),
    };
    io.out.set_sequence(io.stream().compression().map_or(sequence, CompressedStream::next_number));
    write_error(&mut io.out, &kind.bare());
    io.send_and_close();
    kind
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use wire::Command;

    use super::*;
    use engine::{Engine, EngineConfig};
    use env::SimDisk;

    use crate::account::MemoryStore;
    use crate::idle_watch::IdleWatch;
    use crate::options::{Invocation, Options};
    use crate::server_log::ServerLog;
    use crate::transaction;

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
        let stream = Arc::new(Stream::from(ours));
        let process = server.processes.add("localhost".to_owned(), Arc::clone(&stream));
        let counters = server.status.connection();
        let io = ClientIo::new(stream, Arc::clone(&counters), 1024);
        (Session::new(server, process, counters, Peer::Local, [1; 20]), io, theirs)
    }

    #[test]
    fn a_panic_costs_the_statement_its_transaction_and_its_connection() {
        let (mut session, mut io, mut theirs) = session();
        transaction::begin(&mut session, false, false).unwrap();
        let half_answer = |_: &mut Session, io: &mut ClientIo| -> End {
            io.out.begin_answer(1);
            reply::write_column_count(&mut io.out, 3);
            panic!("made by a test");
        };
        theirs.shutdown(Shutdown::Write).unwrap();
        assert_eq!(guarded(&mut session, &mut io, half_answer), End::Lost(&error_map::UNKNOWN));
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
        let end = answer_commands(&mut session, &mut io);
        assert_eq!(end, End::Lost(&error_map::CLIENT_INTERACTION_TIMEOUT));
        drop((session, io));
        let mut packet = Vec::new();
        theirs.read_to_end(&mut packet).unwrap();
        assert_eq!(packet.get(3..7), Some(&[0, 0xff, 0xbf, 0x0f][..]), "4031 under number 0");
    }

    #[test]
    fn what_expressions_do_is_applied_after_their_statement() {
        use expr::SessionInfo as _;
        let (mut session, _io, _theirs) = session();
        let context = crate::statement_context::StatementContext::new(&session);
        context.set_user_variable("A", types::OwnedValue::Int(1)).unwrap();
        context.set_user_variable("a", types::OwnedValue::Int(2)).unwrap();
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
