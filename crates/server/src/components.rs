//! Components: parts of the server that INSTALL COMPONENT turns on until UNINSTALL COMPONENT. The only one,
//! validate_password, checks new passwords.
//!
//! An installed component is an object of kind `component` in the dictionary, named by its URN; its bytes are
//! `1`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Engine;
use parking_lot::{Mutex, RwLock};

use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::password_strength::{Check, Dictionary};
use crate::sysvars::{ALL, Variables};

const KIND: &str = "component";
const FORMAT: &[u8] = b"1";
/// The component that checks new passwords.
pub(crate) const VALIDATE_PASSWORD: &str = "file://component_validate_password";
/// What its variables begin with.
const VARIABLES: &str = "validate_password.";
const DICTIONARY_FILE: &str = "validate_password.dictionary_file";

/// Which components are installed.
#[derive(Debug)]
pub(crate) struct Components {
    validates_passwords: AtomicBool,
    dictionary: RwLock<Arc<Dictionary>>,
    /// Held while the dictionary's file is read, so that the variable's last value wins.
    reading: Mutex<()>,
    /// Held by the statement that installs or uninstalls.
    changing: Mutex<()>,
}

impl Components {
    /// Those that the dictionary has, with the server's `variables`.
    pub(crate) fn open(engine: &Engine, variables: &Variables) -> Result<Self, SqlError> {
        let stored = engine.get_object(KIND, VALIDATE_PASSWORD).map_err(|e| engine_error::plain(&e))?;
        Ok(Components {
            validates_passwords: AtomicBool::new(stored.is_some()),
            dictionary: RwLock::new(Arc::new(dictionary(&dictionary_path(variables)).unwrap_or_default())),
            reading: Mutex::new(()),
            changing: Mutex::new(()),
        })
    }

    /// Whether validate_password is installed.
    pub(crate) fn validates_passwords(&self) -> bool {
        self.validates_passwords.load(Ordering::Acquire)
    }

    /// Whether there is the variable called `name`, in lower case: not while its component is missing.
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        !name.starts_with(VARIABLES) || self.validates_passwords()
    }

    /// How new passwords are checked, if they are.
    pub(crate) fn password_check(&self, variables: &Variables) -> Option<Check> {
        let dictionary = || Arc::clone(&self.dictionary.read());
        self.validates_passwords().then(|| Check::new(variables, dictionary()))
    }

    /// Takes over the global variable `name`, which was set. The caller holds no lock of `variables`: the
    /// dictionary's file may be slow to read. The log's line for a dictionary that cannot be read; there are
    /// no words then.
    pub(crate) fn changed(&self, variables: &RwLock<Variables>, name: &str) -> Result<(), String> {
        if name == DICTIONARY_FILE { self.read_dictionary(variables) } else { Ok(()) }
    }

    fn read_dictionary(&self, variables: &RwLock<Variables>) -> Result<(), String> {
        let _turn = self.reading.lock();
        let path = dictionary_path(&variables.read());
        let (words, result) = match dictionary(&path) {
            Ok(words) => (words, Ok(())),
            Err(line) => (Dictionary::default(), Err(line)),
        };
        *self.dictionary.write() = Arc::new(words);
        result
    }

    /// INSTALL COMPONENT, of all or none. Its variables begin with their values of the server's start.
    ///
    /// # Errors
    /// 3527, 3528 and 1126 for what is no component here, 3529 for one that is installed.
    pub(crate) fn install(
        &self,
        engine: &Engine,
        urns: &[&str],
        (variables, at_start): (&RwLock<Variables>, &Variables),
    ) -> Result<(), SqlError> {
        let _turn = self.changing.lock();
        for (at, urn) in urns.iter().enumerate() {
            ensure_known(urn)?;
            if self.validates_passwords() || at > 0 {
                return Err(error_map::COMPONENTS_CANT_LOAD.with(&[urn]));
            }
        }
        ensure_changeable(engine)?;
        engine.put_object(KIND, VALIDATE_PASSWORD, FORMAT).map_err(|e| engine_error::plain(&e))?;
        reset_variables(&mut variables.write(), at_start);
        // As at the server's start, a file that cannot be read has no words.
        let _ = self.read_dictionary(variables);
        self.validates_passwords.store(true, Ordering::Release);
        Ok(())
    }

    /// UNINSTALL COMPONENT, of all or none.
    ///
    /// # Errors
    /// 3537 for one that is not installed, 3545 for one that is named twice.
    pub(crate) fn uninstall(&self, engine: &Engine, urns: &[&str]) -> Result<(), SqlError> {
        let _turn = self.changing.lock();
        for (at, urn) in urns.iter().enumerate() {
            if urns[..at].contains(urn) {
                return Err(error_map::COMPONENTS_UNLOAD_DUPLICATE.with(&[urn]));
            }
            if *urn != VALIDATE_PASSWORD || !self.validates_passwords() {
                return Err(error_map::COMPONENTS_UNLOAD_NOT_LOADED.with(&[urn]));
            }
        }
        ensure_changeable(engine)?;
        engine.delete_object(KIND, VALIDATE_PASSWORD).map_err(|e| engine_error::plain(&e))?;
        self.validates_passwords.store(false, Ordering::Release);
        Ok(())
    }
}

/// Whether the variable called `name`, in any case, is one of a component.
pub(crate) fn is_variable(name: &str) -> bool {
    name.get(..VARIABLES.len()).is_some_and(|start| start.eq_ignore_ascii_case(VARIABLES))
}

/// Gives the component's variables their values of the server's start.
fn reset_variables(variables: &mut Variables, at_start: &Variables) {
    for (number, _) in ALL.iter().enumerate().filter(|(_, def)| is_variable(def.name)) {
        variables.put(number, at_start.get(number).clone());
    }
}

fn dictionary_path(variables: &Variables) -> String {
    variables.named(DICTIONARY_FILE).as_text().to_owned()
}

fn dictionary(path: &str) -> Result<Dictionary, String> {
    if path.is_empty() {
        return Ok(Dictionary::default());
    }
    Dictionary::read(path.as_ref()).map_err(|error| {
        format!("validate_password: the dictionary {path} cannot be read: {error}; no words are refused")
    })
}

fn ensure_known(urn: &str) -> Result<(), SqlError> {
    if urn == VALIDATE_PASSWORD {
        return Ok(());
    }
    let Some((scheme, name)) = urn.split_once("://") else {
        return Err(error_map::COMPONENTS_NO_SCHEME.with(&[&urn]));
    };
    if scheme != "file" {
        return Err(error_map::COMPONENTS_NO_SCHEME_SERVICE.with(&[&scheme, &urn]));
    }
    Err(error_map::CANT_OPEN_LIBRARY.with(&[&format!("{name}.so"), &0, &"there is no such component"]))
}

fn ensure_changeable(engine: &Engine) -> Result<(), SqlError> {
    if engine.is_read_only() { Err(error_map::INNODB_READ_ONLY.bare()) } else { Ok(()) }
}
