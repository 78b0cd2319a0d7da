//! Counting tokens: each distinct one once, with its hash and how often it came.

/// A distinct token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<const W: usize> {
    /// XXH3 of the token; two tokens of one text share it with probability 2^-64.
    pub(crate) key: u64,
    pub(crate) hash: [u64; W],
    pub(crate) count: u32,
    /// The weight class of the token; of a token of a response, its view too.
    pub(crate) class: u8,
}

/// An open-addressing table over a dense list, reused from text to text.
#[derive(Debug, Default)]
pub(crate) struct Bag<const W: usize> {
    /// Index into `entries` plus one; 0 is free. A power of two long.
    slots: Vec<u32>,
    /// The distinct tokens, and at least one free place for the next.
    entries: Vec<Entry<W>>,
    length: usize,
}

const SMALLEST: usize = 256;

impl<const W: usize> Bag<W> {
    const BLANK: Entry<W> = Entry { key: 0, hash: [0; W], count: 0, class: 0 };

    /// Empties the bag and makes it ready for about `expected` distinct tokens.
    pub(crate) fn start(&mut self, expected: usize) {
        let size = (2 * expected).next_power_of_two().max(SMALLEST);
        self.slots.clear();
        self.slots.resize(size, 0);
        if self.entries.len() <= size / 2 {
            self.entries.resize(size / 2 + 1, Self::BLANK);
        }
        self.length = 0;
    }

    /// Counts one occurrence; returns whether the token is new.
    ///
    /// Whether it is new cannot be predicted, so there is no branch on it: the token is written to the next free place,
    /// and then found there or where it stood before.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: u64, hash: [u64; W], class: u8) -> bool {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        self.entries[self.length] = Entry { key, hash, count: 0, class };
        let place = loop {
            let index = self.slots[slot] as usize;
            let place = if index == 0 { self.length } else { index - 1 };
            if self.entries[place].key == key {
                break place;
            }
            slot = (slot + 1) & mask;
        };
        let entry = &mut self.entries[place];
        entry.count = entry.count.saturating_add(1);
        self.slots[slot] = place as u32 + 1;
        let new = place == self.length;
        self.length += usize::from(new);
        if self.length * 2 > self.slots.len() {
            self.grow();
        }
        new
    }

    /// Sets the hash of the token just added, for hashes too expensive to compute for every occurrence.
    #[inline]
    pub(crate) fn set_last_hash(&mut self, hash: [u64; W]) {
        self.entries[self.length - 1].hash = hash;
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        self.entries.resize(size / 2 + 1, Self::BLANK);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (index, entry) in self.entries[..self.length].iter().enumerate() {
            let mut slot = entry.key as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }

    /// Returns the distinct tokens in the order of their first occurrence.
    pub(crate) fn entries(&self) -> &[Entry<W>] {
        &self.entries[..self.length]
    }

    /// Frees the memory that a huge text took, down to this many entries.
    pub(crate) fn shrink(&mut self, entries: usize) {
        self.length = 0;
        self.entries.truncate(entries);
        self.entries.shrink_to_fit();
        self.slots.clear();
        self.slots.shrink_to(2 * entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn counts_like_a_map(keys in prop::collection::vec(0u64..700, 0..3000), spread in prop_oneof![Just(1u64), Just(1 << 40), Just(256)]) {
            let mut bag = Bag::<0>::default();
            for expected in [0, 500] {
                bag.start(expected);
                let mut counts: HashMap<u64, u32> = HashMap::new();
                let mut order = Vec::new();
                for key in keys.iter().map(|key| key * spread) {
                    let new = bag.add(key, [], 0);
                    prop_assert_eq!(new, !counts.contains_key(&key));
                    if new {
                        order.push(key);
                    }
                    *counts.entry(key).or_default() += 1;
                }
                prop_assert_eq!(bag.entries().iter().map(|entry| entry.key).collect::<Vec<_>>(), order);
                for entry in bag.entries() {
                    prop_assert_eq!(entry.count, counts[&entry.key]);
                }
            }
        }
    }
}
