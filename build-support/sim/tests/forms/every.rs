//! Every combination of modifiers that PTX has, from a table.

use crate::form::{Form, Is, untold};

const TABLE: &str = include_str!("every.txt");

/// All texts that the alternatives make.
pub(crate) fn expand(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('<') else {
        return vec![text.to_owned()];
    };
    let (alternatives, rest) = rest.split_once('>').expect("alternatives end");
    let rest = expand(rest);
    alternatives
        .split('|')
        .flat_map(|one| rest.iter().map(move |rest| format!("{before}{one}{rest}")))
        .collect()
}

/// All of them; some stand in other modules as well, with what Rust computes.
pub(crate) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    let rows = TABLE.lines().filter(|line| !line.is_empty());
    for row in rows.filter(|line| !line.starts_with('#')) {
        let (operands, text) = row.split_once(": ").expect("operands, then the form");
        let named = operands
            .split(' ')
            .map(|name| Is::from_name(name).expect(name));
        let named: Vec<Is> = named.collect();
        let [result, operands @ ..] = &*named else {
            panic!("{row} has no result");
        };
        let texts = expand(text).into_iter();
        forms.extend(texts.map(|text| untold(text.leak(), *result, operands)));
    }
    forms
}
