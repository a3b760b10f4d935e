//! The members of a struct, and the bytes that none of them accounts for.
//!
//! A member with a Rust counterpart and bytes of its own becomes a field. All other bytes that are more than
//! padding become fields of bytes: unions, bit-fields, and what was not read. Members known to lie in these are
//! views of them.

use super::size::Room;
use crate::kernel::{Field, Type, View, ViewPlace};

/// A member of a union, or a bit-field, by its place in the struct.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) ty: Type,
    /// The first bit of the struct that it has.
    pub(super) first: u64,
    /// How many bits.
    pub(super) width: u64,
    /// Whether it is a bit-field.
    pub(super) bits: bool,
}

/// A struct's own members with their rooms, and what else is in it.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) own: Vec<(Field, Room)>,
    pub(super) shared: Vec<Shared>,
    /// Whether there is something in it that is not in the lists.
    pub(super) more: bool,
}

impl Members {
    /// Fields by offset, and the views of those of bytes.
    pub(super) fn place(mut self, room: Room) -> (Vec<Field>, Vec<View>) {
        self.own.sort_by_key(|(field, _)| field.offset);
        if self.overlap(room.size) {
            self.own.clear();
            self.more = true;
        }
        let mut fields = Vec::new();
        let mut end = 0;
        let own = std::mem::take(&mut self.own);
        let empty = own.is_empty();
        for (field, of) in own {
            let natural = field.offset - end < room.align.max(of.align);
            self.gap(end, field.offset, natural, &mut fields);
            end = field.offset + of.size;
            fields.push(field);
        }
        // An empty class has one byte.
        let tail = room.size - end;
        let natural = tail < room.align || (empty && tail <= room.align);
        self.gap(end, room.size, natural, &mut fields);
        if let [
            Field {
                ty: Type::Bytes(_),
                name,
                ..
            },
        ] = &mut fields[..]
        {
            *name = "bytes".to_owned();
        }
        let views = self.views(&fields);
        (fields, views)
    }

    fn overlap(&self, size: u64) -> bool {
        let ends = self.own.iter().map(|(field, of)| field.offset + of.size);
        let starts = self.own.iter().skip(1).map(|(field, _)| field.offset);
        ends.zip(starts.chain([size])).any(|(end, next)| end > next)
    }

    /// Bytes between two fields: padding, or a field of their own.
    fn gap(&self, from: u64, to: u64, natural: bool, fields: &mut Vec<Field>) {
        let within = |it: &Shared| it.first < 8 * to && it.first + it.width > 8 * from;
        if from == to || (natural && !self.more && !self.shared.iter().any(within)) {
            return;
        }
        let nth = fields
            .iter()
            .filter(|field| matches!(field.ty, Type::Bytes(_)))
            .count();
        fields.push(Field {
            name: format!("bytes_{nth}"),
            ty: Type::Bytes(to - from),
            offset: from,
        });
    }

    fn views(&self, fields: &[Field]) -> Vec<View> {
        let view = |it: &Shared| {
            let mut fields = fields.iter().enumerate();
            let (field, holder) = fields.find(|(_, field)| match field.ty {
                Type::Bytes(size) => {
                    it.first >= 8 * field.offset && it.first + it.width <= 8 * (field.offset + size)
                }
                _ => false,
            })?;
            let first = it.first - 8 * holder.offset;
            Some(View {
                name: it.name.clone(),
                ty: it.ty.clone(),
                field,
                place: match it.bits {
                    true => ViewPlace::Bits {
                        first,
                        width: it.width,
                    },
                    false => ViewPlace::Byte(first / 8),
                },
            })
        };
        self.shared.iter().filter_map(view).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Scalar;

    fn own(offset: u64, size: u64) -> (Field, Room) {
        let field = Field {
            name: "x".to_owned(),
            ty: Type::Scalar(Scalar::I32),
            offset,
        };
        (field, Room { size, align: size })
    }

    fn shared(first: u64, width: u64) -> Shared {
        Shared {
            name: "s".to_owned(),
            ty: Type::Scalar(Scalar::U32),
            first,
            width,
            bits: true,
        }
    }

    fn placed(members: Members, size: u64, align: u64) -> String {
        let (fields, views) = members.place(Room { size, align });
        let fields = fields
            .iter()
            .map(|it| format!("{}@{} ", it.name, it.offset));
        let views = views.iter().map(|it| format!("{:?}", (it.field, it.place)));
        fields.chain(views).collect()
    }

    #[test]
    fn padding_is_no_field_and_everything_else_is() {
        let two = || vec![own(0, 1), own(8, 8)];
        let members = |own, shared, more| Members { own, shared, more };
        assert_eq!(placed(members(two(), vec![], false), 16, 8), "x@0 x@8 ");
        assert_eq!(
            placed(members(two(), vec![], true), 16, 8),
            "x@0 bytes_0@1 x@8 "
        );
        // A field that was not read leaves more than padding.
        assert_eq!(
            placed(members(two(), vec![], false), 24, 8),
            "x@0 x@8 bytes_0@16 "
        );
        assert_eq!(
            placed(members(two(), vec![shared(34, 12)], false), 16, 8),
            "x@0 bytes_0@1 x@8 (1, Bits { first: 26, width: 12 })"
        );
        // What overlaps cannot be told apart.
        assert_eq!(
            placed(members(vec![own(0, 8), own(4, 4)], vec![], false), 8, 8),
            "bytes@0 "
        );
        assert_eq!(placed(members(vec![], vec![], false), 1, 1), "");
        assert_eq!(placed(members(vec![], vec![], true), 1, 1), "bytes@0 ");
    }
}
