//! `cargo gpuk inspect`: prints what a stage of the build made of sources or kernels.
//!
//! A source is known by its path before anything is compiled, so one that does not compile can be looked at as far as it
//! came. Modules and kernels get their names from a build.

use std::path::{Path, PathBuf};

use cargo_metadata::Package as Member;
use gpuk_build::config::nearest;
use gpuk_build::discover::{Sources, discover};
use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::inspect::{self, InspectError, Inspected, Request};
use gpuk_build::package::Package;
use gpuk_build::pipeline::Depth;

use super::kernels::{self, Done};
use super::list;
use crate::cli::{Inspect, Stage};
use crate::exit::Exit;
use crate::ui::{Bar, Shell};
use crate::workspace::Workspace;

/// A package, and where its kernels come from.
struct Place<'w> {
    member: &'w Member,
    package: Package,
    sources: Sources,
}

/// A part of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    /// Of the places.
    place: usize,
    /// As [`Request::source`].
    source: PathBuf,
    /// A kernel's symbol; `None` for all of the source.
    entry: Option<String>,
}

/// Finds what is named, and prints it.
pub(super) fn inspect(inspect: &Inspect, shell: &Shell) -> Exit {
    let printed = kernels::workspace(&inspect.work, shell)
        .and_then(|workspace| print(&workspace, inspect, shell));
    printed.err().unwrap_or(Exit::Success)
}

fn print(workspace: &Workspace, inspect: &Inspect, shell: &Shell) -> Result<(), Exit> {
    let env = Env::of_process();
    let places = places(workspace, inspect, &env, shell)?;
    let stage = text_of(inspect.stage);
    let is_source = |name: &String| !of_sources(&places, Some(name), stage).is_empty();
    let needs_names = stage.is_none() || !inspect.names.iter().all(is_source);
    let built = match needs_names {
        true => kernels::build(workspace, &inspect.work, shell, Depth::Check)?,
        false => Vec::new(),
    };
    let mut targets = Vec::new();
    if inspect.names.is_empty() {
        targets = of_sources(&places, None, stage);
    }
    for name in &inspect.names {
        let mut found = of_sources(&places, Some(name), stage);
        if found.is_empty() {
            found = of_kernels(&places, &built, name);
        }
        if found.is_empty() {
            return Err(unknown(name, &places, &built, shell));
        }
        targets.extend(found);
    }
    let mut seen = Vec::new();
    // Sources that are linked together have one result.
    targets.retain(|target| {
        let is_new = !seen.contains(target);
        seen.push(target.clone());
        is_new
    });
    for (nth, target) in targets.iter().enumerate() {
        let place = &places[target.place];
        let Inspected { arch, text } = match stage {
            None => resources(target, place, &built),
            Some(stage) => text(stage, target, place, &env, shell)?,
        };
        if targets.len() > 1 {
            let between = if nth == 0 { "" } else { "\n" };
            let (source, entry) = (target.source.display(), target.entry.as_ref());
            let entry = entry.map(|it| format!(" {it}")).unwrap_or_default();
            shell.data(format_args!("{between}// {source}{entry} ({arch})"));
        }
        shell.data(text.trim_end());
    }
    Ok(())
}

/// The stage whose text is printed; none for what the report has.
fn text_of(stage: Stage) -> Option<inspect::Stage> {
    match stage {
        Stage::Preprocessed => Some(inspect::Stage::Preprocessed),
        Stage::Compiled => Some(inspect::Stage::Compiled),
        Stage::Checked => Some(inspect::Stage::Checked),
        Stage::Sass => Some(inspect::Stage::Sass),
        Stage::Resources => None,
    }
}

/// The selected packages that have kernels.
fn places<'w>(
    workspace: &'w Workspace,
    inspect: &Inspect,
    env: &Env,
    shell: &Shell,
) -> Result<Vec<Place<'w>>, Exit> {
    let mut places = Vec::new();
    for member in workspace.packages() {
        let mut findings = Vec::new();
        let compilation = &inspect.work.compilation;
        let read = kernels::package(workspace, member, compilation, env, shell, &mut findings)?;
        let Some(package) = read else {
            continue;
        };
        let sources = discover(&package, &mut findings).map_err(|error| {
            shell.error(chain(&error));
            Exit::Internal
        })?;
        places.push(Place {
            member,
            package,
            sources,
        });
    }
    match places.is_empty() {
        true => Err(kernels::nothing_selected(shell)),
        false => Ok(places),
    }
}

/// Every source, or those with a path, which is relative to the package or to where this runs. From validation on a
/// source that is linked with others is the module that they make.
fn of_sources(
    places: &[Place<'_>],
    path: Option<&str>,
    stage: Option<inspect::Stage>,
) -> Vec<Target> {
    let is_linked = !stage.is_some_and(inspect::Stage::is_of_parts);
    let here = path.and_then(|path| std::path::absolute(path).ok());
    let mut targets = Vec::new();
    for (
        place,
        Place {
            package, sources, ..
        },
    ) in places.iter().enumerate()
    {
        for source in &sources.files {
            let is_named = path.is_none_or(|path| {
                source.path == Path::new(path) || Some(package.root.join(&source.path)) == here
            });
            let link = source.link.as_ref().filter(|_| is_linked);
            if is_named {
                targets.push(Target {
                    place,
                    source: link.map_or_else(|| source.path.clone(), PathBuf::from),
                    entry: None,
                });
            }
        }
    }
    targets
}

/// A module, or the kernels named `module::kernel`, by their method alone, or by their symbol.
fn of_kernels(places: &[Place<'_>], built: &[Done<'_>], name: &str) -> Vec<Target> {
    let mut targets = Vec::new();
    for done in built {
        let place = (places.iter()).position(|place| place.member.id == done.member.id);
        let Some(place) = place else {
            continue;
        };
        for module in &done.built.report.modules {
            let mut push = |entry| {
                targets.push(Target {
                    place,
                    source: module.source.clone(),
                    entry,
                });
            };
            if module.module == name {
                push(None);
            }
            let method = name.strip_prefix(&module.module);
            let method = method.and_then(|it| it.strip_prefix("::")).unwrap_or(name);
            for report in &module.kernels {
                let kernel = &report.kernel;
                if kernel.name == method || kernel.entry == name {
                    push(Some(kernel.entry.clone()));
                }
            }
        }
    }
    targets
}

/// Refuses a name, with the nearest of those that there are, or all of them.
fn unknown(name: &str, places: &[Place<'_>], built: &[Done<'_>], shell: &Shell) -> Exit {
    let sources = places.iter().flat_map(|place| &place.sources.files);
    let mut known: Vec<_> = sources.map(|it| it.path.display().to_string()).collect();
    for module in built.iter().flat_map(|done| &done.built.report.modules) {
        let kernels = module.kernels.iter().map(|it| &it.kernel.name);
        known.extend(kernels.map(|kernel| format!("{}::{kernel}", module.module)));
    }
    let words: Vec<_> = known.iter().map(String::as_str).collect();
    shell.error(format_args!("no source or kernel is named `{name}`"));
    if let Some(nearest) = nearest(name, &words) {
        shell.say(format_args!("  did you mean `{nearest}`?"));
    }
    shell.say(format_args!("  there are {}", words.join(", ")));
    Exit::Usage
}

fn text(
    stage: inspect::Stage,
    target: &Target,
    place: &Place<'_>,
    env: &Env,
    shell: &Shell,
) -> Result<Inspected, Exit> {
    let Place {
        member,
        package,
        sources,
    } = place;
    let refuse = |text: String, help: String| {
        shell.error(text);
        shell.say(format_args!("  {help}"));
        Err(Exit::Usage)
    };
    let source = target.source.display();
    if stage.is_of_parts() && sources.links.iter().any(|it| it.path == target.source) {
        let parts = sources.files.iter();
        let parts = parts.filter(|it| it.link.as_deref().map(Path::new) == Some(&target.source));
        let parts: Vec<_> = parts.map(|it| it.path.display().to_string()).collect();
        let text = format!("`{source}` is linked of several sources, which this stage knows");
        return refuse(text, format!("name one of {}", parts.join(", ")));
    }
    if stage == inspect::Stage::Preprocessed && target.entry.is_some() {
        let text = "a kernel has no preprocessed text of its own".to_owned();
        return refuse(text, format!("name its source: {source}"));
    }
    let request = Request {
        stage,
        source: &target.source,
        entry: target.entry.as_deref(),
    };
    let bar = Bar::new(shell);
    let inspected = inspect::inspect(package, env, &bar, request, Vec::new());
    bar.clear();
    inspected.map_err(|error| match error {
        InspectError::Build(error) => kernels::report(member, &package.root, &error, shell),
        InspectError::NoDisassembler => {
            shell.error(error);
            shell.say(
                "  looked for in the toolkit's `bin` and in PATH; it is a part of the CUDA toolkit, and of the pip\n  \
                 package `nvidia-cuda-nvdisasm`",
            );
            Exit::Toolchain
        }
        InspectError::NoSource(_) | InspectError::NoEntry { .. } => {
            shell.error(error);
            shell.say("  `--arch` names another architecture");
            Exit::Usage
        }
    })
}

/// As `list` shows it, for the lowest architecture of each kernel.
fn resources(target: &Target, place: &Place<'_>, built: &[Done<'_>]) -> Inspected {
    let done = built.iter().filter(|it| it.member.id == place.member.id);
    let modules = done.flat_map(|it| &it.built.report.modules);
    let modules = modules.filter(|it| it.source == target.source);
    let kernels = modules.flat_map(|it| &it.kernels);
    let is_wanted = |entry: &String| target.entry.as_ref().is_none_or(|it| it == entry);
    let kernels = kernels.filter(|it| is_wanted(&it.kernel.entry)).cloned();
    let mut kernels: Vec<_> = kernels.collect();
    let archs = kernels.iter().filter_map(|it| it.archs.first().cloned());
    let arch = archs.min_by_key(|it| (it.len(), it.clone()));
    let arch = arch.unwrap_or_default();
    kernels.iter_mut().for_each(|it| it.archs.truncate(1));
    Inspected {
        arch,
        text: list::table(&kernels),
    }
}
