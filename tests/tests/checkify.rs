//! The page that compares checkify with gpuk names tests: they exist.

use std::collections::BTreeMap;

use gpuk_tests::workspace_root;

fn read(path: &str) -> String {
    let whole = workspace_root().join(path);
    std::fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()))
}

/// The cells of the rows of all tables, without the heads.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with('|'));
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect());
    let rows: Vec<Vec<&str>> = cells.collect();
    let is_rule = |row: &Vec<&str>| row.iter().all(|cell| cell.chars().all(|c| c == '-'));
    let is_head = |index: usize| rows.get(index + 1).is_some_and(is_rule);
    let kept = rows
        .iter()
        .enumerate()
        .filter(|(index, row)| !is_rule(row) && !is_head(*index));
    kept.map(|(_, row)| row.clone()).collect()
}

/// What stands in backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_requirement_has_a_row_and_every_test_exists() {
    let page = read("book/src/reference/checkify.md");
    let (mut files, mut numbers, mut tests) = (BTreeMap::new(), Vec::new(), 0);
    for row in rows(&page) {
        if let [name, path] = row[..] {
            files.insert(quoted(name)[0].to_owned(), read(quoted(path)[0]));
            continue;
        }
        if let Some(number) = row[0].strip_prefix('R') {
            numbers.push(number.parse::<u32>().unwrap());
        }
        let shown = row.last().unwrap();
        assert!(
            quoted(shown).len() == shown.matches("::").count(),
            "{shown}"
        );
        for test in quoted(shown) {
            let (file, function) = test.split_once("::").unwrap();
            let source = files
                .get(file)
                .unwrap_or_else(|| panic!("no file `{file}`"));
            assert!(
                source.contains(&format!("fn {function}()")),
                "no test `{test}`"
            );
            tests += 1;
        }
    }
    assert_eq!(numbers, (1..=63).collect::<Vec<_>>());
    assert!(tests > 60, "{tests}");
}
