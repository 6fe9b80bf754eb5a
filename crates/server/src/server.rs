//! The state that all sessions share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use base::memory::ServerAccount;
use engine::Engine;
use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use types::CollationId;
use types::collation::Collation;
use wire::auth::{KeyError, RsaKey};

use crate::account::{AccountStore, Accounts};
use crate::audit::{self, AuditLog};
use crate::components::Components;
use crate::connection_slots::ConnectionSlots;
use crate::deadlines::Deadlines;
use crate::engine_error;
use crate::engine_settings;
use crate::error_map::{self, SqlError};
use crate::failed_logins::FailedLogins;
use crate::host_cache::HostCache;
use crate::memory_limits;
use crate::options::Options;
use crate::plan_cache::PlanCache;
use crate::privilege;
use crate::process_list::ProcessList;
use crate::redo_log;
use crate::resource_use::ResourceUse;
use crate::roles::{self, RoleName};
use crate::server_log::ServerLog;
use crate::status::{Status, bump};
use crate::sysvars::{VarValue, Variables};
use crate::tls;
use crate::undo_settings;
use crate::user_locks::UserLocks;

/// Figures of the process's allocator.
#[derive(Clone, Copy, Debug)]
pub struct Allocator {
    /// Returns the bytes that it has given out; `None` if it is unknown.
    pub heap_bytes: fn() -> Option<u64>,
    /// Gives back what it keeps of the memory that the calling thread has freed.
    pub drop_thread_cache: fn(),
}

/// The server's shared state.
#[derive(Debug)]
pub struct Server {
    /// Tables and transactions.
    pub engine: Arc<Engine>,
    /// The options that it was started with.
    pub options: Options,
    /// `collation_server` at the start: greetings name it, whatever SET GLOBAL does.
    pub greeting_collation: CollationId,
    /// Global values of the system variables; sessions begin with a copy.
    pub variables: RwLock<Variables>,
    /// Accounts.
    pub accounts: Accounts,
    /// Components.
    pub(crate) components: Components,
    /// Connections.
    pub processes: ProcessList,
    /// Failed logins, and those delayed for them.
    pub failed_logins: FailedLogins,
    /// What accounts with limits have used.
    pub(crate) resource_use: Arc<ResourceUse>,
    /// Hosts whose clients break off handshakes.
    pub(crate) hosts: HostCache,
    /// Places of connections.
    pub connection_slots: ConnectionSlots,
    /// Deadlines of the statements in progress.
    pub deadlines: Deadlines,
    /// Locks of GET_LOCK.
    pub user_locks: UserLocks,
    /// Plans that all sessions share.
    pub plans: PlanCache,
    /// The memory of all connections and shared caches.
    pub memory: Arc<ServerAccount>,
    /// Counters.
    pub status: Status,
    /// Log.
    pub log: ServerLog,
    /// The audit log, if `audit_log_file` is set.
    audit: Option<AuditLog>,
    /// What TLS is offered with.
    pub(crate) tls: ArcSwapOption<ServerConfig>,
    rsa_key: OnceLock<RsaKey>,
    /// Held while the key is generated, so that it is generated once.
    rsa_key_making: Mutex<()>,
    stopping: AtomicBool,
    allocator: OnceLock<Allocator>,
}

impl Server {
    /// A server that listens nowhere yet.
    pub fn new(
        options: Options,
        engine: Arc<Engine>,
        store: Box<dyn AccountStore>,
        log: ServerLog,
    ) -> Result<Arc<Self>, SqlError> {
        let accounts = Accounts::open(store)?;
        let audit = AuditLog::open(&options).map_err(|line| error_map::UNKNOWN.with_message(line))?;
        accounts.set_mandatory(mandatory_roles(&options.variables)?);
        let mut variables = options.variables.clone();
        privilege::configure_partial_revokes(&accounts, &mut variables);
        for (name, value) in machine_variables()? {
            variables.put_named(name, VarValue::Text(value.into()));
        }
        redo_log::configure(&engine, &variables).map_err(|error| engine_error::plain(&error))?;
        engine_settings::configure(&engine, &variables);
        undo_settings::configure(&engine, &variables);
        let components = Components::open(&engine, &variables)?;
        let memory = Arc::<ServerAccount>::default();
        memory_limits::configure(&memory, &mut variables);
        let plans = PlanCache::new(variables.named("ratchet_plan_cache_size").as_u64(), &memory);
        let collation = Collation::find(variables.named("collation_server").as_text());
        let greeting_collation = collation.map_or(CollationId::UTF8MB4_0900_AI_CI, |known| known.id);
        Ok(Arc::new(Server {
            engine,
            options,
            greeting_collation,
            variables: RwLock::new(variables),
            accounts,
            components,
            processes: ProcessList::default(),
            failed_logins: FailedLogins::default(),
            resource_use: Arc::default(),
            hosts: HostCache::default(),
            connection_slots: ConnectionSlots::default(),
            deadlines: Deadlines::default(),
            user_locks: UserLocks::default(),
            plans,
            memory,
            status: Status::default(),
            log,
            audit,
            tls: ArcSwapOption::empty(),
            rsa_key: OnceLock::new(),
            rsa_key_making: Mutex::new(()),
            stopping: AtomicBool::new(false),
            allocator: OnceLock::new(),
        }))
    }

    /// Writes the event of `make` to the audit log, if there is one. The server's log reports the first of
    /// several lost events.
    pub(crate) fn audit<'a>(&self, make: impl FnOnce() -> audit::Event<'a>) {
        let Some(log) = &self.audit else { return };
        let keep = audit::Keep::of(&self.variables.read());
        match log.write(make(), keep) {
            Ok(()) => bump(&self.status.audit_events, 1),
            Err(audit::LostEvent { news }) => {
                bump(&self.status.audit_events_lost, 1);
                if let Some(error) = news {
                    self.log.error(&format!("the audit log cannot be written: {error}"));
                }
            }
        }
    }

    /// Whether there is an audit log.
    #[inline]
    pub(crate) fn is_audited(&self) -> bool {
        self.audit.is_some()
    }

    /// The key pair for passwords over TCP, generated at first use.
    pub fn rsa_key(&self) -> Result<&RsaKey, KeyError> {
        if let Some(key) = self.rsa_key.get() {
            return Ok(key);
        }
        let _making = self.rsa_key_making.lock();
        if let Some(key) = self.rsa_key.get() {
            return Ok(key);
        }
        let key = RsaKey::generate()?;
        Ok(self.rsa_key.get_or_init(|| key))
    }

    /// Offers TLS from now on, if the options ask for it and it can be had.
    ///
    /// # Errors
    /// What an option names is of no use. One line.
    pub(crate) fn offer_tls(&self) -> Result<(), String> {
        if !self.options.offers_tls {
            return Ok(());
        }
        let offered = tls::configure(&self.options.variables, &self.options.datadir(), &self.log)?;
        if let Some(offered) = offered {
            let mut variables = self.variables.write();
            for (name, file) in offered.files {
                variables.put_named(name, VarValue::Text(file.into()));
            }
            self.tls.store(Some(offered.config));
        }
        Ok(())
    }

    /// Reads the certificates again, for connections to come (ALTER INSTANCE RELOAD TLS).
    ///
    /// # Errors
    /// One is of no use; what was offered before still is. One line.
    pub(crate) fn reload_tls(&self) -> Result<(), String> {
        let offered = tls::load(&self.options.variables, &self.options.datadir())?;
        self.tls.store(Some(offered.config));
        Ok(())
    }

    /// Says how to ask the allocator of this process. Only the first call counts.
    pub(crate) fn set_allocator(&self, allocator: Allocator) {
        self.allocator.get_or_init(|| allocator);
    }

    /// Returns the bytes that the process's allocator has given out; `None` in a process whose allocator does
    /// not count.
    pub fn heap_bytes(&self) -> Option<u64> {
        self.allocator.get().and_then(|allocator| (allocator.heap_bytes)())
    }

    /// Gives back what the allocator keeps for the calling thread: after work that the thread does once, and
    /// that takes memory of many sizes.
    #[cold]
    pub fn drop_thread_cache(&self) {
        if let Some(allocator) = self.allocator.get() {
            (allocator.drop_thread_cache)();
        }
    }

    /// Whether the server is on its way out.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Ends the process at once after a failure below which nothing may be written any more.
    #[cold]
    pub fn fail(&self, error: &engine::Error) -> ! {
        self.log.error(&format!("storage failure, the server stops: {error}"));
        std::process::abort()
    }

    /// No new connections and statements from now on.
    pub(crate) fn begin_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

/// The roles that `mandatory_roles` names at startup.
fn mandatory_roles(variables: &Variables) -> Result<Vec<RoleName>, SqlError> {
    let text = variables.named("mandatory_roles").as_text();
    roles::parsed_mandatory(text)
        .ok_or_else(|| error_map::WRONG_VALUE_FOR_VAR.with(&[&"mandatory_roles", &text]))
}

/// Variables that the machine decides.
fn machine_variables() -> Result<[(&'static str, String); 3], SqlError> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let now = jiff::Zoned::now();
    let zone = now.strftime("%Z").to_string();
    Ok([("hostname", host), ("system_time_zone", zone), ("server_uuid", server_uuid()?)])
}

/// A random UUID (version 4). It identifies this run of the server.
fn server_uuid() -> Result<String, SqlError> {
    let mut bytes = [0; 16];
    env::random_bytes(&mut bytes).map_err(|_| error_map::OUT_OF_RESOURCES.bare())?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = |range: std::ops::Range<usize>| {
        bytes[range].iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    };
    Ok(format!("{}-{}-{}-{}-{}", hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)))
}
