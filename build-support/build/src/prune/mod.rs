//! Leaves out of a preprocessed text the declarations of headers that nobody names.
//!
//! Four fifths of the time that the compiler needs for a small kernel goes into reading the headers that
//! `cuda_runtime.h` brings along. What a declaration declares means something only where its name stands: so one whose
//! names stand neither in the user's own files nor, transitively, in what stays, can go without a change to what
//! is compiled. Overloads share their name, so all of them stay or none. What has no name to be found by (operators,
//! what range-`for` and structured bindings look for) goes by the types it takes or by the form that looks for it.
//!
//! The user's own files stay whole, and all lines keep their numbers. A declaration of a form that is not known here
//! stays. Should something be missed nevertheless, the text does not compile, and is compiled again as a whole
//! (`unit`).
//!
//! Not here: what a kernel's declaration says (`source`).

mod declaration;
mod declarator;
mod emit;
mod reach;
mod split;
mod splitter;
mod token;

pub(crate) use split::Headers;

/// The text of `cuda_runtime.h` and everything it includes, `rest` behind it, without what neither `rest` nor `more`
/// needs. `more` is what will stand behind the text.
pub(crate) fn prune(headers: &Headers, rest: &str, more: &str) -> Option<String> {
    let source = rest.split_inclusive('\n').next().unwrap_or_default();
    let rest = Headers::after(headers, rest)?;
    let kept = reach::reach(headers, &rest, more);
    let mut out = String::with_capacity(rest.text.len() + 64 * 1024);
    out.push_str(source);
    emit::emit(headers, &kept.first, &mut out);
    emit::emit(&rest, &kept.second, &mut out);
    Some(out)
}

#[cfg(test)]
mod tests;
