//! Servers in this process, over disks in memory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use engine::{Engine, EngineConfig, LogConfig};
use env::{Disk, OpenOptions, SimDisk};
use server::account::MemoryStore;
use server::options::{Invocation, Options};
use server::server::Server;
use server::server_log::ServerLog;

use crate::client::{Answer, PATIENCE, Script, converse};
use crate::tables;

/// The data directory on the disk in memory.
pub(crate) const DATADIR: &str = "/data";

/// What bounds a statement.
const ARGUMENTS: [&str; 5] = [
    "--local-infile=ON",
    "--max-execution-time=2000",
    "--innodb-lock-wait-timeout=1",
    "--lock-wait-timeout=1",
    "--secure-file-priv=/nonexistent",
];

/// The files of a closed data directory.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// Folders, parents first.
    folders: Vec<PathBuf>,
    /// Files and their bytes.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

impl Image {
    /// What `disk` holds, after its last user closed it.
    pub(crate) fn of(disk: &SimDisk) -> Image {
        let mut image = Image { folders: vec![PathBuf::from(DATADIR)], files: Vec::new() };
        let mut at = 0;
        while at < image.folders.len() {
            let folder = image.folders[at].clone();
            for name in disk.list(&folder).expect("a folder of the disk") {
                let path = folder.join(name);
                match disk.open(&path, OpenOptions::default()) {
                    Ok(file) => {
                        let mut bytes = vec![0; file.len().expect("its length") as usize];
                        file.read_exact_at(&mut bytes, 0).expect("its bytes");
                        image.files.push((path, bytes));
                    }
                    Err(_) => image.folders.push(path),
                }
            }
            at += 1;
        }
        image
    }

    /// A disk with these files.
    pub(crate) fn disk(&self) -> SimDisk {
        let disk = SimDisk::new();
        for folder in &self.folders {
            disk.create_dir(folder).expect("a new folder");
        }
        for (path, bytes) in &self.files {
            let file = disk.create(path, OpenOptions::default()).expect("a new file");
            file.write_at(bytes, 0).expect("a write to memory");
        }
        disk
    }
}

impl Image {
    /// The bytes of the first file of the log.
    pub(crate) fn log_mut(&mut self) -> Option<&mut Vec<u8>> {
        let is_log = |path: &Path| path.extension().is_some_and(|ending| ending == "redo");
        self.files.iter_mut().find(|(path, _)| is_log(path)).map(|(_, bytes)| bytes)
    }

    /// The bytes of the file called `name` in the data directory.
    pub(crate) fn file_mut(&mut self, name: &str) -> Option<&mut Vec<u8>> {
        let path = Path::new(DATADIR).join(name);
        self.files.iter_mut().find(|(found, _)| *found == path).map(|(_, bytes)| bytes)
    }
}

/// A server over a disk in memory.
#[derive(Debug)]
pub(crate) struct Mounted {
    server: Arc<Server>,
}

impl Mounted {
    /// Opens the data directory of `disk`, or makes one. No thread works in the background: an input decides
    /// all there is.
    pub(crate) fn open(disk: SimDisk) -> Result<Mounted, String> {
        let log = LogConfig { capacity_bytes: 8 << 20, buffer_bytes: 1 << 20, ..LogConfig::default() };
        let config = EngineConfig {
            pool_bytes: 16 << 20,
            background: false,
            log,
            undo_memory_bytes: 1 << 20,
            ..EngineConfig::new(Arc::new(disk), DATADIR)
        };
        let engine = Engine::open(config).map_err(|error| error.to_string())?;
        let arguments = ARGUMENTS.map(str::to_owned);
        let Ok(Invocation::Serve(options)) = Options::parse(&arguments) else {
            panic!("the arguments are right");
        };
        // For a person who runs an input again.
        let log = std::env::var_os("RATCHET_FUZZ_LOG").unwrap_or_else(|| "/dev/null".into());
        let log = ServerLog::to_file(Path::new(&log)).map_err(|error| error.to_string())?;
        let server = Server::new(*options, engine, Box::new(MemoryStore), log).map_err(|e| e.to_string())?;
        Ok(Mounted { server })
    }

    /// Runs a client against the server.
    pub(crate) fn converse(&self, script: &Script) -> Answer {
        converse(&self.server, script, PATIENCE)
    }

    /// Runs a statement that is no input: on a busy machine it may take its time.
    pub(crate) fn prepare(&self, statement: &str) -> Answer {
        let mut script = Script::logged_in_without_database();
        script.query(statement.as_bytes());
        converse(&self.server, &script, Duration::from_secs(60))
    }

    /// Closes the data directory.
    pub(crate) fn close(self) -> Result<(), String> {
        self.server.engine.shutdown().map_err(|error| error.to_string())
    }
}

/// The files of a data directory with the tables of [`tables`], closed cleanly.
pub(crate) fn image() -> &'static Image {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let disk = SimDisk::new();
        let mounted = Mounted::open(disk.clone()).expect("a new data directory");
        tables::fill(&mounted);
        mounted.close().expect("a clean end");
        Image::of(&disk)
    })
}

/// Runs a client against a server with the tables of [`tables`]. A client that `reads_only` leaves the server
/// to the next one.
pub(crate) fn with_tables(script: &Script, reads_only: bool) -> Answer {
    static KEPT: Mutex<Option<Mounted>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let mounted =
        kept.take().unwrap_or_else(|| Mounted::open(image().disk()).expect("a sound data directory"));
    let answer = mounted.converse(script);
    if reads_only {
        *kept = Some(mounted);
    }
    answer
}
