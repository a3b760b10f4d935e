//! What a check says of itself.

use std::collections::{BTreeSet, HashMap};

use gpuk_device::abi::{Kind, SEPARATOR, ValueType};

use super::chain::Call;
use super::failure::Failure;
use super::form::{Early, Form};
use super::format::placeholders;
use super::reach::Reach;
use crate::name::Name;

/// A check in the source. Equal checks are one site, but for those that were inlined through other calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Its index in the table.
    pub id: u32,
    /// Which macro it was written with.
    pub kind: SiteKind,
    /// The source file, as the compiler saw it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The condition that failed, as written.
    pub condition: String,
    /// The message, if one was given.
    pub format: Option<String>,
    /// Types of the captured values.
    pub types: Vec<ValueType>,
    /// PTX symbol of the function that it stands in: where line information names it, the one that was inlined, else the
    /// first that contains it.
    pub function: String,
    /// The calls that it was inlined through, the nearest first; empty without line information.
    pub calls: Vec<Call>,
    /// PTX symbols of the entries that can come to it.
    pub entries: Vec<String>,
    /// Which code it has.
    pub form: Form,
}

/// What a site was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// A macro of `gpuk.cuh`.
    Check(Kind),
    /// `assert`.
    Assert,
}

impl SiteKind {
    /// Whether the failing thread stops.
    #[must_use]
    pub const fn stops(self) -> bool {
        match self {
            Self::Check(kind) => kind.stops(),
            Self::Assert => true,
        }
    }
}

/// What makes two sites one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Label {
    pub(super) kind: SiteKind,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) condition: String,
    pub(super) format: Option<String>,
    pub(super) types: Vec<ValueType>,
    /// Files and lines of the calls that it was inlined through.
    pub(super) calls: Vec<(String, Vec<u32>)>,
}

impl Label {
    /// Reads a site string of `gpuk.cuh`; `None` if it is none.
    pub(super) fn read(string: &str, types: Vec<ValueType>) -> Option<Self> {
        let mut parts = string.splitn(5, SEPARATOR);
        let spelling = parts.next()?;
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == spelling)?;
        let file = parts.next()?.to_owned();
        let line = parts.next()?.parse().ok()?;
        let condition = parts.next()?.to_owned();
        let format = parts.next()?;
        let silent = format.is_empty() && types.is_empty();
        Some(Self {
            kind: SiteKind::Check(kind),
            file,
            line,
            condition,
            format: (!silent).then(|| format.to_owned()),
            types,
            calls: Vec::new(),
        })
    }

    /// What does not fit between the message and the values.
    pub(super) fn mismatch(&self) -> Option<String> {
        let format = self.format.as_deref().unwrap_or_default();
        match placeholders(format) {
            Err(text) => Some(text),
            Ok(count) if count == self.types.len() => None,
            Ok(count) => Some(format!(
                "has {} for {}: \"{format}\"",
                counted(count, "placeholder"),
                counted(self.types.len(), "value"),
            )),
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The site table as it grows.
#[derive(Debug, Default)]
pub(super) struct Sites {
    list: Vec<Site>,
    /// By site: the functions that contain it.
    functions: Vec<BTreeSet<Name>>,
    known: HashMap<Label, u32>,
}

impl Sites {
    /// The number of a site that `function` contains.
    pub(super) fn id(&mut self, failure: &Failure<'_>, function: &Name) -> u32 {
        let Failure { label, chain, .. } = failure;
        // More than 2^32 sites do not fit a text that is read.
        let next = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let id = *self.known.entry(label.clone()).or_insert(next);
        if id == next {
            self.list.push(Site {
                id,
                kind: label.kind,
                file: label.file.clone(),
                line: label.line,
                condition: label.condition.clone(),
                format: label.format.clone(),
                types: label.types.clone(),
                function: (chain.function.clone()).unwrap_or_else(|| function.to_string()),
                calls: chain.calls.clone(),
                entries: Vec::new(),
                form: Form::Exit,
            });
            self.functions.push(BTreeSet::new());
        }
        if let Some(functions) = self.functions.get_mut(id as usize) {
            functions.insert(Name::clone(function));
        }
        id
    }

    /// The table, with the entries that can come to each site.
    pub(super) fn finish(self, entries: &[String], reach: &Reach, early: &Early) -> Vec<Site> {
        let mut list = self.list;
        for (label, id) in &self.known {
            if let Some(site) = list.get_mut(*id as usize) {
                site.form = early.form(label);
            }
        }
        for (site, functions) in list.iter_mut().zip(self.functions) {
            let comes = |entry: &&String| functions.iter().any(|name| reach.reaches(entry, name));
            site.entries = entries.iter().filter(comes).cloned().collect();
        }
        list
    }
}
