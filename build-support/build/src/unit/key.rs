//! The key of a unit: what it is made of, and what is set for the kernels that are in it.
//!
//! Which kernels a source has is known once it is compiled, so the store keeps that beside the unit. A setting for a
//! kernel then changes the keys of the sources that have it, and of no other.

use std::collections::BTreeMap;

use super::Shop;
use crate::config::KernelConfig;
use crate::digest::Digest;
use crate::store::{sealed, to_json, unsealed};

/// The file of an entry in the store.
const RECORD: &str = "unit.json";

/// The key of what is made of `content` and has kernels of these names.
pub(crate) fn settled(
    content: &Digest,
    kernels: &[String],
    settings: &BTreeMap<String, KernelConfig>,
) -> Digest {
    let set = settings.iter().filter(|(name, _)| kernels.contains(name));
    let set: Vec<_> = set.collect();
    match set.is_empty() {
        true => content.clone(),
        false => Digest::of_parts([content.as_str().as_bytes(), &to_json(&set)]),
    }
}

/// The names by which kernels of a content may be set, if that was compiled before.
pub(super) fn kernels(shop: &Shop<'_>, content: &Digest) -> Option<Vec<String>> {
    let read = |folder: &std::path::Path| unsealed(&folder.join(RECORD));
    shop.store.entry(&place(content), read)
}

/// Keeps those names.
pub(super) fn keep(shop: &Shop<'_>, content: &Digest, kernels: &[String]) {
    let files: [(&str, &[u8]); 1] = [(RECORD, &sealed(&kernels))];
    shop.store.keep_entry(&place(content), &files);
}

fn place(content: &Digest) -> Digest {
    Digest::of_parts([b"kernels".as_slice(), content.as_str().as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CheckMode;

    #[test]
    fn a_setting_counts_where_its_kernel_is() {
        let content = Digest::of(b"content");
        let off = KernelConfig {
            checks: Some(CheckMode::Off),
            ..KernelConfig::default()
        };
        let settings = BTreeMap::from([("a".to_owned(), off)]);
        let key = |kernels: &[&str]| {
            let kernels: Vec<_> = kernels.iter().map(|it| (*it).to_owned()).collect();
            settled(&content, &kernels, &settings)
        };
        assert_eq!(key(&["b"]), content);
        assert_ne!(key(&["a", "b"]), content);
    }
}
