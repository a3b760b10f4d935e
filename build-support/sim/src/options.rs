//! What a simulated device is and what it checks.

use std::str::FromStr;

use crate::allow::Allowed;

/// What an access outside every allocation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutOfBounds {
    /// It ends the launch.
    #[default]
    Error,
    /// Reads give zero, writes are dropped; the launch goes on and the report names the access.
    Zero,
}

/// What a read of memory that nobody wrote does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Uninitialised {
    /// It is not looked for; memory begins as zeros.
    #[default]
    Off,
    /// It ends the launch.
    Error,
    /// Memory begins as ones, a NaN for floating point; the report names the read.
    Nan,
    /// Memory begins as zeros; the report names the read.
    Zero,
}

/// Which races are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Races {
    /// None.
    #[default]
    Off,
    /// On shared memory.
    Shared,
    /// On shared memory, and on global memory within and across blocks.
    All,
}

/// A simulated device and its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Compute capability.
    pub capability: (u32, u32),
    /// What the device calls itself.
    pub name: String,
    /// Accesses outside every allocation.
    pub out_of_bounds: OutOfBounds,
    /// Reads of memory that nobody wrote.
    pub uninitialised: Uninitialised,
    /// Races.
    pub races: Races,
    /// Varies the order in which warps run; 0 is round robin.
    pub seed: u64,
    /// Thread instructions that a launch may execute.
    pub budget: Option<u64>,
    /// Cores that a launch uses.
    pub threads: usize,
    /// Multiprocessors of the device: of a cooperative launch as many blocks can be resident as they hold.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub memory: u64,
    /// Bytes of memory that the threads of a launch can take with `malloc`.
    pub heap: u64,
    /// Bytes of local memory a thread may use, its call stack with them.
    pub stack: u32,
    /// Findings a launch keeps when it goes on after them.
    pub findings: usize,
    /// Findings that are reported apart, and never end a launch.
    pub allow: Vec<Allowed>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            capability: (9, 0),
            name: "gpuk simulator (not hardware)".to_owned(),
            out_of_bounds: OutOfBounds::default(),
            uninitialised: Uninitialised::default(),
            races: Races::default(),
            seed: 0,
            budget: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            multiprocessors: 16,
            memory: 16 << 30,
            heap: 8 << 20,
            stack: 512 << 10,
            findings: 64,
            allow: Vec::new(),
        }
    }
}

/// A variable of the environment whose value no option has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{variable}` is `{value}`; it takes {wanted}")]
pub struct OptionsError {
    /// The variable's name.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// What it takes.
    pub wanted: &'static str,
}

impl Options {
    /// The variables that [`from_env`](Self::from_env) reads.
    pub const VARIABLES: [&'static str; 12] = [
        "GPUK_SIM_CAPABILITY",
        "GPUK_SIM_NAME",
        "GPUK_SIM_OUT_OF_BOUNDS",
        "GPUK_SIM_UNINITIALISED",
        "GPUK_SIM_RACES",
        "GPUK_SIM_SEED",
        "GPUK_SIM_BUDGET",
        "GPUK_SIM_THREADS",
        "GPUK_SIM_MULTIPROCESSORS",
        "GPUK_SIM_MEMORY",
        "GPUK_SIM_HEAP",
        "GPUK_SIM_ALLOW",
    ];

    /// The default, changed by the environment.
    ///
    /// # Errors
    ///
    /// If a variable has a value that its option does not take.
    pub fn from_env() -> Result<Self, OptionsError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), with the variables that `get` gives.
    ///
    /// # Errors
    ///
    /// If a variable has a value that its option does not take.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        for variable in Self::VARIABLES {
            let Some(value) = get(variable) else { continue };
            let text = value.trim();
            if let Err(wanted) = options.set(variable, text) {
                return Err(OptionsError {
                    variable,
                    value,
                    wanted,
                });
            }
        }
        Ok(options)
    }

    fn set(&mut self, variable: &str, text: &str) -> Result<(), &'static str> {
        match variable {
            "GPUK_SIM_CAPABILITY" => {
                const WANTED: &str = "a compute capability: `9.0`";
                let (major, minor) = text.split_once('.').ok_or(WANTED)?;
                self.capability = (number(major, WANTED)?, number(minor, WANTED)?);
            }
            "GPUK_SIM_NAME" => text.clone_into(&mut self.name),
            "GPUK_SIM_OUT_OF_BOUNDS" => {
                self.out_of_bounds = match text {
                    "error" => OutOfBounds::Error,
                    "zero" => OutOfBounds::Zero,
                    _ => return Err("`error` or `zero`"),
                }
            }
            "GPUK_SIM_UNINITIALISED" => {
                self.uninitialised = match text {
                    "off" => Uninitialised::Off,
                    "error" => Uninitialised::Error,
                    "nan" => Uninitialised::Nan,
                    "zero" => Uninitialised::Zero,
                    _ => return Err("`off`, `error`, `nan` or `zero`"),
                }
            }
            "GPUK_SIM_RACES" => {
                self.races = match text {
                    "off" => Races::Off,
                    "shared" => Races::Shared,
                    "all" => Races::All,
                    _ => return Err("`off`, `shared` or `all`"),
                }
            }
            "GPUK_SIM_SEED" => self.seed = number(text, "a number")?,
            "GPUK_SIM_BUDGET" => {
                self.budget = match text {
                    "off" | "" => None,
                    _ => Some(number(text, "a number of thread instructions, or `off`")?),
                }
            }
            "GPUK_SIM_THREADS" => self.threads = positive(text)?,
            "GPUK_SIM_MULTIPROCESSORS" => self.multiprocessors = positive(text)?,
            "GPUK_SIM_MEMORY" => self.memory = number(text, "a number of bytes")?,
            "GPUK_SIM_ALLOW" => self.allow = Allowed::list(text)?,
            "GPUK_SIM_HEAP" => self.heap = number(text, "a number of bytes")?,
            _ => {}
        }
        Ok(())
    }
}

fn number<T: FromStr>(text: &str, wanted: &'static str) -> Result<T, &'static str> {
    text.parse().map_err(|_| wanted)
}

fn positive<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, &'static str> {
    const WANTED: &str = "a number above 0";
    number(text, WANTED).and_then(|value: T| {
        if value == T::default() {
            Err(WANTED)
        } else {
            Ok(value)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> Result<Options, OptionsError> {
        Options::from_variables(|name| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some((*value).to_owned())
        })
    }

    #[test]
    fn the_environment_changes_the_default() {
        assert_eq!(options(&[]), Ok(Options::default()));
        let set = options(&[
            ("GPUK_SIM_CAPABILITY", "8.6"),
            ("GPUK_SIM_OUT_OF_BOUNDS", "zero"),
            ("GPUK_SIM_UNINITIALISED", "nan"),
            ("GPUK_SIM_RACES", "all"),
            ("GPUK_SIM_BUDGET", "1000"),
        ]);
        let expected = Options {
            capability: (8, 6),
            out_of_bounds: OutOfBounds::Zero,
            uninitialised: Uninitialised::Nan,
            races: Races::All,
            budget: Some(1000),
            ..Options::default()
        };
        assert_eq!(set, Ok(expected));
    }

    #[test]
    fn a_wrong_value_is_named() {
        let error = options(&[("GPUK_SIM_RACES", "some")]).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("`GPUK_SIM_RACES` is `some`; it takes `off`, `shared` or `all`".to_owned())
        );
        assert!(options(&[("GPUK_SIM_THREADS", "0")]).is_err());
        assert!(options(&[("GPUK_SIM_CAPABILITY", "9")]).is_err());
    }
}
