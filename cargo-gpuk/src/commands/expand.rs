//! `cargo gpuk expand`: prints the generated wrappers, all of them or the items that are named.
//!
//! The text is rustfmt's, so an item ends at the next brace of its own indentation.

use gpuk_build::error::chain;
use gpuk_build::fs;
use gpuk_build::pipeline::Depth;
use gpuk_build::report::Report;

use super::kernels::{self, Done};
use crate::cli::Expand;
use crate::exit::Exit;
use crate::ui::Shell;

/// Builds and prints.
pub(super) fn expand(expand: &Expand, shell: &Shell) -> Exit {
    let printed = kernels::workspace(&expand.work, shell).and_then(|workspace| {
        let done = kernels::build(&workspace, &expand.work, shell, Depth::Build)?;
        print(&done, &expand.paths, shell)
    });
    printed.err().unwrap_or(Exit::Success)
}

fn print(done: &[Done<'_>], paths: &[String], shell: &Shell) -> Result<(), Exit> {
    let mut texts = Vec::new();
    for Done { package, .. } in done {
        let text = fs::read(&Report::wrappers(&package.out)).map_err(|error| {
            shell.error(chain(&error));
            Exit::Internal
        })?;
        texts.push(String::from_utf8_lossy(&text).into_owned());
    }
    if paths.is_empty() {
        texts.iter().for_each(|text| shell.data(text.trim_end()));
    }
    for path in paths {
        let path = &method_of(done, path);
        let found: Vec<_> = texts.iter().flat_map(|text| items(text, path)).collect();
        if found.is_empty() {
            shell.error(format_args!("nothing generated is named `{path}`"));
            shell.say("  `cargo gpuk list` shows the kernels as `module::kernel`");
            return Err(Exit::Usage);
        }
        found.iter().for_each(|item| shell.data(item));
    }
    Ok(())
}

/// The path of the method of an instance of a template, which `list` names after its arguments; any other as it is.
fn method_of(done: &[Done<'_>], path: &str) -> String {
    let modules = done.iter().flat_map(|done| &done.built.report.modules);
    let named = modules.flat_map(|module| module.kernels.iter().map(move |it| (module, it)));
    let mut named =
        named.filter(|(module, it)| format!("{}::{}", module.module, it.kernel.name) == path);
    let method = named.next().and_then(|(module, it)| {
        let name = it.signature.strip_prefix("unsafe fn ")?;
        let name = name.split(['<', '(']).next()?;
        Some(format!("{}::{name}", module.module))
    });
    method.unwrap_or_else(|| path.to_owned())
}

/// The items of a path `module::name`, or the whole module, moved to the left.
fn items(text: &str, path: &str) -> Vec<String> {
    let (module, name) = match path.split_once("::") {
        Some((module, name)) => (module, Some(name)),
        None => (path, None),
    };
    let lines: Vec<_> = text.lines().collect();
    let modules = named(&lines, "pub mod ", module);
    match name {
        None => modules.into_iter().map(unindented).collect(),
        Some(name) => {
            let heads = [
                "pub unsafe fn ",
                "pub fn ",
                "pub struct ",
                "pub trait ",
                "pub const fn ",
                "pub const ",
            ];
            let within = |module: &[&str]| {
                let found = heads.iter().flat_map(|head| named(module, head, name));
                found.map(unindented).collect::<Vec<_>>()
            };
            modules.into_iter().flat_map(within).collect()
        }
    }
}

/// The runs of lines that are an item with this head and name, its documentation and attributes included.
fn named<'t, 'l>(lines: &'l [&'t str], head: &str, name: &str) -> Vec<&'l [&'t str]> {
    let is_head = |line: &&str| {
        let rest = line.trim_start().strip_prefix(head);
        let rest = rest.and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let starts = (0..lines.len()).filter(|index| is_head(&lines[*index]));
    let item = |at: usize| {
        let indent = indent_of(lines[at]);
        // Documentation and attributes stand above without an empty line between.
        let above = lines[..at].iter().rev();
        let above = above.take_while(|line| {
            let inside = indent_of(line) == indent && !line.trim_end().ends_with(['}', '{', ';']);
            let inside = inside || indent_of(line) > indent;
            !line.trim().is_empty() && (line.trim_start().starts_with("///") || inside)
        });
        let first = at - above.count();
        let below = lines[at..].iter().position(|line| {
            let own = indent_of(line) == indent;
            own && (line.ends_with('}') || line.ends_with("};") || line.ends_with(';'))
        });
        &lines[first..below.map_or(lines.len(), |below| at + below + 1)]
    };
    starts.map(item).collect()
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn unindented(lines: &[&str]) -> String {
    let indent = lines.iter().filter(|line| !line.is_empty());
    let indent = indent.map(|line| indent_of(line)).min().unwrap_or(0);
    let lines = lines.iter().map(|line| line.get(indent..).unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
/// Kernels of `kernels/a.cu`.
#[allow(
    dead_code,
    reason = \"generated\"
)]
pub mod a {
    /// Loaded.
    pub struct Kernels {
        scale: ::gpuk::Function,
    }

    impl Kernels {
        /// Launches {it};
        #[track_caller]
        pub unsafe fn scale<On>(
            &self,
        ) -> Result<On::Returned<()>, E>
        where
            On: ::gpuk::On,
        {
            body()
        }

        pub unsafe fn scale_half(&self) {}
    }

    pub struct Unit;
}
";

    #[test]
    fn an_item_comes_with_its_documentation() {
        let scale = items(TEXT, "a::scale");
        assert_eq!(scale.len(), 1);
        assert!(scale[0].starts_with(
            "/// Launches {it};\n#[track_caller]\npub unsafe fn scale<On>(\n    &self,\n"
        ));
        assert!(scale[0].ends_with("{\n    body()\n}"), "{}", scale[0]);
        assert_eq!(
            items(TEXT, "a::scale_half"),
            ["pub unsafe fn scale_half(&self) {}"]
        );
        assert_eq!(items(TEXT, "a::Unit"), ["pub struct Unit;"]);
        assert_eq!(items(TEXT, "a"), [TEXT.trim_end()]);
        assert!(items(TEXT, "b").is_empty() && items(TEXT, "a::scal").is_empty());
    }
}
