//! The JSON messages: cargo's envelope for findings, one struct for each of our own, told by `reason`.

use std::borrow::Cow;
use std::path::Path;

use cargo_metadata::{Package, PackageId};
use gpuk_build::diagnostic::{Diagnostic, Label};
use gpuk_build::function::Function;
use gpuk_build::kernel::{Kernel, Memory, Symbol};
use gpuk_build::report::{ArchResources, Drivers};
use gpuk_build::site::SiteRecord;
use gpuk_sim::Place;
use serde::Serialize;

/// A finding, in the envelope and shape of a rustc message (cargo, "External tools").
#[derive(Debug, Serialize)]
pub(crate) struct CompilerMessage<'a> {
    reason: &'static str,
    package_id: &'a PackageId,
    manifest_path: &'a Path,
    target: Target<'a>,
    message: Message<'a>,
}

#[derive(Debug, Serialize)]
struct Target<'a> {
    kind: [&'static str; 1],
    crate_types: [&'static str; 1],
    name: &'a str,
    src_path: &'a Path,
    edition: &'a str,
    doc: bool,
    doctest: bool,
    test: bool,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    #[serde(rename = "$message_type")]
    message_type: &'static str,
    message: &'a str,
    code: Option<MessageCode>,
    level: String,
    spans: Vec<Span<'a>>,
    children: Vec<Child<'a>>,
    rendered: String,
}

#[derive(Debug, Serialize)]
struct MessageCode {
    code: String,
    explanation: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Span<'a> {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    line_start: u32,
    line_end: u32,
    column_start: usize,
    column_end: usize,
    is_primary: bool,
    text: Vec<SpanText>,
    label: Option<Cow<'a, str>>,
    suggested_replacement: Option<&'a str>,
    suggestion_applicability: Option<&'a str>,
    expansion: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct SpanText {
    text: String,
    highlight_start: usize,
    highlight_end: usize,
}

#[derive(Debug, Serialize)]
struct Child<'a> {
    message: &'a str,
    code: Option<MessageCode>,
    level: &'static str,
    spans: Vec<Span<'a>>,
    children: [(); 0],
    rendered: Option<String>,
}

impl<'a> CompilerMessage<'a> {
    /// Of a package whose files lie in `root`; an `anchor` is a second primary place, for who does not know the first.
    pub(crate) fn new(
        package: &'a Package,
        root: &Path,
        finding: &'a Diagnostic,
        anchor: Option<&'a Label>,
        rendered: String,
    ) -> Self {
        let child = |level, message: &'a String| Child {
            message,
            code: None,
            level,
            spans: Vec::new(),
            children: [],
            rendered: None,
        };
        let notes = finding.notes.iter().map(|note| child("note", note));
        let help = finding.help.iter().map(|help| child("help", help));
        let spans = finding.labels.iter().enumerate();
        let spans = spans.map(|(index, label)| span(root, label, index == 0));
        let first = finding.labels.first();
        let shown = first.is_some_and(|label| is_of_rust(&label.place.file));
        let anchor = anchor.filter(|_| !shown);
        // From there a reader is led to the place by a span that is not primary.
        let lead = first.filter(|_| anchor.is_some());
        let lead = lead.map(|label| {
            let mut span = span(root, label, false);
            span.label.get_or_insert("found here".into());
            span
        });
        let anchor = anchor.map(|anchor| {
            let place = first.map(|label| format!("in {}", label.place).into());
            Span {
                label: place,
                ..span(root, anchor, true)
            }
        });
        Self {
            reason: "compiler-message",
            package_id: &package.id,
            manifest_path: package.manifest_path.as_std_path(),
            target: Target {
                kind: ["custom-build"],
                crate_types: ["bin"],
                name: &package.name,
                src_path: package.manifest_path.as_std_path(),
                edition: package.edition.as_str(),
                doc: false,
                doctest: false,
                test: false,
            },
            message: Message {
                message_type: "diagnostic",
                message: &finding.message,
                code: finding.code.map(|code| MessageCode {
                    code: code.to_string(),
                    explanation: Some(gpuk_build::explain::text(code)),
                }),
                level: finding.level.to_string(),
                spans: spans.chain(anchor).chain(lead).collect(),
                children: notes.chain(help).collect(),
                rendered,
            },
        }
    }
}

/// Whether an editor that reads Rust knows the file.
fn is_of_rust(file: &Path) -> bool {
    let extension = file.extension();
    extension.is_some_and(|it| it == "rs" || it == "toml")
}

/// A whole line but for its indentation, or from the column to its end; byte offsets count from the start of the file.
fn span<'a>(root: &Path, label: &'a Label, primary: bool) -> Span<'a> {
    let path = root.join(&label.place.file);
    let source = std::fs::read(&path).unwrap_or_default();
    let source = String::from_utf8_lossy(&source);
    let number = label.place.line.saturating_sub(1) as usize;
    let line = source.split('\n').nth(number).unwrap_or_default();
    let before: usize = source
        .split('\n')
        .take(number)
        .map(|line| line.len() + 1)
        .sum();
    let line = line.trim_end_matches('\r');
    let start = label
        .place
        .column
        .map_or(line.len() - line.trim_start().len(), |column| {
            (column as usize).saturating_sub(1)
        })
        .min(line.len());
    Span {
        file_name: path.to_string_lossy().into_owned(),
        byte_start: before + start,
        byte_end: before + line.len(),
        line_start: label.place.line,
        line_end: label.place.line,
        column_start: start + 1,
        column_end: line.len() + 1,
        is_primary: primary,
        text: vec![SpanText {
            text: line.to_owned(),
            highlight_start: start + 1,
            highlight_end: line.len() + 1,
        }],
        label: (!label.text.is_empty()).then_some(Cow::from(&label.text)),
        suggested_replacement: None,
        suggestion_applicability: None,
        expansion: None,
    }
}

/// A kernel, from `list`.
#[derive(Debug, Serialize)]
pub(crate) struct KernelMessage<'a> {
    /// `gpuk-kernel`.
    pub reason: &'static str,
    /// Whose.
    pub package_id: &'a PackageId,
    /// The source, relative to the package's folder.
    pub source: Cow<'a, str>,
    /// The module of the wrapper.
    pub module: &'a str,
    /// The wrapper's signature.
    pub signature: &'a str,
    /// What it is made from.
    pub kernel: &'a Kernel,
    /// What it was compiled for.
    pub archs: &'a [String],
    /// What it takes of a multiprocessor, by architecture.
    pub resources: &'a [ArchResources],
    /// The checks it reaches.
    pub sites: &'a [SiteRecord],
}

/// A variable of a module, from `list`.
#[derive(Debug, Serialize)]
pub(crate) struct VariableMessage<'a> {
    pub(crate) reason: &'static str,
    pub(crate) package_id: &'a PackageId,
    pub(crate) source: Cow<'a, str>,
    pub(crate) module: &'a str,
    pub(crate) name: &'a str,
    /// In C++.
    #[serde(rename = "type")]
    pub(crate) ty: &'a str,
    pub(crate) memory: Memory,
    /// In bytes.
    pub(crate) size: u64,
    pub(crate) variable: &'a Symbol,
}

/// What holds for all kernels of a package, from `list`.
#[derive(Debug, Serialize)]
pub(crate) struct PackageMessage<'a> {
    /// `gpuk-package`.
    pub reason: &'static str,
    /// Which.
    pub package_id: &'a PackageId,
    /// What the profile stems from.
    pub profile: &'a str,
    /// How sources got to PTX.
    pub engine: &'a str,
    /// What was compiled for.
    pub archs: &'a [String],
    /// The oldest drivers that run the results.
    pub drivers: &'a Drivers,
}

/// A host function, from `list`.
#[derive(Debug, Serialize)]
pub(crate) struct FunctionMessage<'a> {
    /// `gpuk-function`.
    pub reason: &'static str,
    /// Whose.
    pub package_id: &'a PackageId,
    /// The source, relative to the package's folder.
    pub source: Cow<'a, str>,
    /// The module of the declaration.
    pub module: &'a str,
    /// The declaration.
    pub signature: &'a str,
    /// What it is made from.
    pub function: &'a Function,
}

/// What the simulator lacks for a kernel, from `sim-support`.
#[derive(Debug, Serialize)]
pub(crate) struct SupportMessage<'a> {
    /// `gpuk-sim-support`.
    pub reason: &'static str,
    /// Whose; none for a file that was named.
    pub package_id: Option<&'a PackageId>,
    /// The source, relative to the package's folder, or the file that was named.
    pub source: Cow<'a, str>,
    /// The kernel's PTX symbol.
    pub entry: &'a str,
    /// What it was compiled for.
    pub arch: &'a str,
    /// The instructions that the simulator does not have; none if it runs the kernel.
    pub unsupported: Vec<UnsupportedMessage>,
}

/// An instruction that the simulator does not have.
#[derive(Debug, Serialize)]
pub(crate) struct UnsupportedMessage {
    /// As the PTX has it.
    pub instruction: String,
    /// How often it stands at this place.
    pub times: usize,
    /// Where, if the PTX has line information.
    pub place: Option<Place>,
}

/// A written file, from `build`.
#[derive(Debug, Serialize)]
pub(crate) struct ArtifactMessage<'a> {
    /// `gpuk-artifact`.
    pub reason: &'static str,
    /// Whose.
    pub package_id: &'a PackageId,
    /// Where.
    pub path: Cow<'a, str>,
    /// Whether nothing had to be done.
    pub fresh: bool,
}

/// The last message of a command that reads a workspace.
#[derive(Debug, Serialize)]
pub(crate) struct Finished {
    /// `build-finished`.
    pub reason: &'static str,
    /// Whether it went well.
    pub success: bool,
}
