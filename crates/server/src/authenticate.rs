//! Authentication of clients: the handshake, and COM_CHANGE_USER.

use std::sync::Arc;
use std::time::Duration;

use wire::auth::{AuthPlugin, Exchange, Step};
use wire::change_user::ChangeUser;
use wire::greeting::Greeting;
use wire::handshake::{HandshakeResponse, asks_for_tls, attributes};
use wire::{Capabilities, reply};

use crate::account::{Account, access_denied, account_locked};
use crate::audit;
use crate::client_io::ClientIo;
use crate::compression;
use crate::default_database::use_database;
use crate::error_map::{self, SqlError};
use crate::login_delay;
use crate::peer::Peer;
use crate::proxy_grants;
use crate::refusal::{Refusal, protocol_error};
use crate::reset::reset;
use crate::resource_use::CountedSession;
use crate::response::write_plain_ok;
use crate::roles;
use crate::session::{Session, StateChanges};
use crate::status::bump;
use crate::sysvars::{SetValue, VarLevel};

/// A client's login data, from the handshake or COM_CHANGE_USER.
struct LoginRequest {
    user: String,
    auth_plugin: Option<Vec<u8>>,
    auth_response: Vec<u8>,
    database: Option<String>,
    collation: Option<u16>,
    attributes: Vec<(String, String)>,
}

/// Greets the client, reads its answer and lets it in; the OK packet is left to be sent. Returns what the
/// packets after the OK are compressed with.
pub(crate) fn handshake(
    session: &mut Session,
    io: &mut ClientIo,
) -> Result<Option<compression::Algorithm>, Refusal> {
    let offered = offered_capabilities(session);
    Greeting {
        version: crate::version::VERSION,
        connection_id: session.process.id(),
        nonce: &session.nonce,
        capabilities: offered,
        collation: session.server.greeting_collation.0,
        status: session.status(),
        auth_plugin: "caching_sha2_password",
    }
    .write(&mut io.out);
    io.send().map_err(|_| Refusal::Lost)?;
    io.read_packet()?;
    if offered.has(Capabilities::SSL) && asks_for_tls(io.reader.packet()) {
        begin_tls(session, io)?;
    }
    let response = HandshakeResponse::parse(io.reader.packet()).map_err(|e| protocol_error(&e))?;
    session.capabilities = response.capabilities & offered;
    let compression = match agree_on_compression(session, &response) {
        Ok(compression) => ensure_transport(session, io).map(|()| compression),
        Err(error) => Err(error),
    };
    let request = LoginRequest {
        user: text(response.user),
        auth_plugin: response.auth_plugin.map(<[u8]>::to_vec),
        auth_response: response.auth_response.to_vec(),
        database: response.database.map(text),
        collation: Some(u16::from(response.collation)),
        attributes: attribute_list(response.attributes),
    };
    let compression = compression.inspect_err(|error| {
        audit_attempt(session, io, "connect", (&request.user, request.database.as_deref()), error.code);
    })?;
    admit(session, io, request, "connect")?;
    Ok(compression)
}

/// The compression of the client's packets after the login.
fn agree_on_compression(
    session: &Session,
    response: &HandshakeResponse<'_>,
) -> Result<Option<compression::Algorithm>, SqlError> {
    let variables = session.server.variables.read();
    let list = variables.named("protocol_compression_algorithms").as_text();
    compression::agree(list, response.capabilities, response.zstd_level)
}

/// The client has asked for TLS: its answer to the greeting comes through it.
#[cold]
fn begin_tls(session: &Session, io: &mut ClientIo) -> Result<(), Refusal> {
    let Some(config) = session.server.tls.load_full() else { return Err(Refusal::Lost) };
    bump(&session.server.status.tls_accepts, 1);
    // An error packet would be no part of TLS.
    io.begin_tls(&config).map_err(|_| Refusal::Lost)?;
    bump(&session.server.status.tls_finished_accepts, 1);
    io.read_packet()?;
    Ok(())
}

/// Error 3159 for a client whose packets others may read, if that is not allowed.
fn ensure_transport(session: &Session, io: &ClientIo) -> Result<(), SqlError> {
    let is_required = || session.server.variables.read().named("require_secure_transport").as_bool();
    if session.peer == Peer::Local || io.stream().tls().is_some() || !is_required() {
        return Ok(());
    }
    Err(error_map::SECURE_TRANSPORT_REQUIRED.bare())
}

/// An error for a client whose connection is not as its account requires, or whose account is locked.
fn ensure_usable(
    account: &Account,
    request: &LoginRequest,
    session: &Session,
    io: &ClientIo,
) -> Result<(), SqlError> {
    ensure_required(account, request, session, io)?;
    if account.locked { Err(account_locked(&request.user, session.peer)) } else { Ok(()) }
}

/// Error 1045 for a client whose connection is not as its account requires.
fn ensure_required(
    account: &Account,
    request: &LoginRequest,
    session: &Session,
    io: &ClientIo,
) -> Result<(), SqlError> {
    let is_met = account.requires.is_met(io.stream().tls());
    let used_password = !request.auth_response.is_empty();
    if is_met { Ok(()) } else { Err(access_denied(&request.user, session.peer, used_password)) }
}

/// COM_CHANGE_USER: a new session on the same connection. After an error the connection must be closed.
pub fn change_user(session: &mut Session, io: &mut ClientIo) -> Result<(), Refusal> {
    let args = io.reader.packet().get(1..).unwrap_or_default();
    let change = ChangeUser::parse(args, session.capabilities).map_err(|e| protocol_error(&e))?;
    let request = LoginRequest {
        user: text(change.user),
        auth_plugin: change.auth_plugin.map(<[u8]>::to_vec),
        auth_response: change.auth_response.to_vec(),
        database: change.database.map(text),
        collation: change.collation,
        attributes: attribute_list(change.attributes),
    };
    reset(session);
    session.database = None;
    session.become_account(None);
    session.proxy_user = None;
    begin_handshake(session, io);
    admit(session, io, request, "change_user")
}

/// The client has `connect_timeout` from now on to prove who it is.
pub(crate) fn begin_handshake(session: &Session, io: &mut ClientIo) {
    let timeout = session.server.variables.read().named("connect_timeout").as_u64();
    io.begin_handshake(Duration::from_secs(timeout));
}

/// Lets a client in and gives it a session's slot. `name` is the event's in the audit log.
fn admit(
    session: &mut Session,
    io: &mut ClientIo,
    request: LoginRequest,
    name: &'static str,
) -> Result<(), Refusal> {
    let said = session.server.is_audited().then(|| (request.user.clone(), request.database.clone()));
    let admitted = enter_delayed(session, io, request).and_then(|()| take_session_slot(session, io));
    if let Some((user, database)) = said {
        let status = match &admitted {
            Ok(()) => 0,
            Err(Refusal::Lost) => error_map::NET_READ_ERROR.code,
            Err(Refusal::Error(error)) => error.code,
        };
        audit_attempt(session, io, name, (&user, database.as_deref()), status);
    }
    admitted
}

/// Counts a client that has proved who it is among the sessions; error 1040 in place of the answer if they
/// are too many.
fn take_session_slot(session: &mut Session, io: &mut ClientIo) -> Result<(), Refusal> {
    let is_admin = session.is_connection_admin();
    if session.slot.as_mut().is_none_or(|slot| slot.admit(is_admin)) {
        return Ok(());
    }
    io.out.rewind_answer();
    Err(error_map::CON_COUNT_ERROR.bare().into())
}

/// Writes a login to the audit log, if there is one. `status`: the number of its error; 0: none.
fn audit_attempt(
    session: &Session,
    io: &ClientIo,
    name: &'static str,
    (user, database): (&str, Option<&str>),
    status: u16,
) {
    let attempt = audit::Attempt { name, database, has_tls: io.stream().tls().is_some(), status };
    let who = audit::EventClient { user, ..session.who() };
    session.server.audit(|| audit::Event::login(who, attempt));
}

/// Lets a client in, after a delay if its name has failed too often.
fn enter_delayed(session: &mut Session, io: &mut ClientIo, request: LoginRequest) -> Result<(), Refusal> {
    let delayed = login_delay::delay_login(session, &request.user)?;
    if delayed.is_some() {
        begin_handshake(session, io);
    }
    let user = request.user.clone();
    let entered = enter(session, io, request);
    login_delay::record(session, &user, entered.is_ok());
    entered
}

fn enter(session: &mut Session, io: &mut ClientIo, request: LoginRequest) -> Result<(), Refusal> {
    let account = prove(session, io, &request)?;
    session.process.set_user(&request.user);
    session.user.clone_from(&request.user);
    session.become_account(Some(Arc::clone(&account)));
    let is_expired = has_expired_password(session)?;
    act_as_another(session, io, &request, (&account, is_expired))?;
    activate_roles(session);
    count_login(session)?;
    session.attributes = request.attributes;
    take_collation(session, request.collation);
    if let Some(database) = request.database {
        use_database(session, &database)?;
    }
    session.set_expired(is_expired);
    session.changes = StateChanges::default();
    write_plain_ok(session, &mut io.out);
    Ok(())
}

/// A client of an account of `mysql_native_password` acts as the account that it is granted PROXY on, if the
/// server is to search for one. That account may be locked, and its password expired. `is_expired`: the
/// client has to set another password first, which would be that of the other account.
///
/// # Errors
/// 1045: there is no such account, or the connection is not as it requires. 1862: `is_expired`.
fn act_as_another(
    session: &mut Session,
    io: &ClientIo,
    request: &LoginRequest,
    (own, is_expired): (&Account, bool),
) -> Result<(), SqlError> {
    session.proxy_user = None;
    let server = Arc::clone(&session.server);
    let is_looked_for = {
        let variables = server.variables.read();
        let is_on = |name| variables.named(name).as_bool();
        is_on("check_proxy_users") && is_on("mysql_native_password_proxy_users")
    };
    if !is_looked_for || own.credential.plugin() != AuthPlugin::Native {
        return Ok(());
    }
    let found = proxy_grants::acts_as(&server.accounts, &own.user, session.peer);
    let Some((user, host)) = found.filter(|(user, _)| *user != own.user) else { return Ok(()) };
    if is_expired {
        return Err(error_map::MUST_CHANGE_PASSWORD_LOGIN.bare());
    }
    let used_password = own.credential.has_password();
    let proxied = server.accounts.find(&user, &host);
    let proxied = proxied.ok_or_else(|| access_denied(&session.user, session.peer, used_password))?;
    ensure_required(&proxied, request, session, io)?;
    session.become_account(Some(proxied));
    session.proxy_user = Some(format!("'{}'@'{}'", own.user, own.host));
    Ok(())
}

/// Activates the roles of a login.
fn activate_roles(session: &mut Session) {
    let server = Arc::clone(&session.server);
    let all = server.variables.read().named("activate_all_roles_on_login").as_bool();
    let (user, host) = session.account_name();
    let active = roles::at_login(&server.accounts.directory(), user, host, all);
    session.activate_roles(active);
}

/// Counts the login, and what the session does from now on, if the account has limits. At COM_CHANGE_USER the
/// session counts for its former account until here.
fn count_login(session: &mut Session) -> Result<(), SqlError> {
    let server = &session.server;
    let of_all = server.variables.read().named("max_user_connections").as_u64();
    let counted = match &session.account {
        Some(account) => CountedSession::enter(&server.resource_use, &server.accounts, account, of_all)?,
        None => None,
    };
    session.set_counted(counted);
    Ok(())
}

/// Whether the session has to set another password first.
///
/// # Errors
/// 1862: its client does not know how to, and is not let in (`disconnect_on_expired_password`).
fn has_expired_password(session: &Session) -> Result<bool, SqlError> {
    let variables = session.server.variables.read();
    let default_days = variables.named("default_password_lifetime").as_u64();
    let is_expired = session.account.as_ref().is_some_and(|account| {
        account.credential.plugin().takes_passwords() && account.password_age.has_passed(default_days)
    });
    let can_handle = session.capabilities.has(Capabilities::EXPIRED_PASSWORDS);
    if is_expired && !can_handle && variables.named("disconnect_on_expired_password").as_bool() {
        return Err(error_map::MUST_CHANGE_PASSWORD_LOGIN.bare());
    }
    Ok(is_expired)
}

/// Exchanges packets until the client has proved to be its account.
fn prove(session: &Session, io: &mut ClientIo, request: &LoginRequest) -> Result<Arc<Account>, Refusal> {
    let server = &session.server;
    let login = server.accounts.login(&request.user, session.peer);
    if let Some(account) = login.as_system_user(&request.user, || io.stream().system_user()) {
        ensure_usable(account, request, session, io)?;
        return Ok(Arc::clone(account));
    }
    let is_private = session.peer.is_loopback() || io.stream().tls().is_some();
    let is_refused = login
        .account()
        .is_some_and(|account| account.lockout.is_blocked() || !account.requires.is_met(io.stream().tls()));
    let tested = if is_refused { login.tested_refused() } else { login.tested() };
    let mut exchange = Exchange::new(tested, &session.nonce, is_private);
    let ended = run_exchange(&mut exchange, session, io, request);
    if let Some(account) = login.account() {
        // A client that leaves in the middle has failed.
        let recorded = account.lockout.record(matches!(ended, Ok(Step::Accepted(_))));
        if ended.is_ok() {
            recorded.map_err(|blocked| blocked.error(&request.user, session.peer))?;
        }
    }
    let (Step::Accepted(hash), Some(account)) = (ended?, login.account()) else {
        return Err(access_denied(&request.user, session.peer, exchange.used_password()).into());
    };
    ensure_usable(account, request, session, io)?;
    if let Some(hash) = hash {
        server.accounts.cache_hash(account, hash, exchange.used_second());
    }
    Ok(Arc::clone(account))
}

/// Exchanges packets until the client is accepted or denied.
fn run_exchange(
    exchange: &mut Exchange<'_>,
    session: &Session,
    io: &mut ClientIo,
    request: &LoginRequest,
) -> Result<Step, Refusal> {
    let mut step = exchange.start(request.auth_plugin.as_deref(), &request.auth_response, &mut io.out);
    while step == Step::Read {
        io.send().map_err(|_| Refusal::Lost)?;
        io.read_packet()?;
        let resumed = exchange.resume(io.reader.packet(), || session.server.rsa_key(), &mut io.out);
        step = resumed.map_err(|_| error_map::OUT_OF_RESOURCES.bare())?;
    }
    Ok(step)
}

/// The character sets of the session follow the collation that the client named, if it is known here.
fn take_collation(session: &mut Session, id: Option<u16>) {
    let Some(collation) = id.and_then(|id| types::CollationId(id).collation()) else {
        return;
    };
    let charset = SetValue::Text(collation.charset.name().to_owned());
    let settings = [
        ("character_set_client", charset.clone()),
        ("character_set_results", charset),
        ("collation_connection", SetValue::Text(collation.name.to_owned())),
    ];
    for (name, value) in settings {
        session
            .assign_variable(VarLevel::Session, name, &value)
            .expect("the name of a known collation or character set is accepted");
    }
}

fn offered_capabilities(session: &Session) -> Capabilities {
    let variables = session.server.variables.read();
    let local_infile = variables.named("local_infile").as_bool();
    let compression = compression::offered(variables.named("protocol_compression_algorithms").as_text());
    let has_tls = session.server.tls.load().is_some();
    let always = Capabilities::OFFERED | compression;
    always.with(Capabilities::LOCAL_FILES, local_infile).with(Capabilities::SSL, has_tls)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn attribute_list(block: &[u8]) -> Vec<(String, String)> {
    attributes(block).map(|(name, value)| (text(name), text(value))).collect()
}

/// Writes the error that ends a connection before it is established.
pub(crate) fn write_refusal(io: &mut ClientIo, capabilities: Capabilities, error: &SqlError) {
    if capabilities.has(Capabilities::PROTOCOL_41) {
        reply::write_error(&mut io.out, error.code, error.sqlstate, &error.message);
    } else {
        reply::write_early_error(&mut io.out, error.code, &error.message);
    }
}
