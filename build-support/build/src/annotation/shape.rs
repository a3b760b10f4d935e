//! `GPUK_LAUNCH(block = 256, elements = n)`: its keys, and whether it fits the kernel's bounds.

use super::expression::{Names, expression};
use super::resolve::Wrong;
use super::{Block, Expression, Grid, Shape};
use crate::kernel::Bounds;
use crate::source::Spot;

const KEYS: &str = "it takes `block`, `elements` or `grid`, and `shared`: `GPUK_LAUNCH(block = 256, elements = n)`";

/// Reads what stands in the parentheses.
pub(super) fn shape(
    written: &str,
    tokens: &[Spot],
    names: &Names<'_>,
    bounds: &Bounds,
) -> Result<Shape, Wrong> {
    let (mut block, mut grid, mut shared) = (None, None, None);
    for part in parts(tokens) {
        let [key, equal, value @ ..] = part else {
            return Err(Wrong::behind(
                tokens.last(),
                "a launch is described by `key = value`",
                KEYS,
            ));
        };
        if equal.text != "=" {
            return Err(Wrong::at(
                equal,
                format!("`{}` stands where `=` is expected", equal.text),
                KEYS,
            ));
        }
        let seen = match key.text.as_str() {
            "block" => block.replace((key, of_block(value, names)?)).is_some(),
            "grid" => grid
                .replace((key, Grid::Blocks(axes(value, names)?)))
                .is_some(),
            "elements" => grid
                .replace((key, Grid::Elements(axes(value, names)?)))
                .is_some(),
            "shared" => shared.replace(expression(value, names)?).is_some(),
            other => return Err(Wrong::at(key, format!("a launch has no `{other}`"), KEYS)),
        };
        if seen {
            let message = match key.text.as_str() {
                "grid" | "elements" => "the grid is given twice".to_owned(),
                key => format!("`{key}` is given twice"),
            };
            return Err(Wrong::at(key, message, "give it once"));
        }
    }
    let Some((key, grid)) = grid else {
        let message = "neither `elements` nor `grid` says how many blocks there are";
        return Err(Wrong::behind(tokens.last(), message, KEYS));
    };
    if let Some((key, Block::Given(axes))) = &block {
        contradiction(axes, bounds).map_or(Ok(()), |message| {
            Err(Wrong::at(key, message, "give both the same numbers").of_bounds())
        })?;
    }
    let block = block.map_or(Block::Own, |(_, block)| block);
    if let (Block::Auto, Some(shared)) = (&block, &shared) {
        let mut depends = false;
        shared.visit(&mut |it| {
            depends |= !matches!(it, Expression::Number(_) | Expression::Binary(..))
        });
        if depends {
            let message = "`block = auto` takes a constant amount of shared memory only";
            return Err(Wrong::at(
                key,
                message,
                "give the block, or a number of bytes",
            ));
        }
    }
    Ok(Shape {
        written: written.to_owned(),
        block,
        grid,
        shared,
    })
}

fn of_block(value: &[Spot], names: &Names<'_>) -> Result<Block, Wrong> {
    match value {
        [only] if only.text == "auto" => Ok(Block::Auto),
        _ => {
            let names = Names {
                block: false,
                ..*names
            };
            axes(value, &names).map(Block::Given)
        }
    }
}

/// `n`, `(x, y)` or `(x, y, z)`.
fn axes(value: &[Spot], names: &Names<'_>) -> Result<Vec<Expression>, Wrong> {
    if let [open, inner @ .., close] = value
        && (open.text.as_str(), close.text.as_str()) == ("(", ")")
        && let several = parts(inner)
        && several.len() > 1
    {
        if let Some(fourth) = several.get(3).and_then(|part| part.first()) {
            return Err(Wrong::at(fourth, "there are three axes", "x, y and z"));
        }
        return several.iter().map(|part| expression(part, names)).collect();
    }
    Ok(vec![expression(value, names)?])
}

/// The parts between commas outside of parentheses.
fn parts(tokens: &[Spot]) -> Vec<&[Spot]> {
    let mut depth = 0_i32;
    let split = tokens.split(|token| {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0 && token.text == ","
    });
    split.collect()
}

/// Why a block of constants is none that the kernel takes.
fn contradiction(axes: &[Expression], bounds: &Bounds) -> Option<String> {
    let number = |it: &Expression| match it {
        Expression::Number(number) => Some(*number),
        _ => None,
    };
    let mut block = [1; 3];
    for (slot, axis) in block.iter_mut().zip(axes) {
        *slot = number(axis)?;
    }
    let [x, y, z] = block;
    let threads = x.saturating_mul(y).saturating_mul(z);
    if threads == 0 {
        return Some("a block of no threads".to_owned());
    }
    if let Some(exact) = bounds.exact_block
        && exact.map(u64::from) != block
    {
        let [a, b, c] = exact;
        return Some(format!(
            "a block of {x} × {y} × {z}, but the kernel is compiled for blocks of {a} × {b} × {c} only"
        ));
    }
    let bound = bounds
        .max_threads
        .filter(|bound| threads > u64::from(*bound));
    bound.map(|bound| {
        format!("a block of {threads} threads, but the kernel's `__launch_bounds__` allow {bound}")
    })
}
