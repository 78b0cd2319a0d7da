//! Records made from one form with other fields: weather reports, notices, log lines, product variants.
//!
//! The members of a cluster are aligned with its representative. The *frame* is the words that nearly all members
//! share; a *slot* is the place between two neighbours of the frame; a *field* is a slot whose value varies from member
//! to member. A cluster is a template if most differences between its members lie in fields. In edited copies every
//! member differs in places of its own: no slot varies.
//!
//! ```text
//! texts of a cluster → words → frame → slots → fields → Form → fields of any text
//! ```

mod alignment;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use crate::differences::write_number;
use crate::hash::{KeyMap, token_key};
use crate::near::TextOf;
use crate::normalize::Normalize;
use crate::words::{Hangul, Piece, each_piece};
use alignment::{NONE, align};

/// Different members that a template has at least.
const MEMBERS: usize = 4;
/// Share of members that have a word of the frame, in percent.
const FRAME: usize = 80;
/// Share of members whose value of a field is not the most frequent one, in percent.
const VARYING: usize = 30;
/// Values of a field that varies freely, at least. A place with two values may come from a revised story: these change
/// together or one after the other, so that k such places have at most k + 1 combinations. A template has at least as
/// many fields with more values, or more combinations.
const VALUES: usize = 3;
/// Share of members in which a field may be empty, in percent: an advert stands in some members only.
const EMPTY: usize = 10;
/// Words of a field in nine of ten members, at most: a field is no inserted passage.
const LONG: usize = 10;
/// Share of differences that lie in fields, in percent.
const IN_FIELDS: usize = 75;
/// One in so many of the representative's words is in the frame at least; in a small cluster that fits the form, one in
/// so many words of the frame may be missing.
const FRAME_PART: usize = 3;
/// Longer texts are no forms; this bounds the table of an alignment.
const WORDS: usize = 1 << 12;
/// Words of a form by which it is looked up.
const RAREST: usize = 5;
/// Forms that a cluster is compared with.
const FORMS: usize = 64;
/// A word of more forms than this says little, and is looked up only if a text has no other word of a form.
const MANY: usize = 1 << 10;

/// Returns the words of a text, as hashes, and calls `place` with the start and end of each. A number has its sign; case
/// and width do not count.
fn words(text: &str, mut place: impl FnMut(usize, usize)) -> Vec<u64> {
    let mut keys = Vec::with_capacity(text.len() / 6 + 1);
    let (mut number, mut buffer, mut lower) = (String::new(), String::new(), String::new());
    // Folding ASCII moves nothing; other words are folded one by one, to know where they stand.
    let folded = text.is_ascii();
    let text = if folded { Normalize::Standard.apply(text, &mut lower) } else { text };
    let mut end = 0;
    each_piece(text, Hangul::Words, |piece| {
        let (Piece::Word(part) | Piece::Hangul(part) | Piece::Run(part) | Piece::Letters(part)) = piece;
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        let mut push = |word: &str, start: usize, length: usize| {
            let word = if folded { word } else { Normalize::Standard.apply(word, &mut buffer) };
            keys.push(token_key(word));
            place(start, start + length);
        };
        match piece {
            Piece::Word(word) | Piece::Hangul(word) if is_number(word, &text[end..start]) => {
                write_number(&mut number, &text[end..start], end > 0, word);
                push(&number, start, word.len());
            }
            Piece::Word(word) | Piece::Hangul(word) => push(word, start, word.len()),
            Piece::Run(run) | Piece::Letters(run) => {
                run.char_indices().for_each(|(at, c)| push(&run[at..at + c.len_utf8()], start + at, c.len_utf8()));
            }
        }
        end = start + part.len();
    });
    keys
}

/// Returns the words of a text.
fn read(text: &str) -> Vec<u64> {
    words(text, |_, _| ())
}

/// Returns whether a word may be a number that is not written as the word alone: with a sign or a point before it, or
/// commas within it.
fn is_number(word: &str, gap: &str) -> bool {
    let marked = gap.bytes().any(|byte| !byte.is_ascii_whitespace()) || word.contains(',');
    marked && word.contains(char::is_numeric)
}

/// The form of a template: words in order, and between them slots, some of which are fields.
///
/// There is a slot before each word and one at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    frame: Vec<u64>,
    fields: Vec<u32>,
}

/// The place of each word of a frame in a text.
struct Placed<'a> {
    words: &'a [u64],
    places: Vec<u32>,
}

impl<'a> Placed<'a> {
    fn new(frame: &[u64], words: &'a [u64]) -> Placed<'a> {
        Placed { words, places: align(frame, words) }
    }

    fn range(&self, before: Option<u32>, after: Option<u32>) -> std::ops::Range<usize> {
        before.map_or(0, |at| at as usize + 1)..after.map_or(self.words.len(), |at| at as usize)
    }

    /// Returns the words of a slot; None if a word of the frame beside it is missing.
    fn slot(&self, slot: usize) -> Option<&'a [u64]> {
        let before = slot.checked_sub(1).map(|at| self.places[at]);
        let after = self.places.get(slot).copied();
        let missing = before == Some(NONE) || after == Some(NONE);
        (!missing).then(|| &self.words[self.range(before, after)])
    }

    /// Returns where the words are that stand for a slot: those between the nearest words of the frame.
    fn around(&self, slot: usize) -> std::ops::Range<usize> {
        let is_there = |at: &&u32| **at != NONE;
        let before = self.places[..slot].iter().rfind(is_there).copied();
        self.range(before, self.places[slot..].iter().find(is_there).copied())
    }

    /// Returns the number of places where words of the frame are missing.
    fn gaps(&self) -> usize {
        self.places.chunk_by(|a, b| (*a == NONE) == (*b == NONE)).filter(|run| run[0] == NONE).count()
    }
}

impl Form {
    /// Finds the form of texts, the first of which represents them; None if they are no template.
    fn of(texts: &[Vec<u64>]) -> Option<Form> {
        let mut known = HashSet::new();
        let members: Vec<&[u64]> = texts
            .iter()
            .map(|words| &words[..])
            .filter(|words| (1..=WORDS).contains(&words.len()) && known.insert(*words))
            .collect();
        if members.len() < MEMBERS || texts[0] != members[0] {
            return None;
        }
        let (frame, placed) = frame(&members)?;
        let gaps: usize = placed.iter().map(Placed::gaps).sum();
        let (mut inside, mut outside, mut varied) = (0, gaps, 0);
        let mut fields = Vec::new();
        let mut pairs = Vec::new();
        let mut values = Vec::with_capacity(members.len());
        for at in 0..=frame.len() {
            values.clear();
            values.extend(placed.iter().filter_map(|member| member.slot(at)));
            let Some(slot) = Slot::of(&values, members.len()) else { continue };
            let differing = values.len() - slot.frequent;
            if slot.is_field {
                inside += differing;
                varied += usize::from(slot.values >= VALUES);
                if slot.values < VALUES {
                    pairs.push(at);
                }
                fields.push(at as u32);
            } else {
                outside += differing;
            }
        }
        let is_free = || {
            let combinations = placed.iter().filter_map(|member| pairs.iter().map(|&at| member.slot(at)).collect());
            combinations.collect::<HashSet<Vec<&[u64]>>>().len() > pairs.len() + 1
        };
        let is_template =
            varied > 0 && inside * 100 >= (inside + outside) * IN_FIELDS && (varied >= pairs.len() || is_free());
        is_template.then_some(Form { frame, fields })
    }

    /// Returns whether nearly all texts have most of the frame and differ from the first one in fields only.
    fn fits(&self, texts: &[Vec<u64>]) -> bool {
        if texts.iter().any(|words| words.len() > WORDS) {
            return false;
        }
        let first = Placed::new(&self.frame, &texts[0]);
        let missing = first.places.iter().filter(|&&at| at == NONE).count();
        if missing * FRAME_PART > self.frame.len() {
            return false;
        }
        let differs_in_fields = |words: &&Vec<u64>| {
            let other = Placed::new(&self.frame, words);
            let has_same = first.places.iter().zip(&other.places).all(|(a, b)| (*a == NONE) == (*b == NONE));
            let mut fields = self.fields.iter().peekable();
            has_same
                && (0..=self.frame.len()).all(|at| {
                    let values = (first.slot(at), other.slot(at));
                    match values {
                        (Some(_), Some(value)) if fields.next_if_eq(&&(at as u32)).is_some() => value.len() <= LONG,
                        _ => first.words[first.around(at)] == other.words[other.around(at)],
                    }
                })
        };
        let fitting = texts[1..].iter().filter(differs_in_fields).count();
        (1 + fitting) * 100 >= texts.len() * IN_FIELDS
    }

    /// Returns a hash of the values of all fields. If words of the frame are missing around a field, its value is all
    /// that stands there instead.
    fn values(&self, words: &[u64]) -> u64 {
        let mut bytes = Vec::new();
        if words.len() > WORDS {
            words.iter().for_each(|key| bytes.extend(key.to_le_bytes()));
        } else {
            let placed = Placed::new(&self.frame, words);
            for &field in &self.fields {
                let range = placed.around(field as usize);
                bytes.extend((range.len() as u64).to_le_bytes());
                words[range].iter().for_each(|key| bytes.extend(key.to_le_bytes()));
            }
        }
        xxhash_rust::xxh3::xxh3_64(&bytes)
    }

    /// Returns the parts of a text before, between and behind the fields, and the values of the fields.
    pub fn cut<'a>(&self, text: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
        let mut spans = Vec::new();
        let words = words(text, |start, end| spans.push((start, end)));
        if words.len() > WORDS {
            return (vec![text], Vec::new());
        }
        let placed = Placed::new(&self.frame, &words);
        let (mut parts, mut values, mut end) = (Vec::new(), Vec::new(), 0);
        for &field in &self.fields {
            let range = placed.around(field as usize);
            let (from, to) = match spans[range.clone()] {
                [first, .., last] => (first.0, last.1),
                [only] => only,
                // An empty field stands right behind the word before it.
                [] => [range.start.checked_sub(1).map_or(0, |before| spans[before].1); 2].into(),
            };
            let (from, to) = (from.max(end), to.max(end));
            parts.push(&text[end..from]);
            values.push(&text[from..to]);
            end = to;
        }
        parts.push(&text[end..]);
        (parts, values)
    }

    /// Returns the number of fields.
    pub fn field_count(&self) -> usize {
        self.fields.len()
    }
}

/// Returns the words of the first member that nearly all members have, in order, and their places in each member; None
/// if they are too few.
fn frame<'a>(members: &[&'a [u64]]) -> Option<(Vec<u64>, Vec<Placed<'a>>)> {
    let partners: Vec<Vec<u32>> = members.iter().map(|member| align(members[0], member)).collect();
    let mut counts = vec![0; members[0].len()];
    for partners in &partners {
        counts.iter_mut().zip(partners).for_each(|(count, &at)| *count += usize::from(at != NONE));
    }
    let frequent: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] * 100 >= members.len() * FRAME).collect();
    // Where nothing but insertions differs, most members have an empty field, unless they are many.
    let may_vary = frequent.len() < counts.len() || members.len() * EMPTY >= 100;
    (frequent.len() * FRAME_PART >= counts.len() && may_vary).then(|| {
        let places = |partners: Vec<u32>| frequent.iter().map(|&at| partners[at]).collect();
        let placed = members.iter().zip(partners).map(|(words, partners)| Placed { words, places: places(partners) });
        (frequent.iter().map(|&at| members[0][at]).collect(), placed.collect())
    })
}

/// What stands in a slot.
struct Slot {
    /// Number of members that have the most frequent value.
    frequent: usize,
    /// Number of different values.
    values: usize,
    is_field: bool,
}

impl Slot {
    /// Reads the values of a slot; None if it is empty in all members that have it.
    fn of(values: &[&[u64]], members: usize) -> Option<Slot> {
        if values.iter().all(|value| value.is_empty()) {
            return None;
        }
        let mut counts: HashMap<&[u64], usize> = HashMap::new();
        values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
        let frequent = counts.values().copied().max().unwrap_or(0);
        let varies = (values.len() - frequent) * 100 >= members * VARYING;
        let empty = counts.get(&[][..]).copied().unwrap_or(0);
        let long = values.iter().filter(|value| value.len() > LONG).count();
        let is_field = varies && empty * 100 <= members * EMPTY && long * 10 <= values.len();
        Some(Slot { frequent, values: counts.len(), is_field })
    }
}

/// Returns the form of each cluster, if it is a template; on the threads of the current rayon pool. A cluster is some of
/// its rows, its representative first. The result is useless once `stop` is set.
pub fn find(clusters: &[&[u32]], text: TextOf<'_, '_>, stop: &AtomicBool) -> Vec<Option<Form>> {
    let find = |rows: &&[u32]| {
        let read = |row: &u32| if stop.load(Relaxed) { Vec::new() } else { read(&text(*row as usize)) };
        Form::of(&rows.iter().map(read).collect::<Vec<_>>())
    };
    clusters.par_iter().map(find).collect()
}

/// Returns for each cluster one of the forms that it fits: most of the frame is there, and its rows differ in fields only.
/// Clusters of a few rows, which alone say little, are recognised by the form of a large one.
pub fn fit(forms: &[Form], clusters: &[&[u32]], text: TextOf<'_, '_>, stop: &AtomicBool) -> Vec<Option<u32>> {
    let by_word = by_rarest_words(forms);
    let find = |rows: &&[u32]| {
        if stop.load(Relaxed) {
            return None;
        }
        let mut texts = vec![read(&text(rows[0] as usize))];
        let words: HashSet<u64> = texts[0].iter().copied().collect();
        let mut common: HashMap<u32, usize> = HashMap::new();
        let lists: Vec<&Vec<u32>> = words.iter().filter_map(|word| by_word.get(word)).collect();
        let is_rare = |list: &&&Vec<u32>| list.len() <= MANY;
        let any_rare = lists.iter().any(|list| is_rare(&list));
        let some = lists.iter().filter(|list| !any_rare || is_rare(list)).flat_map(|list| list.iter().take(MANY));
        some.for_each(|&form| *common.entry(form).or_default() += 1);
        let mut likely: Vec<(u32, usize)> = common.into_iter().collect();
        likely.sort_unstable_by_key(|&(form, common)| (std::cmp::Reverse(common), form));
        likely.truncate(FORMS);
        if !likely.is_empty() {
            texts.extend(rows[1..].iter().map(|&row| read(&text(row as usize))));
        }
        likely.into_iter().map(|(form, _)| form).find(|&form| forms[form as usize].fits(&texts))
    };
    clusters.par_iter().with_min_len(16).map(find).collect()
}

/// Returns the forms by some words of their frame, those in the fewest forms: a text that fits a form has most of these.
fn by_rarest_words(forms: &[Form]) -> KeyMap<Vec<u32>> {
    let words: Vec<HashSet<u64>> = forms.iter().map(|form| form.frame.iter().copied().collect()).collect();
    let mut counts: KeyMap<u32> = KeyMap::default();
    words.iter().flatten().for_each(|&word| *counts.entry(word).or_default() += 1);
    let mut by_word: KeyMap<Vec<u32>> = KeyMap::default();
    for (at, words) in words.iter().enumerate() {
        let mut rarest: Vec<u64> = words.iter().copied().collect();
        rarest.sort_unstable_by_key(|word| (counts[word], *word));
        rarest.iter().take(RAREST).for_each(|&word| by_word.entry(word).or_default().push(at as u32));
    }
    by_word
}

/// Returns for rows, each with the number of its form, a hash of the values of its fields.
pub fn values(forms: &[Form], rows: &[(u32, u32)], text: TextOf<'_, '_>, stop: &AtomicBool) -> Vec<u64> {
    let find = |&(row, form): &(u32, u32)| {
        if stop.load(Relaxed) { 0 } else { forms[form as usize].values(&read(&text(row as usize))) }
    };
    rows.par_iter().with_min_len(64).map(find).collect()
}

#[cfg(test)]
mod tests;
