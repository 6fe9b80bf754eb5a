//! Command line and option files: MySQL's names, forms and rules.
//!
//! Nearly every option is a system variable that may be set at start-up; the rest are in [`Options::take`].

use std::path::{Path, PathBuf};

use nix::unistd::User;

use crate::option_file;
use crate::service_user;
use crate::sysvars::{ALL, Access, Scope, SetValue, VarKind, VarValue, Variables, find, parse_switch};
use crate::undo_settings;

/// An option as written: a name, a value if there was one, and where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name as written, without leading dashes.
    pub name: String,
    /// Value.
    pub value: Option<String>,
    /// `command line`, or file and line.
    pub origin: String,
}

/// One line that says what is wrong with an option, and with which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(pub String);

impl OptionError {
    /// The error that says `text`, in which control characters of what was written are escaped.
    pub fn new(text: &str) -> Self {
        OptionError(in_one_line(text))
    }
}

fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_control() => line.extend(c.escape_default()),
            _ => line.push(c),
        }
    }
    line
}

impl std::fmt::Display for OptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}

/// The mode that the command line selects.
#[derive(Debug)]
pub enum Invocation {
    /// Print help and exit.
    Help,
    /// Print the version and exit.
    Version,
    /// Serve.
    Serve(Box<Options>),
}

/// Everything that was decided before the server starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// System variables at their start-up values.
    pub variables: Variables,
    /// Options that a `loose-` prefix made harmless: warnings for the log.
    pub warnings: Vec<String>,
    /// Whether clients may ask for TLS (`--skip-ssl`).
    pub offers_tls: bool,
    /// A data directory is created, and no clients are served.
    pub initialize: Option<FirstPassword>,
    /// The system user that the server runs as (`--user`).
    pub user: Option<User>,
    /// The planner's rules: all, unless a test leaves some out.
    pub planner_rules: &'static [sql::Rule],
}

/// The password that `root` gets in a new data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstPassword {
    /// A random one that has to be changed at the first login (`--initialize`).
    Random,
    /// None (`--initialize-insecure`).
    Empty,
}

impl Options {
    /// Reads `args`, the command line without the program's name, and the option files it names.
    ///
    /// # Errors
    /// One line naming the option or file at fault.
    pub fn parse(args: &[String]) -> Result<Invocation, OptionError> {
        let mut command_line = split_arguments(args)?;
        if command_line.iter().any(|s| matches!(s.name.as_str(), "help" | "?")) {
            return Ok(Invocation::Help);
        }
        if command_line.iter().any(|s| matches!(s.name.as_str(), "version" | "V")) {
            return Ok(Invocation::Version);
        }
        let mut settings = Vec::new();
        while command_line.first().is_some_and(is_file_option) {
            let setting = command_line.remove(0);
            if setting.name != "no-defaults" {
                let path = setting.value.ok_or_else(|| missing_value(&setting.name, &setting.origin))?;
                settings.extend(option_file::read(Path::new(&path))?);
            }
        }
        settings.extend(command_line);
        let mut options = Options {
            variables: Variables::defaults(),
            warnings: Vec::new(),
            offers_tls: true,
            initialize: None,
            user: None,
            planner_rules: sql::RULES,
        };
        for setting in &settings {
            options.take(setting)?;
        }
        options.fill_paths();
        undo_settings::fill(&mut options.variables);
        Ok(Invocation::Serve(Box::new(options)))
    }

    /// Applies one option.
    fn take(&mut self, setting: &Setting) -> Result<(), OptionError> {
        let name = setting.name.to_ascii_lowercase().replace('-', "_");
        let (name, loose) = match name.strip_prefix("loose_") {
            Some(rest) => (rest.to_owned(), true),
            None => (name, false),
        };
        let value = setting.value.as_deref();
        match name.as_str() {
            "defaults_file" | "defaults_extra_file" | "no_defaults" => {
                let message = format!("option '--{}' must be the first one", setting.name);
                return Err(OptionError::new(&message));
            }
            "user" => {
                let user = value.ok_or_else(|| missing_value(&setting.name, &setting.origin))?;
                self.user = service_user::find(user).map_err(|message| OptionError::new(&message))?;
            }
            "daemonize" if value.and_then(parse_switch) != Some(false) => {
                let message = "option '--daemonize' is not supported: start the server from a service manager, or with setsid";
                return Err(OptionError::new(message));
            }
            "daemonize" => {}
            // What MySQL's start scripts pass, and this server does anyway.
            "console" | "mysql_native_password" | "skip_log_bin" => {
                if value.is_some_and(|value| parse_switch(value) != Some(true)) {
                    return Err(bad_value(setting));
                }
            }
            "initialize" => self.initialize = Some(FirstPassword::Random),
            "initialize_insecure" => self.initialize = Some(FirstPassword::Empty),
            "ssl" => self.offers_tls = value.is_none_or(|value| parse_switch(value) == Some(true)),
            "skip_ssl" | "disable_ssl" => self.offers_tls = false,
            _ => return self.take_variable(&name, setting, loose),
        }
        Ok(())
    }

    fn take_variable(&mut self, name: &str, setting: &Setting, loose: bool) -> Result<(), OptionError> {
        let alias = if name == "default_time_zone" { "time_zone" } else { name };
        let known = |name: &str| find(name).filter(|&number| may_start_with(number));
        if let Some(number) = known(alias) {
            return self.put(number, setting);
        }
        let switched_off =
            name.strip_prefix("skip_").or(name.strip_prefix("disable_")).map(|rest| (rest, false));
        let switched = switched_off.or(name.strip_prefix("enable_").map(|rest| (rest, true)));
        if let Some((rest, on)) = switched
            && setting.value.is_none()
            && let Some(number) = known(rest)
            && ALL[number].kind == VarKind::Bool
        {
            let value = Some(if on { "ON" } else { "OFF" }.to_owned());
            return self.put(number, &Setting { value, ..setting.clone() });
        }
        if loose {
            self.warnings.push(in_one_line(&format!("unknown option '--{}' ignored", setting.name)));
            return Ok(());
        }
        Err(OptionError::new(&format!("unknown option '--{}' ({})", setting.name, setting.origin)))
    }

    fn put(&mut self, number: usize, setting: &Setting) -> Result<(), OptionError> {
        let def = &ALL[number];
        let written = match &setting.value {
            Some(value) => value.as_str(),
            None if def.kind == VarKind::Bool => "ON",
            None => return Err(missing_value(&setting.name, &setting.origin)),
        };
        let value = def.parse(written).ok_or_else(|| bad_value(setting))?;
        let VarValue::Text(text) = &value else {
            self.variables.put(number, value);
            return Ok(());
        };
        let set = SetValue::Text(text.to_string());
        // Texts go the way of SET, so that a character set brings its collation along.
        let assigned = self.variables.assign(number, &set, &value);
        assigned.map(|_| ()).map_err(|_| bad_value(setting))
    }

    /// Paths that follow from others when they were not given.
    fn fill_paths(&mut self) {
        let datadir = self.datadir();
        let pid_file = datadir.join("ratchetd.pid");
        let tmpdir = datadir.join("tmp");
        for (name, path) in
            [("socket", PathBuf::from("/tmp/ratchet.sock")), ("pid_file", pid_file), ("tmpdir", tmpdir)]
        {
            if self.variables.named(name).as_text().is_empty() {
                self.variables.put_named(name, VarValue::Text(path.to_string_lossy().into()));
            }
        }
        for (server, connection) in
            [("character_set_server", "character_set_database"), ("collation_server", "collation_database")]
        {
            self.variables.put_named(connection, self.variables.named(server).clone());
        }
    }

    /// `--datadir`.
    pub fn datadir(&self) -> PathBuf {
        PathBuf::from(self.variables.named("datadir").as_text())
    }

    /// `--socket`.
    pub fn socket(&self) -> PathBuf {
        PathBuf::from(self.variables.named("socket").as_text())
    }

    /// `--port`; 0: any free port.
    pub fn port(&self) -> u16 {
        self.variables.named("port").as_u64() as u16
    }

    /// `--bind-address`.
    pub fn bind_address(&self) -> &str {
        self.variables.named("bind_address").as_text()
    }
}

/// Whether variable `number` may be given at start-up.
fn may_start_with(number: usize) -> bool {
    ALL[number].access != Access::Fixed && ALL[number].scope != Scope::Session
}

fn is_file_option(setting: &Setting) -> bool {
    matches!(setting.name.as_str(), "defaults-file" | "defaults-extra-file" | "no-defaults")
}

#[cold]
fn missing_value(name: &str, origin: &str) -> OptionError {
    OptionError::new(&format!("option '--{name}' needs a value ({origin})"))
}

#[cold]
fn bad_value(setting: &Setting) -> OptionError {
    let value = setting.value.as_deref().unwrap_or_default();
    OptionError::new(&format!("bad value '{value}' for option '--{}' ({})", setting.name, setting.origin))
}

/// Splits the command line into settings. `--name value` takes the next argument as value where the option
/// needs one.
fn split_arguments(args: &[String]) -> Result<Vec<Setting>, OptionError> {
    let mut settings = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let Some(body) = long_form(arg) else {
            return Err(OptionError::new(&format!("unexpected argument '{arg}'")));
        };
        let (name, mut value) = match body.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (body, None),
        };
        if value.is_none() && needs_value(&name) {
            value = args.next_if(|next| !next.starts_with("--")).cloned();
        }
        settings.push(Setting { name, value, origin: "command line".to_owned() });
    }
    Ok(settings)
}

/// The long form of an argument, without dashes: MySQL's short options are few.
fn long_form(arg: &str) -> Option<String> {
    if let Some(long) = arg.strip_prefix("--") {
        return Some(long.to_owned()).filter(|long| !long.is_empty());
    }
    let short = arg.strip_prefix('-')?;
    let letter = short.chars().next()?;
    let name = match letter {
        '?' => return Some("help".to_owned()),
        'V' => return Some("version".to_owned()),
        'h' => "datadir",
        'P' => "port",
        'u' => "user",
        't' => "tmpdir",
        _ => return None,
    };
    let value = &short[letter.len_utf8()..];
    Some(if value.is_empty() { name.to_owned() } else { format!("{name}={value}") })
}

fn needs_value(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    match name {
        "user" | "default_time_zone" | "defaults_file" | "defaults_extra_file" => true,
        _ => find(name).is_some_and(|number| ALL[number].kind != VarKind::Bool),
    }
}

/// The text of `--help`.
pub fn help() -> String {
    let mut text = format!(
        "ratchetd {}\nUsage: ratchetd [--defaults-file=FILE] [--NAME=VALUE]...\n\n\
         Options (dashes and underscores are the same; [default]):\n  \
         --defaults-file=FILE  read groups [mysqld] and [ratchetd] of FILE; must come first\n  \
         --user=NAME           run as this user; only root can start as another\n  \
         --initialize          make a data directory, root with a random password (in the log), and end\n  \
         --initialize-insecure make a data directory, root without a password, and end\n  \
         --help, --version\n",
        crate::version::VERSION
    );
    for (number, def) in ALL.iter().enumerate() {
        if may_start_with(number) {
            let name = def.name.replace('_', "-");
            text.push_str(&format!("  --{name} [{}]\n", def.default));
        }
    }
    text
}

#[cfg(test)]
mod tests;
