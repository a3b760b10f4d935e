//! Types as the source spells them, with the layouts that C++ gives them on every platform of CUDA.

use std::collections::BTreeMap;

use crate::ctype::{CType, Name, Qualifiers};
use crate::probe::{Layout, LayoutField};
use crate::signature::{Slot, room_of};
use crate::source::{Declarations, DeclaredField, DeclaredKernel, DeclaredType, TypeKind};

/// Names of the standard's and the toolkit's headers.
const ALIASES: &[(&str, &str)] = &[
    ("int8_t", "signed char"),
    ("int16_t", "short"),
    ("int32_t", "int"),
    ("int64_t", "long"),
    ("uint8_t", "unsigned char"),
    ("uint16_t", "unsigned short"),
    ("uint32_t", "unsigned int"),
    ("uint64_t", "unsigned long"),
    ("size_t", "unsigned long"),
    ("ptrdiff_t", "long"),
    ("intptr_t", "long"),
    ("uintptr_t", "unsigned long"),
    ("uint", "unsigned int"),
    ("half", "__half"),
    ("half2", "__half2"),
    ("nv_half", "__half"),
    ("nv_bfloat16", "__nv_bfloat16"),
    ("nv_bfloat162", "__nv_bfloat162"),
    ("cudaTextureObject_t", "unsigned long long"),
    ("cudaSurfaceObject_t", "unsigned long long"),
];

/// How many names may stand behind one another.
const DEPTH: usize = 16;

/// What the source says about types.
pub(super) struct Known<'d> {
    declarations: &'d Declarations,
    layouts: BTreeMap<String, Layout>,
}

impl<'d> Known<'d> {
    pub(super) fn new(declarations: &'d Declarations) -> Self {
        let mut known = Self {
            declarations,
            layouts: BTreeMap::new(),
        };
        // A struct stands behind those that its fields have.
        for ty in &declarations.types {
            if let Some(layout) = known.layout(ty) {
                known.layouts.insert(layout.name.path(), layout);
            }
        }
        known
    }

    pub(super) fn layouts(&self) -> BTreeMap<String, Layout> {
        self.layouts.clone()
    }

    /// The types of a kernel's parameters with their room; `None` if one is not known.
    pub(super) fn params(&self, kernel: &DeclaredKernel) -> Option<(Vec<CType>, Vec<Slot>)> {
        let params = kernel.params.iter().map(|param| {
            let ty = self.resolve(param.text.parse().ok()?, DEPTH)?;
            let slot = self.room(&ty)?;
            Some((ty, slot))
        });
        let params: Option<Vec<_>> = params.collect();
        Some(params?.into_iter().unzip())
    }

    /// The type without aliases.
    fn resolve(&self, ty: CType, depth: usize) -> Option<CType> {
        let depth = depth.checked_sub(1)?;
        Some(match ty {
            CType::Pointer(to, qualifiers) => {
                // A promise to the compiler, which prints types without it.
                let qualifiers = Qualifiers {
                    restrict: false,
                    ..qualifiers
                };
                CType::Pointer(Box::new(self.resolve(*to, depth)?), qualifiers)
            }
            CType::Array(of, length) => CType::Array(Box::new(self.resolve(*of, depth)?), length),
            CType::Named(name, qualifiers) => {
                let Some(meaning) = self.meaning(&name) else {
                    return Some(CType::Named(name, qualifiers));
                };
                match self.resolve(meaning.parse().ok()?, depth)? {
                    CType::Named(name, mut inner) => {
                        inner.constant |= qualifiers.constant;
                        CType::Named(name, inner)
                    }
                    other => other,
                }
            }
            // A reference cannot be passed, and the rest has no layout here.
            _ => return None,
        })
    }

    fn meaning(&self, name: &Name) -> Option<&str> {
        let word = name
            .last()
            .filter(|part| part.args.is_none())?
            .word
            .as_str();
        match self.declarations.aliases.get(word).map(Vec::as_slice) {
            Some([one]) if one != word => return Some(one),
            Some(_) => return None,
            None => {}
        }
        let known = ALIASES.iter().find(|(alias, _)| *alias == word);
        known.map(|(_, meaning)| *meaning)
    }

    fn room(&self, ty: &CType) -> Option<Slot> {
        match ty {
            CType::Pointer(..) => Some(Slot { size: 8, align: 8 }),
            CType::Array(of, Some(length)) => {
                let of = self.room(of)?;
                let size = of.size.checked_mul(*length)?;
                Some(Slot { size, ..of })
            }
            CType::Named(name, _) => match self.layouts.get(&name.path()) {
                Some(Layout { size, align, .. }) => Some(Slot {
                    size: *size,
                    align: *align,
                }),
                None => room_of(name),
            },
            _ => None,
        }
    }

    fn layout(&self, ty: &DeclaredType) -> Option<Layout> {
        let plain = ty.kind == TypeKind::Struct && ty.template.is_none() && ty.obstacle.is_none();
        if !plain || !ty.bases.is_empty() || ty.fields.iter().any(|field| !field.public) {
            return None;
        }
        let (mut end, mut align, mut fields) = (0_u64, 1, Vec::new());
        for field in &ty.fields {
            let ty = self.resolve(type_of(field)?.parse().ok()?, DEPTH)?;
            let room = self.room(&ty)?;
            let offset = end.checked_next_multiple_of(room.align)?;
            fields.push(LayoutField {
                name: field.name.clone(),
                ty,
                offset,
                size: room.size,
                align: room.align,
                shared: false,
            });
            end = offset.checked_add(room.size)?;
            align = align.max(room.align);
        }
        Some(Layout {
            name: Name::simple(&ty.name),
            obstacle: None,
            size: end.max(1).checked_next_multiple_of(align)?,
            align,
            trivially_copyable: true,
            polymorphic: false,
            fields,
        })
    }
}

/// The type of a field that is declared alone, or behind others of plain type: `int a , b`.
fn type_of(field: &DeclaredField) -> Option<String> {
    let words: Vec<_> = field.text.split(' ').collect();
    let specifiers = words.iter().position(|word| ["*", "[", ","].contains(word));
    let last = words
        .iter()
        .rposition(|word| *word == ",")
        .map_or(0, |comma| comma + 1);
    let declarator = words
        .get(last..)?
        .iter()
        .filter(|word| **word != field.name);
    if last == 0 {
        return Some(declarator.copied().collect::<Vec<_>>().join(" "));
    }
    // The first declarator's name is the last word of the specifiers, unless a `*` stands before it.
    let specifiers = words.get(..specifiers?)?;
    let specifiers = match words.get(specifiers.len()) {
        Some(&"*") => specifiers,
        _ => specifiers.split_last()?.1,
    };
    let all = specifiers.iter().chain(declarator);
    Some(all.copied().collect::<Vec<_>>().join(" "))
}
