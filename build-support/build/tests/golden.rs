//! Generated wrappers, compared with the files in `golden`; `UPDATE=1 cargo test --test golden` rewrites those.

mod inputs;

use std::fs;
use std::path::{Path, PathBuf};

use gpuk_build::annotation::{Access, Annotations, Block, Expression, Grid, Operator, Shape};
use gpuk_build::generate::{ModuleBindings, package, signature};
use gpuk_build::instance::Depends;
use gpuk_build::kernel::{self, Kernel, ParamType, Scalar, Struct, Type};
use gpuk_build::run::ToolCommand;
use inputs::templates;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn wrappers_are_those_in_the_repository() {
    let mut stale = Vec::new();
    let mut files = vec![("signatures.txt".to_owned(), listing())];
    for (name, modules) in inputs::all() {
        files.push((format!("{name}.rs"), package(&modules)));
    }
    for (name, text) in files {
        let file = folder().join(&name);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&file, text).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != text {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {stale:?}; rewrite with UPDATE=1 and read the difference"
    );
}

/// What `cargo gpuk list` shows of each kernel.
fn listing() -> String {
    let mut text = String::new();
    for (_, modules) in inputs::all() {
        for ModuleBindings { signatures, .. } in modules {
            for kernel in &signatures.kernels {
                text += &signature(&signatures, kernel);
                text.push('\n');
            }
        }
    }
    text
}

#[test]
fn wrappers_are_laid_out_as_rustfmt_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (name, modules) in inputs::all() {
        let file = dir.path().join(name).with_extension("rs");
        fs::write(&file, package(&modules)).unwrap();
        files.push(file);
    }
    rustfmt(&files);
}

/// Fails with the difference to what rustfmt would write.
fn rustfmt(files: &[PathBuf]) {
    let check = ToolCommand::new("rustfmt")
        .args(["--check", "--edition", "2024", "--color", "never"])
        .args(files);
    if let Err(error) = check.run() {
        panic!("{error}");
    }
}

/// Names of every length, so that every way of breaking a line is met.
#[test]
fn any_length_of_names_is_laid_out_as_rustfmt_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = Random(1);
    let files: Vec<_> = (0..400)
        .map(|index| {
            let file = dir.path().join(format!("m{index}.rs"));
            fs::write(&file, package(&[random.module()])).unwrap();
            file
        })
        .collect();
    rustfmt(&files);
}

/// A linear congruential generator (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn name(&mut self, longest: u64) -> String {
        let length = 1 + self.below(longest);
        let tail = (0..length).map(|_| char::from(b"abcdefgh_kmn"[self.below(12) as usize]));
        format!("n{}", tail.collect::<String>())
    }

    fn ty(&mut self, structs: &[Struct]) -> Type {
        match self.below(4) {
            0 => inputs::I32,
            1 => Type::Vector("ulonglong4".to_owned()),
            2 if !structs.is_empty() => Type::Struct(
                structs[self.below(structs.len() as u64) as usize]
                    .path
                    .clone(),
            ),
            _ => inputs::F32,
        }
    }

    /// Of half the kernels; not all of them make sense.
    fn annotations(&mut self, kernel: &Kernel) -> Annotations {
        let mut annotations = Annotations::default();
        if self.below(2) == 0 {
            return annotations;
        }
        let params = kernel.params.iter().enumerate();
        let is_value = |ty: &ParamType| matches!(ty, ParamType::Value(Type::Scalar(_)));
        let numbers = params.clone().filter(|(_, it)| is_value(&it.ty));
        let numbers: Vec<_> = numbers.map(|(at, _)| at).collect();
        for (at, param) in params {
            let ParamType::Pointer { mutable, .. } = param.ty else {
                continue;
            };
            let access = match self.below(3) {
                0 => continue,
                1 if mutable => Access::Out,
                _ => Access::In,
            };
            let items = self.expression(&numbers, 3);
            let written = self.name(90);
            (annotations.extents).push(inputs::annotated::extent(at, access, &written, items));
        }
        if self.below(2) == 0 {
            let axes = (0..1 + self.below(3)).map(|_| self.expression(&numbers, 3));
            annotations.shape = Some(Shape {
                written: String::new(),
                block: Block::Given(axes.collect()),
                grid: Grid::Elements(vec![self.expression(&numbers, 3)]),
                shared: Some(self.expression(&numbers, 3)),
            });
        }
        annotations
    }

    fn expression(&mut self, numbers: &[usize], depth: u8) -> Expression {
        match self.below(4) {
            _ if depth == 0 => Expression::Block(None),
            0 => inputs::annotated::number(self.0),
            1 if !numbers.is_empty() => {
                inputs::annotated::param(numbers[self.below(numbers.len() as u64) as usize])
            }
            2 => Expression::Block(None),
            _ => {
                let left = self.expression(numbers, depth - 1);
                let right = self.expression(numbers, depth - 1);
                inputs::annotated::binary(Operator::CeilDiv, left, right)
            }
        }
    }

    fn module(&mut self) -> ModuleBindings {
        let structs: Vec<_> = (0..self.below(3))
            .map(|index| {
                let name = self.name(30) + &index.to_string();
                let fields: Vec<_> = (0..self.below(5))
                    .map(|index| (self.name(25), inputs::F32, 16 * index))
                    .collect();
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, ty, at)| (name.as_str(), ty.clone(), *at))
                    .collect();
                inputs::structure(&name, 16 * fields.len().max(1) as u64, 16, &fields)
            })
            .collect();
        let mut instances = self.instances(&structs);
        let kernels = (0..1 + self.below(3)).map(|index| {
            let params = (0..self.below(12)).map(|_| {
                let name = self.name(32);
                let ty = self.ty(&structs);
                match self.below(3) {
                    0 => inputs::value("T", &name, ty),
                    1 => inputs::read("const T *", &name, Some(ty)),
                    _ => inputs::write("T *", &name, Some(ty)),
                }
            });
            let params = params.collect();
            let mut kernel = inputs::kernel(&(self.name(84) + &index.to_string()), params);
            kernel.annotations = self.annotations(&kernel);
            kernel
        });
        instances.extend(kernels);
        let symbols = (0..self.below(3)).map(|index| {
            let mut ty = self.ty(&structs);
            for _ in 0..self.below(3) {
                ty = Type::Array(Box::new(ty), 1 + self.below(1000));
            }
            let access = [
                kernel::Access::Constant,
                kernel::Access::Global,
                kernel::Access::Fixed,
            ];
            let access = access[self.below(3) as usize];
            let name = self.name(84) + &index.to_string();
            inputs::symbol(&name, "T", ty, access)
        });
        let symbols = symbols.collect();
        let mut module = inputs::module("m", instances, structs);
        module.signatures.symbols = symbols;
        module
    }

    /// Two instances of a template over a type and a number, whose parameters spell their types in any way.
    fn instances(&mut self, structs: &[Struct]) -> Vec<Kernel> {
        let template = self.name(40);
        let (t, n) = (self.name(12), self.name(12));
        let params: Vec<_> = (0..self.below(5))
            .map(|_| (self.name(32), self.below(3), self.below(3)))
            .collect();
        let fixed = self.ty(structs);
        let mut instances = Vec::new();
        for (number, ty) in [("1", inputs::I32), ("2", inputs::F32)] {
            let args = vec![
                templates::ty(&t, "T", ty.clone()),
                templates::number(&n, "int", Scalar::I32, number),
            ];
            let params = params.iter().map(|(name, depends, passed)| {
                let depends =
                    [Depends::Nothing, Depends::Argument(0), Depends::Arguments][*depends as usize];
                let ty = match depends {
                    Depends::Nothing => fixed.clone(),
                    _ => ty.clone(),
                };
                let param = match passed {
                    0 => inputs::value("", name, ty),
                    1 => inputs::read("", name, Some(ty)),
                    _ => inputs::write("", name, Some(ty)),
                };
                ("T", depends, param)
            });
            let name = format!("{template}_{number}");
            instances.push(templates::instance(
                &name,
                &template,
                args,
                params.collect(),
            ));
        }
        instances
    }
}
