//! Looks at everything that a build needs and says, line by line, what is there and what to do.

mod driver;
mod limits;

use std::fmt;

use gpuk_device::driver::DriverVersion;
use serde::{Deserialize, Serialize};

pub use self::driver::driver_library;
use crate::config::Wrapper;
use crate::drivers::Drivers;
use crate::env::Env;
use crate::toolchain::host::{self, HostCompiler, HostOrigin, HostRequest};
use crate::toolchain::install::{self, installer, verify};
use crate::toolchain::recipe::NVCC_VARIABLES;
use crate::toolchain::search::search;
use crate::toolchain::{NotFound, Platform, Request, Search, Toolchain, Version, home};

/// How a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Building works, but something else may not.
    Warn,
    /// Building does not work.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// How it is.
    pub health: Health,
    /// What was looked at.
    pub subject: String,
    /// What was found.
    pub found: String,
    /// What to do, where there is something to do.
    pub remedy: Option<String>,
}

/// Everything that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The places of the CUDA compiler, in order.
    pub search: Search,
    /// The compiler that a build would take.
    pub toolchain: Option<Toolchain>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// Looks at everything. Needs neither a toolkit nor a GPU nor a driver.
pub fn report(request: &Request, host: &HostRequest, env: &Env) -> Report {
    report_on(request, host, env, &Platform::host())
}

fn report_on(request: &Request, host: &HostRequest, env: &Env, platform: &Platform) -> Report {
    let (search, found) = search(request, env, platform);
    let mut lines = Vec::new();
    match &found {
        Ok(toolchain) => lines.extend(parts(toolchain)),
        Err(error) => lines.push(nvcc_missing(error)),
    }
    let toolchain = found.ok();
    let host = host::find_on(host, env, platform);
    lines.push(match host {
        Ok(host) if is_c_only(&host, env, platform) => line(
            Health::Warn,
            "host compiler",
            format!(
                "{}, but no `g++`: nvcc needs its C++ preprocessor",
                host.path.display()
            ),
            Some("install g++".to_owned()),
        ),
        Ok(host) => host_line(&host, toolchain.as_ref()),
        Err(error) => line(
            Health::Missing,
            "host compiler",
            error.found,
            Some(error.remedy),
        ),
    });
    lines.extend(variables(env));
    lines.extend(wrapper_line(env, platform));
    lines.push(installer_line(env, platform));
    lines.push(home_line(env, platform));
    lines.push(driver_line(env, platform));
    Report {
        search,
        toolchain,
        lines,
    }
}

impl Report {
    /// Whether a build would find what it needs.
    pub fn can_build(&self) -> bool {
        self.lines.iter().all(|line| line.health != Health::Missing)
    }
}

fn line(health: Health, subject: &str, found: impl Into<String>, remedy: Option<String>) -> Line {
    Line {
        health,
        subject: subject.to_owned(),
        found: found.into(),
        remedy,
    }
}

fn nvcc_missing(error: &NotFound) -> Line {
    let found = match error.named {
        true => "the one that was named cannot be used",
        false => "not found in any of the places above",
    };
    line(Health::Missing, "nvcc", found, Some(error.remedy.clone()))
}

fn parts(toolchain: &Toolchain) -> Vec<Line> {
    let Toolchain {
        nvcc,
        cicc,
        ptxas,
        version,
        origin,
        ..
    } = toolchain;
    let found = format!("{version}, {} ({origin})", nvcc.display());
    let mut lines = vec![
        line(Health::Ok, "nvcc", found, None),
        line(Health::Ok, "cicc", cicc.display().to_string(), None),
        line(Health::Ok, "ptxas", ptxas.display().to_string(), None),
    ];
    let headers = ["cuda_runtime.h", "crt/host_config.h"];
    let header = |name: &str| {
        toolchain
            .includes
            .iter()
            .any(|dir| dir.join(name).is_file())
    };
    lines.push(match headers.iter().find(|name| !header(name)) {
        None => {
            let dirs: Vec<_> = toolchain.includes.iter().map(|dir| dir.display().to_string()).collect();
            line(Health::Ok, "headers", dirs.join(", "), None)
        }
        // Wheels of a Python environment may be there in part.
        Some(name) => line(
            Health::Missing,
            "headers",
            format!("no `{name}` beside this nvcc"),
            Some("install the wheels nvidia-cuda-runtime and nvidia-cuda-crt too, or `cargo gpuk toolchain install`".to_owned()),
        ),
    });
    lines.push(match verify::archs(nvcc) {
        Ok(archs) => {
            let archs: Vec<_> = archs
                .iter()
                .map(|arch| arch.trim_start_matches("compute_"))
                .collect();
            line(Health::Ok, "architectures", archs.join(" "), None)
        }
        Err(error) => line(Health::Warn, "architectures", error.to_string(), None),
    });
    lines.push(drivers_line(toolchain));
    lines
}

/// What drivers run what the toolkit makes.
fn drivers_line(toolchain: &Toolchain) -> Line {
    let Version { major, minor, .. } = toolchain.version;
    let drivers = Drivers {
        cubin: DriverVersion::of_cubin(major).to_string(),
        ptx: Some(DriverVersion::of_cuda(major, minor).to_string()),
    };
    let found = format!("{drivers}; `minimum-driver` makes PTX for older ones");
    line(Health::Ok, "drivers", found, None)
}

/// nvcc calls gcc, which compiles C++ only where g++ is installed too.
fn is_c_only(host: &HostCompiler, env: &Env, platform: &Platform) -> bool {
    host.origin == HostOrigin::Default
        && host.path.file_stem().is_some_and(|stem| stem == "gcc")
        && platform.on_path("g++", env).is_none()
}

fn host_line(host: &HostCompiler, toolchain: Option<&Toolchain>) -> Line {
    let found = format!(
        "{}, {} ({})",
        host.version,
        host.path.display(),
        host.origin
    );
    let refused = toolchain.and_then(|toolchain| limits::refused(toolchain, &host.version));
    match refused {
        None => line(Health::Ok, "host compiler", found, None),
        Some(limit) => line(
            Health::Missing,
            "host compiler",
            format!("{found}; this toolkit takes {limit}"),
            Some(
                "name another with the setting `host-compiler`, or take a newer toolkit".to_owned(),
            ),
        ),
    }
}

fn variables(env: &Env) -> Vec<Line> {
    NVCC_VARIABLES
        .iter()
        .filter_map(|name| env.raw(name).map(|value| (name, value.to_string_lossy())))
        .map(
            |(name, value)| match value.chars().find(|c| "$`".contains(*c)) {
                Some(c) => line(
                    Health::Missing,
                    name,
                    format!("{value}: nvcc would hand {c:?} to a shell"),
                    Some(format!("unset `{name}`, or write it without")),
                ),
                None => line(
                    Health::Ok,
                    name,
                    format!("{value} (nvcc follows it in every build)"),
                    None,
                ),
            },
        )
        .collect()
}

/// The wrapper that the environment names; a manifest may name another.
fn wrapper_line(env: &Env, platform: &Platform) -> Option<Line> {
    let wrapper = Wrapper::of_environment(env)?;
    Some(match wrapper.find(env, platform) {
        Ok(program) => {
            let found = format!("{} ({})", program.display(), wrapper.origin);
            line(Health::Ok, "wrapper", found, None)
        }
        Err(_) => line(
            Health::Missing,
            "wrapper",
            format!(
                "there is no program `{}`, which {} names",
                wrapper.program.display(),
                wrapper.origin
            ),
            Some(wrapper.remedy()),
        ),
    })
}

fn installer_line(env: &Env, platform: &Platform) -> Line {
    let tried = installer::look(env, platform);
    match tried.iter().find_map(|tried| tried.outcome.as_ref().ok()) {
        Some(found) => line(
            Health::Ok,
            "installer",
            format!("{}, {}", found.version, found.name()),
            None,
        ),
        None => line(
            Health::Warn,
            "installer",
            "neither uv nor pip works",
            Some(
                "needed only by `cargo gpuk toolchain install`: install one, or set `GPUK_PIP`"
                    .to_owned(),
            ),
        ),
    }
}

fn home_line(env: &Env, platform: &Platform) -> Line {
    let Some(home) = home::home(env, platform) else {
        let remedy = Some("set `GPUK_HOME`".to_owned());
        return line(
            Health::Warn,
            "gpuk's folder",
            "no home folder is known",
            remedy,
        );
    };
    let versions: Vec<_> = install::installed(env)
        .iter()
        .map(|one| one.version.to_string())
        .collect();
    let versions = match versions.is_empty() {
        true => "no toolchain in it".to_owned(),
        false => format!("CUDA {}", versions.join(", ")),
    };
    line(
        Health::Ok,
        "gpuk's folder",
        format!("{}; {versions}", home.display()),
        None,
    )
}

fn driver_line(env: &Env, platform: &Platform) -> Line {
    let version = driver::version(platform);
    match (driver::library(env, platform), version) {
        (Some(library), Some(version)) => line(
            Health::Ok,
            "driver",
            format!("{version}, {}", library.display()),
            None,
        ),
        (Some(library), None) => line(Health::Ok, "driver", library.display().to_string(), None),
        (None, Some(version)) => line(
            Health::Warn,
            "driver",
            format!("the kernel module {version} without `libcuda.so.1`"),
            Some("in a container, start it with the NVIDIA container toolkit".to_owned()),
        ),
        (None, None) => line(
            Health::Warn,
            "driver",
            "none",
            Some(
                "kernels can be built here, and run where there is one, or with `--sim`".to_owned(),
            ),
        ),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "looked for nvcc at")?;
        writeln!(f, "{}", self.search)?;
        let width = self
            .lines
            .iter()
            .map(|line| line.subject.len())
            .max()
            .unwrap_or(0);
        for Line {
            health,
            subject,
            found,
            remedy,
        } in &self.lines
        {
            writeln!(f, "{health:7}  {subject:width$}  {found}")?;
            if let Some(remedy) = remedy {
                writeln!(f, "{:7}  {:width$}  -> {remedy}", "", "")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Missing => "missing",
        })
    }
}

#[cfg(test)]
mod tests;
