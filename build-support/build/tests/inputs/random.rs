//! Bindings by chance.

use gpuk_build::annotation::{Access, Annotations, Block, Expression, Grid, Operator, Shape};
use gpuk_build::generate::{ModuleBindings, Variant};
use gpuk_build::instance::Depends;
use gpuk_build::kernel::{self, Kernel, ParamType, Scalar, Struct, Type};

use super::{annotated, templates};

/// A linear congruential generator (Knuth's MMIX).
pub(crate) struct Random(pub(crate) u64);

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
            0 => super::I32,
            1 => Type::Vector("ulonglong4".to_owned()),
            2 if !structs.is_empty() => Type::Struct(
                structs[self.below(structs.len() as u64) as usize]
                    .path
                    .clone(),
            ),
            _ => super::F32,
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
            (annotations.extents).push(annotated::extent(at, access, &written, items));
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
            0 => annotated::number(self.0),
            1 if !numbers.is_empty() => {
                annotated::param(numbers[self.below(numbers.len() as u64) as usize])
            }
            2 => Expression::Block(None),
            _ => {
                let left = self.expression(numbers, depth - 1);
                let right = self.expression(numbers, depth - 1);
                annotated::binary(Operator::CeilDiv, left, right)
            }
        }
    }

    pub(crate) fn module(&mut self) -> ModuleBindings {
        let structs: Vec<_> = (0..self.below(3))
            .map(|index| {
                let name = self.name(30) + &index.to_string();
                let fields: Vec<_> = (0..self.below(5))
                    .map(|index| (self.name(25), super::F32, 16 * index))
                    .collect();
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, ty, at)| (name.as_str(), ty.clone(), *at))
                    .collect();
                super::structure(&name, 16 * fields.len().max(1) as u64, 16, &fields)
            })
            .collect();
        let mut instances = Vec::new();
        for index in 0..self.below(4) {
            instances.extend(self.instances(&structs, index));
        }
        let kernels = (0..1 + self.below(3)).map(|index| {
            let params = (0..self.below(12)).map(|_| {
                let name = self.name(32);
                let ty = self.ty(&structs);
                match self.below(3) {
                    0 => super::value("T", &name, ty),
                    1 => super::read("const T *", &name, Some(ty)),
                    _ => super::write("T *", &name, Some(ty)),
                }
            });
            let params = params.collect();
            let mut kernel = super::kernel(&(self.name(84) + &index.to_string()), params);
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
            super::symbol(&name, "T", ty, access)
        });
        let symbols = symbols.collect();
        let mut module = super::module("m", instances, structs);
        module.signatures.symbols = symbols;
        for kernel in &module.signatures.kernels {
            if self.below(5) == 0 {
                let variant = Variant {
                    arch: "sm_90".to_owned(),
                    checked: false,
                };
                (module.variants).insert(kernel.entry.clone(), vec![variant]);
            }
        }
        module
    }

    /// Instances of a template over types and numbers, whose parameters spell their types in any way.
    fn instances(&mut self, structs: &[Struct], index: u64) -> Vec<Kernel> {
        let longest = [8, 30, 50][self.below(3) as usize];
        let template = self.name(20 + longest) + &index.to_string();
        let args = (0..1 + self.below(9)).map(|_| (self.name(longest / 2), self.below(2) == 0));
        let args: Vec<_> = args.collect();
        let types: Vec<_> = (0..args.len()).filter(|at| args[*at].1).collect();
        let params: Vec<_> = (0..self.below(6))
            .map(|_| {
                let depends = match self.below(3) {
                    0 => Depends::Nothing,
                    1 if !types.is_empty() => {
                        Depends::Argument(types[self.below(types.len() as u64) as usize])
                    }
                    _ => Depends::Arguments,
                };
                (self.name(longest), depends, self.below(3), self.ty(structs))
            })
            .collect();
        let mut annotations = None;
        let instances = (0..1 + self.below(4)).map(|number| {
            let types: Vec<_> = args.iter().map(|_| self.ty(structs)).collect();
            let params = params.iter().map(|(name, depends, passed, fixed)| {
                let ty = match depends {
                    Depends::Nothing => fixed.clone(),
                    Depends::Argument(at) => types[*at].clone(),
                    Depends::Arguments => self.ty(structs),
                };
                let param = match passed {
                    0 => super::value("", name, ty),
                    1 => super::read("", name, Some(ty)),
                    _ => super::write("", name, Some(ty)),
                };
                ("T", *depends, param)
            });
            let params = params.collect();
            let args = args.iter().zip(&types).map(|((name, is_type), ty)| {
                let number = format!("{number}{}", "0".repeat(self.below(9) as usize));
                match is_type {
                    true => templates::ty(name, "T", ty.clone()),
                    false => templates::number(name, "int", Scalar::I32, &number),
                }
            });
            let args = args.collect();
            let name = format!("{template}_{number}");
            let mut kernel = templates::instance(&name, &template, args, params);
            kernel.annotations = annotations
                .get_or_insert_with(|| self.annotations(&kernel))
                .clone();
            kernel
        });
        instances.collect()
    }
}
