//! The structs that kernels take: plain data, laid out as the compiler did.

use super::bindings::ModuleBindings;
use super::expr::{self, Expr, call, literal, macro_call, params, row, text};
use super::layout::{Layout, Placement, find};
use super::names::{Names, fields};
use super::out::Out;
use super::types::{Types, cpp};
use super::view;
use crate::kernel::{Field, Signatures, Struct, Type};

/// `CUtensorMap`.
const TENSOR_MAP: &str = "CUtensorMap_st";

/// The most items of an array that has `Default`.
const DEFAULT_ITEMS: u64 = 32;

/// Draws one struct with its constructor, its traits and the assertions about its layout.
pub(super) fn structure(out: &mut Out, bindings: &ModuleBindings, names: &Names, it: &Struct) {
    Plain::of(bindings, names, it).draw(out);
}

struct Plain<'a> {
    types: Types<'a>,
    signatures: &'a Signatures,
    structure: &'a Struct,
    placement: Placement,
    name: String,
    fields: Vec<String>,
    paddings: Vec<String>,
}

/// A field in the order of memory.
enum Slot<'a> {
    /// Its name, the field, and what it is stored as.
    Field(&'a str, &'a Field, &'a Type),
    Padding(&'a str, u64),
}

impl<'a> Plain<'a> {
    fn of(bindings: &'a ModuleBindings, names: &'a Names, structure: &'a Struct) -> Self {
        let placement = Placement::of(&bindings.signatures, structure);
        let paddings = placement.before.iter().filter(|it| **it > 0).count();
        let paddings = paddings + usize::from(placement.behind > 0);
        let (fields, paddings) = fields(structure, paddings);
        Self {
            types: Types::code(names),
            signatures: &bindings.signatures,
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
        let placed = self.placement.stored.iter().zip(&self.placement.before);
        for ((name, field), (stored, before)) in fields.zip(placed) {
            if *before > 0 {
                slots.extend(paddings.next().map(|it| Slot::Padding(it, *before)));
            }
            slots.push(Slot::Field(name, field, stored));
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
            let mut nth = 0..;
            for slot in self.slots() {
                match slot {
                    Slot::Field(name, field, stored) => {
                        let nth = nth.next().unwrap_or_default();
                        out.docs([match &field.ty {
                            Type::Bytes(_) => bytes(structure, nth, field),
                            _ => described(field, stored),
                        }]);
                        out.line(format!("pub {name}: {},", self.types.rust(stored)));
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
        view::methods(out, self.types, structure, name, &self.fields);
        if structure.path == TENSOR_MAP && structure.size == 128 {
            self.tensor_map(out);
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

    /// Literals of a padded struct cannot be written elsewhere.
    fn constructor(&self, out: &mut Out) {
        let inputs = self.fields.iter().zip(&self.placement.stored);
        let inputs = inputs.map(|(name, ty)| text(format!("{name}: {}", self.types.rust(ty))));
        let inputs = inputs.collect();
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
            Slot::Field(_, _, stored) => is_long_array(stored),
            Slot::Padding(_, bytes) => *bytes > DEFAULT_ITEMS,
        })
    }

    fn default(&self, out: &mut Out) {
        out.line("");
        out.braced(
            format!("impl ::core::default::Default for {}", self.name),
            |out| {
                out.braced("fn default() -> Self", |out| {
                    let value =
                        self.value(|name, stored| expr::field(name, text(default_of(stored))));
                    out.statement(&value, "");
                });
            },
        );
    }

    fn value(&self, field: impl Fn(&str, &Type) -> Expr) -> Expr {
        let fields = self.slots().into_iter().map(|slot| match slot {
            Slot::Field(name, _, stored) => field(name, stored),
            Slot::Padding(name, bytes) => expr::field(name, text(format!("[0; {bytes}]"))),
        });
        literal("Self {", fields.collect())
    }

    /// From what cudarc's `cuTensorMapEncodeTiled` fills in.
    fn tensor_map(&self, out: &mut Out) {
        let map = "::gpuk::cudarc::driver::sys::CUtensorMap";
        let head = format!("impl ::core::convert::From<{map}> for {}", self.name);
        out.line("");
        out.braced(head, |out| {
            out.braced(format!("fn from(map: {map}) -> Self"), |out| {
                out.line("Self { bytes: map.into() }");
            });
        });
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
            let equal = expr::equal(left, right);
            to.statement(&macro_call("::core::assert!(", vec![equal]), ";");
        };
        out.line("");
        out.closed("const _: () =", "};", |out| {
            let of = |what| call(format!("::core::mem::{what}::<{name}>("), Vec::new());
            assert(out, of("size_of"), structure.size);
            assert(out, of("align_of"), structure.align);
            let stored = structure.fields.iter().zip(&self.placement.stored);
            for (field, (it, stored)) in self.fields.iter().zip(stored) {
                let place = vec![text(name), text(field)];
                let place = macro_call("::core::mem::offset_of!(", place);
                let Some(layout) = Layout::of(self.signatures, stored) else {
                    assert(out, place, it.offset);
                    continue;
                };
                let expected = format!("[{}, {}, {}]", it.offset, layout.size, layout.align);
                let open = format!("::gpuk::__field::<{}>(", self.types.rust(stored));
                out.statement(&call(open, vec![place, text(expected)]), ";");
            }
        });
    }
}

fn is_long_array(ty: &Type) -> bool {
    match ty {
        Type::Array(item, length) => *length > DEFAULT_ITEMS || is_long_array(item),
        _ => false,
    }
}

fn default_of(ty: &Type) -> String {
    match ty {
        Type::Array(item, length) if is_long_array(ty) => {
            format!("[{}; {length}]", default_of(item))
        }
        _ => "::core::default::Default::default()".to_owned(),
    }
}

/// What is said of bytes.
fn bytes(it: &Struct, nth: usize, field: &Field) -> String {
    let what = view::held(it, nth);
    format!("{} at byte {}, {what}.", cpp(&field.ty), field.offset)
}

/// What a field's documentation says.
fn described(field: &Field, stored: &Type) -> String {
    let what = if *stored != field.ty {
        ": its bytes"
    } else if is_address(&field.ty) {
        ": a device address"
    } else {
        ""
    };
    format!("`{}`, at byte {}{what}.", cpp(&field.ty), field.offset)
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
        Type::Scalar(_) | Type::Vector(_) | Type::Enum(_) | Type::Bytes(_) | Type::Generic(_) => {
            false
        }
        Type::Array(item, _) => holds_address(signatures, item),
        Type::Struct(path) => find(signatures, path).is_some_and(|it| {
            it.fields
                .iter()
                .any(|field| holds_address(signatures, &field.ty))
        }),
    }
}
