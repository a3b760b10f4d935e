//! `cargo gpuk explain`: the page of a diagnostic code.

use gpuk_build::code::Code;
use gpuk_build::error::chain;
use gpuk_build::explain as pages;
use serde::Serialize;

use crate::cli::Explain;
use crate::exit::Exit;
use crate::ui::Shell;

/// Prints the pages of the codes, or the list of all codes.
pub(super) fn explain(explain: &Explain, shell: &Shell) -> Exit {
    if explain.codes.is_empty() {
        list(shell);
    }
    for (index, code) in explain.codes.iter().enumerate() {
        if shell.is_json() {
            match pages::page(*code) {
                Ok(page) => shell.json(&page),
                Err(error) => {
                    shell.error(chain(&error));
                    return Exit::Internal;
                }
            }
            continue;
        }
        if index > 0 {
            shell.data("");
        }
        shell.data(plain(pages::text(*code)).trim_end());
    }
    Exit::Success
}

fn list(shell: &Shell) {
    for (code, title) in Code::ALL {
        let title = title.trim();
        match shell.is_json() {
            true => shell.json(&Line { code: *code, title }),
            false => shell.data(format_args!("{code}  {title}")),
        }
    }
}

#[derive(Serialize)]
struct Line {
    code: Code,
    title: &'static str,
}

/// The page without its links, which lead to other pages of the book: `[GPUK0005](GPUK0005.md)`. Code is left alone.
fn plain(page: &str) -> String {
    let parts = page.split("```").enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => without_links(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("```")
}

fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let Some(((start, shown), (_, behind))) =
            before.rsplit_once('[').zip(after.split_once(')'))
        else {
            break;
        };
        plain.push_str(start);
        plain.push_str(shown);
        rest = behind;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_go_and_code_stays() {
        let page = "see [GPUK0005](GPUK0005.md) and [Checks](../guide/checks.md#a).\n```cpp\nf[](int x)(1);\n```\n[open";
        let expected = "see GPUK0005 and Checks.\n```cpp\nf[](int x)(1);\n```\n[open";
        assert_eq!(plain(page), expected);
    }
}
