//! The images and their site tables, as statics.

use std::path::Path;

use super::bindings::{ImageBinding, ImageKind, ModuleBindings};
use super::expr::{Expr, call, field, literal, macro_call, quoted, row, text};
use super::out::Out;
use crate::site::{SiteKind, SiteRecord};

/// Draws `IMAGES` and the site tables; images with the same sites share one.
pub(super) fn images(out: &mut Out, bindings: &ModuleBindings) {
    let mut tables: Vec<&[SiteRecord]> = Vec::new();
    let images: Vec<_> = bindings
        .images
        .iter()
        .map(|it| {
            let table = match tables.iter().position(|table| *table == it.sites) {
                _ if it.sites.is_empty() => "&[]".to_owned(),
                Some(known) => format!("&SITES_{known}"),
                None => {
                    tables.push(&it.sites);
                    format!("&SITES_{}", tables.len() - 1)
                }
            };
            image(it, table)
        })
        .collect();

    out.line("");
    out.docs(["What the kernels were compiled to."]);
    let ty = format!("[::gpuk::Image; {}]", images.len());
    out.assign("static IMAGES", &ty, &call("[", images));
    for (index, table) in tables.iter().enumerate() {
        out.line("");
        out.docs(["The checks in the images that name this table."]);
        let name = format!("static SITES_{index}");
        let ty = format!("[::gpuk::Site; {}]", table.len());
        out.assign(&name, &ty, &call("[", table.iter().map(site).collect()));
    }
}

fn image(image: &ImageBinding, sites: String) -> Expr {
    let mut fields = vec![field("arch", quoted(&image.arch))];
    let variant = match image.kind {
        ImageKind::Cubin => "::gpuk::Image::Cubin {",
        ImageKind::Ptx {
            version: (major, minor),
        } => {
            fields.push(field("version", text(format!("({major}, {minor})"))));
            "::gpuk::Image::Ptx {"
        }
    };
    let bytes = macro_call("::core::include_bytes!(", vec![quoted(&image.file)]);
    fields.extend([field("bytes", bytes), field("sites", text(sites))]);
    literal(variant, fields)
}

fn site(site: &SiteRecord) -> Expr {
    let kind = match site.kind {
        SiteKind::Check => "Check",
        SiteKind::Expect => "Expect",
        SiteKind::DebugCheck => "DebugCheck",
        SiteKind::DebugExpect => "DebugExpect",
        SiteKind::Assert => "Assert",
        SiteKind::Trap => "Trap",
        SiteKind::CheckBlock => "CheckBlock",
        SiteKind::CheckWarp => "CheckWarp",
        SiteKind::DebugCheckBlock => "DebugCheckBlock",
        SiteKind::DebugCheckWarp => "DebugCheckWarp",
    };
    let format = match &site.format {
        Some(format) => call("Some(", vec![quoted(format)]),
        None => text("None"),
    };
    let types = site
        .types
        .iter()
        .map(|it| text(format!("::gpuk::ValueType::{it:?}")));
    let calls = site.calls.iter().map(|it| {
        let lines = it.lines.iter().map(|line| text(line.to_string()));
        literal(
            "::gpuk::Call {",
            vec![
                field("function", quoted(&it.function)),
                field("file", quoted(&slashed(&it.file))),
                field("lines", row([text("&"), call("[", lines.collect())])),
            ],
        )
    });
    let calls = call("[", calls.collect());
    literal(
        "::gpuk::Site {",
        vec![
            field("kind", text(format!("::gpuk::SiteKind::{kind}"))),
            field("function", quoted(&site.function)),
            field("file", quoted(&slashed(&site.place.file))),
            field("line", text(site.place.line.to_string())),
            field("calls", row([text("&"), calls])),
            field("condition", quoted(&site.condition)),
            field("format", format),
            field("types", row([text("&"), call("[", types.collect())])),
        ],
    )
}

/// A path as the wrappers show it, with `/` on every system.
pub(crate) fn slashed(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}
