//! The structs that kernels take: plain data, laid out as the compiler did.

use super::bindings::ModuleBindings;
use super::layout::{Layout, Placement, find};
use super::names::{Names, fields};
use super::out::{self, Expr, Out, call, literal, macro_call, params, row, text};
use super::types::{Types, cpp};
use crate::kernel::{Field, Signatures, Struct, Type};

/// The most items of an array that has `Default`.
const DEFAULT_ITEMS: u64 = 32;

/// Draws one struct with its constructor, its traits and the assertions about its layout.
pub(super) fn structure(out: &mut Out, bindings: &ModuleBindings, names: &Names, it: &Struct) {
    Plain::of(bindings, names, it).draw(out);
}

struct Plain<'a> {
    signatures: &'a Signatures,
    types: Types<'a>,
    structure: &'a Struct,
    placement: Placement,
    name: String,
    fields: Vec<String>,
    paddings: Vec<String>,
}

/// A field in the order of memory.
enum Slot<'a> {
    Field(&'a str, &'a Field),
    Padding(&'a str, u64),
}

impl<'a> Plain<'a> {
    fn of(bindings: &'a ModuleBindings, names: &'a Names, structure: &'a Struct) -> Self {
        let signatures = &bindings.signatures;
        let placement = Placement::of(signatures, structure);
        let paddings = placement.before.iter().filter(|it| **it > 0).count();
        let paddings = paddings + usize::from(placement.behind > 0);
        let (fields, paddings) = fields(structure, paddings);
        Self {
            signatures,
            types: Types::code(names),
            structure,
            placement,
            name: names.structure(&structure.path),
            fields,
            paddings,
        }
    }

    fn slots(&self) -> Vec<Slot<'_>> {
        let mut paddings = self.paddings.iter();
        let mut slots = Vec::new();
        let fields = self.fields.iter().zip(&self.structure.fields);
        for ((name, field), before) in fields.zip(&self.placement.before) {
            if *before > 0 {
                slots.extend(paddings.next().map(|it| Slot::Padding(it, *before)));
            }
            slots.push(Slot::Field(name, field));
        }
        if self.placement.behind > 0 {
            slots.extend(
                paddings
                    .next()
                    .map(|it| Slot::Padding(it, self.placement.behind)),
            );
        }
        slots
    }

    fn draw(&self, out: &mut Out) {
        let Self {
            name, structure, ..
        } = self;
        out.line("");
        out.docs([format!(
            "`{}`: {} byte{}, aligned to {}.",
            structure.path,
            structure.size,
            if structure.size == 1 { "" } else { "s" },
            structure.align
        )]);
        let by_hand = self.default_by_hand();
        let default = if by_hand { "" } else { "Default, " };
        out.line(format!("#[derive(Clone, Copy, Debug, {default}PartialEq)]"));
        out.line(self.repr());
        out.braced(format!("pub struct {name}"), |out| {
            for slot in self.slots() {
                match slot {
                    Slot::Field(name, field) => {
                        out.docs([self.described(field)]);
                        out.line(format!("pub {name}: {},", self.field_type(field)));
                    }
                    Slot::Padding(name, bytes) => {
                        out.docs(["Padding."]);
                        out.line(format!("{name}: [u8; {bytes}],"));
                    }
                }
            }
        });
        if self.placement.is_padded() {
            self.constructor(out);
        }
        if by_hand {
            self.default(out);
        }
        self.traits(out);
        self.assertions(out);
    }

    fn repr(&self) -> String {
        match (self.placement.packed, self.placement.align) {
            (Some(1), _) => "#[repr(C, packed)]".to_owned(),
            (Some(align), _) => format!("#[repr(C, packed({align}))]"),
            (None, Some(align)) => format!("#[repr(C, align({align}))]"),
            (None, None) => "#[repr(C)]".to_owned(),
        }
    }

    fn described(&self, field: &Field) -> String {
        let what = if self.is_bytes(field) {
            ": its bytes"
        } else if is_address(&field.ty) {
            ": a device address"
        } else {
            ""
        };
        format!("`{}`, at byte {}{what}.", cpp(&field.ty), field.offset)
    }

    /// A packed struct cannot hold what has an alignment of its own (rustc's E0588): it holds the bytes.
    fn is_bytes(&self, field: &Field) -> bool {
        self.placement.packed.is_some() && self.has_own_alignment(&field.ty)
    }

    fn field_type(&self, field: &Field) -> String {
        if self.is_bytes(field) {
            let size = Layout::of(self.signatures, &field.ty).map_or(0, |it| it.size);
            return format!("[u8; {size}]");
        }
        self.types.rust(&field.ty)
    }

    fn has_own_alignment(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) | Type::Address => false,
            Type::Vector(_) => true,
            Type::Array(item, _) => self.has_own_alignment(item),
            Type::Struct(path) => find(self.signatures, path).is_some_and(|it| {
                Placement::of(self.signatures, it).align.is_some()
                    || it
                        .fields
                        .iter()
                        .any(|field| self.has_own_alignment(&field.ty))
            }),
        }
    }

    /// Literals of a padded struct cannot be written elsewhere.
    fn constructor(&self, out: &mut Out) {
        let inputs = self.fields.iter().zip(&self.structure.fields);
        let inputs = inputs
            .map(|(name, field)| text(format!("{name}: {}", self.field_type(field))))
            .collect();
        out.line("");
        out.braced(format!("impl {}", self.name), |out| {
            out.docs(["From the fields; the padding is zero."]);
            let head = [params("pub const fn new(", inputs), text(" -> Self {")];
            out.statement(&row(head), "");
            out.indented(|out| {
                let value = self.value(|name, _| text(name));
                out.statement(&value, "");
            });
            out.line("}");
        });
    }

    fn default_by_hand(&self) -> bool {
        self.slots().iter().any(|slot| match slot {
            Slot::Field(_, field) => self.is_long_array(&field.ty),
            Slot::Padding(_, bytes) => *bytes > DEFAULT_ITEMS,
        })
    }

    fn is_long_array(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(item, length) => *length > DEFAULT_ITEMS || self.is_long_array(item),
            _ => false,
        }
    }

    fn default(&self, out: &mut Out) {
        out.line("");
        out.braced(
            format!("impl ::core::default::Default for {}", self.name),
            |out| {
                out.braced("fn default() -> Self", |out| {
                    let value = self
                        .value(|name, field| out::field(name, text(self.default_of(&field.ty))));
                    out.statement(&value, "");
                });
            },
        );
    }

    fn default_of(&self, ty: &Type) -> String {
        match ty {
            Type::Array(item, length) if self.is_long_array(ty) => {
                format!("[{}; {length}]", self.default_of(item))
            }
            _ => "::core::default::Default::default()".to_owned(),
        }
    }

    fn value(&self, field: impl Fn(&str, &Field) -> Expr) -> Expr {
        let fields = self.slots().into_iter().map(|slot| match slot {
            Slot::Field(name, it) => field(name, it),
            Slot::Padding(name, bytes) => out::field(name, text(format!("[0; {bytes}]"))),
        });
        literal("Self {", fields.collect())
    }

    fn traits(&self, out: &mut Out) {
        let name = &self.name;
        out.line("");
        out.line("// SAFETY: plain data, laid out as the kernel's compiler did; asserted below.");
        out.line(format!("unsafe impl ::gpuk::DeviceRepr for {name} {{}}"));
        out.line("");
        out.line("// SAFETY: every field may be zero.");
        out.line(format!(
            "unsafe impl ::gpuk::ValidAsZeroBits for {name} {{}}"
        ));
    }

    fn assertions(&self, out: &mut Out) {
        let Self {
            name, structure, ..
        } = self;
        let assert = |to: &mut Out, left: Expr, right: u64| {
            let equal = out::equal(left, right);
            to.statement(&macro_call("::core::assert!(", vec![equal]), ";");
        };
        out.line("");
        out.closed("const _: () =", "};", |out| {
            let of = |what| call(format!("::core::mem::{what}::<{name}>("), Vec::new());
            assert(out, of("size_of"), structure.size);
            assert(out, of("align_of"), structure.align);
            for (field, it) in self.fields.iter().zip(&structure.fields) {
                let place = vec![text(name), text(field)];
                let place = macro_call("::core::mem::offset_of!(", place);
                assert(out, place, it.offset);
            }
        });
    }
}

fn is_address(ty: &Type) -> bool {
    match ty {
        Type::Array(item, _) => is_address(item),
        _ => *ty == Type::Address,
    }
}

/// Whether a value of the type holds device addresses.
pub(super) fn holds_address(signatures: &Signatures, ty: &Type) -> bool {
    match ty {
        Type::Address => true,
        Type::Scalar(_) | Type::Vector(_) => false,
        Type::Array(item, _) => holds_address(signatures, item),
        Type::Struct(path) => find(signatures, path).is_some_and(|it| {
            it.fields
                .iter()
                .any(|field| holds_address(signatures, &field.ty))
        }),
    }
}
