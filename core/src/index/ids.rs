//! The ids of an index: integers or strings, one kind throughout.

use std::cmp::Ordering;

use crate::memory::prefetch;
use crate::saved::{Corrupt, Store};

/// A list of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Whole numbers.
    Int(Vec<i64>),
    /// Strings.
    Str(Vec<String>),
}

impl Ids {
    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        match self {
            Ids::Int(ids) => ids.len(),
            Ids::Str(ids) => ids.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the id at a place.
    pub fn get(&self, at: usize) -> Id<'_> {
        match self {
            Ids::Int(ids) => Id::Int(ids[at]),
            Ids::Str(ids) => Id::Str(&ids[at]),
        }
    }

    /// Returns an empty list of the same kind.
    pub(crate) fn none(&self) -> Ids {
        Ids::of_kind(self.kind())
    }

    pub(crate) fn of_kind(kind: Kind) -> Ids {
        match kind {
            Kind::Int => Ids::Int(Vec::new()),
            Kind::Str => Ids::Str(Vec::new()),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Ids::Int(_) => Kind::Int,
            Ids::Str(_) => Kind::Str,
        }
    }

    /// Appends an id of the same kind.
    pub(crate) fn push(&mut self, id: Id<'_>) {
        match (self, id) {
            (Ids::Int(ids), Id::Int(id)) => ids.push(id),
            (Ids::Str(ids), Id::Str(id)) => ids.push(id.to_owned()),
            _ => unreachable!("an index has ids of one kind"),
        }
    }

    pub(crate) fn append(&mut self, mut other: Ids) {
        match (self, &mut other) {
            (Ids::Int(ids), Ids::Int(more)) => ids.append(more),
            (Ids::Str(ids), Ids::Str(more)) => ids.append(more),
            _ => unreachable!("an index has ids of one kind"),
        }
    }

    pub(crate) fn swap_remove(&mut self, at: usize) {
        match self {
            Ids::Int(ids) => drop(ids.swap_remove(at)),
            Ids::Str(ids) => drop(ids.swap_remove(at)),
        }
    }

    pub(crate) fn position(&self, id: Id<'_>) -> Option<usize> {
        match (self, id) {
            (Ids::Int(ids), Id::Int(id)) => ids.iter().position(|&other| other == id),
            (Ids::Str(ids), Id::Str(id)) => ids.iter().position(|other| other == id),
            _ => None,
        }
    }

    /// Returns the row numbers sorted by id; equal ids stay in order.
    pub(crate) fn rows_ascending(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.len() as u32).collect();
        let by_id = |left: u32, right: u32| self.get(left as usize).cmp(&self.get(right as usize));
        if !rows.is_sorted_by(|&left, &right| by_id(left, right) != Ordering::Greater) {
            rows.sort_by(|&left, &right| by_id(left, right));
        }
        rows
    }
}

/// The kind of ids an index has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Str,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Int => "integer",
            Kind::Str => "string",
        }
    }
}

/// One id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id<'a> {
    /// A whole number.
    Int(i64),
    /// A string.
    Str(&'a str),
}

impl Id<'_> {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Id::Int(_) => Kind::Int,
            Id::Str(_) => Kind::Str,
        }
    }
}

/// The ids of a segment.
pub(crate) enum IdColumn {
    Int(Store<i64>),
    /// Where each ends in the text, and the text.
    Str(Store<u64>, Store<u8>),
}

impl IdColumn {
    pub(crate) fn from_ids(count: usize, ids: impl Iterator<Item = usize>, source: &Ids) -> IdColumn {
        match source {
            Ids::Int(values) => {
                let mut column = Vec::with_capacity(count);
                column.extend(ids.map(|at| values[at]));
                IdColumn::Int(Store::Owned(column))
            }
            Ids::Str(values) => {
                let (mut ends, mut text) = (Vec::with_capacity(count), Vec::new());
                for at in ids {
                    text.extend_from_slice(values[at].as_bytes());
                    ends.push(text.len() as u64);
                }
                text.shrink_to_fit();
                IdColumn::Str(Store::Owned(ends), Store::Owned(text))
            }
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            IdColumn::Int(_) => Kind::Int,
            IdColumn::Str(..) => Kind::Str,
        }
    }

    pub(crate) fn get(&self, at: usize) -> Result<Id<'_>, Corrupt> {
        match self {
            IdColumn::Int(ids) => ids.at(at).map(Id::Int),
            IdColumn::Str(ends, text) => {
                let start = if at == 0 { 0 } else { ends.at(at - 1)? as usize };
                let end = ends.at(at)? as usize;
                if start > end || end > text.len() {
                    return Err(ends.corrupt("an id lies outside of the text of ids"));
                }
                match std::str::from_utf8(text.range(start..end)?) {
                    Ok(id) => Ok(Id::Str(id)),
                    Err(_) => Err(text.corrupt("an id is not valid UTF-8")),
                }
            }
        }
    }

    /// Prefetches an id.
    pub(crate) fn fetch(&self, at: usize) {
        match self {
            IdColumn::Int(ids) => ids.unchecked().get(at).into_iter().for_each(prefetch),
            IdColumn::Str(ends, _) => ends.unchecked().get(at).into_iter().for_each(prefetch),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            IdColumn::Int(ids) => 8 * ids.len(),
            IdColumn::Str(ends, text) => 8 * ends.len() + text.len(),
        }
    }
}
