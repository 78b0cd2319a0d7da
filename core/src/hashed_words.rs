//! Text → the XXH3 hash and the weight class of every token, hashed where it is cut.

use crate::chars::usual_han_length;
use crate::hash::{xxh3, xxh3_of_bytes};
use crate::tokens::{TokenScratch, Tokenizer};
use crate::weights::{HAN, HAN_PAIR, TokenClasses};
use crate::{http_tokens, words};

/// Calls `sink` with the XXH3 hash and the weight class of every token, in no particular order.
#[inline(always)]
pub(crate) fn each_xxh3<const W: usize>(
    tokenizer: &Tokenizer,
    (bits, classes): (usize, TokenClasses),
    text: &str,
    (scratch, batches): (&mut TokenScratch, &mut LengthBatches),
    mut sink: impl FnMut([u64; W], u8),
) {
    if let Some(wanted) = tokenizer.views() {
        http_tokens::each(text, (wanted, tokenizer.hangul()), &mut scratch.view, &mut |token, kind| {
            sink(xxh3(token, bits), kind)
        });
    } else if tokenizer.is_words() && W <= 2 {
        words::cut(text, tokenizer.hangul(), &mut HashedWords { bits, classes, batches, sink });
    } else {
        // A wide hash takes longer than a call, so inlining the tokenizer would gain nothing.
        tokenizer.each(text, scratch, |token| sink(xxh3(token, bits), classes.of(token)));
    }
}

/// XXH3 branches on the length of its input: up to 3 bytes, up to 8, up to 16, longer. The length of the next word
/// cannot be predicted, so words are batched by length and each batch takes one branch throughout.
const LENGTHS: [usize; 3] = [3, 8, 16];

/// The positions of words, batched by length.
pub(crate) type LengthBatches = [[[usize; 2]; words::WORDS]; LENGTHS.len() + 1];

/// Returns empty batches; on the heap, since they are large.
pub(crate) fn length_batches() -> Box<LengthBatches> {
    Box::new([[[0; 2]; words::WORDS]; LENGTHS.len() + 1])
}

/// The batch of a word by its length in bytes.
const BATCH_OF: [u8; 32] = {
    let mut table = [LENGTHS.len() as u8; 32];
    let mut length = 0;
    while length <= LENGTHS[2] {
        table[length] = (length > LENGTHS[0]) as u8 + (length > LENGTHS[1]) as u8;
        length += 1;
    }
    table
};

/// A sink of pieces that hashes each word.
struct HashedWords<'b, const W: usize, F: FnMut([u64; W], u8)> {
    bits: usize,
    classes: TokenClasses,
    batches: &'b mut LengthBatches,
    sink: F,
}

impl<const W: usize, F: FnMut([u64; W], u8)> HashedWords<'_, W, F> {
    /// Hashes the parts of a run of usual Han characters, as `Piece::each_part` cuts them: three bytes each, and every
    /// pair counts in full.
    #[inline(always)]
    fn usual_han(&mut self, run: &str) {
        let (single, pair) = (self.classes.of_part(HAN), self.classes.of_part(HAN_PAIR));
        let mut rest = run.as_bytes();
        if let Some(first) = rest.first_chunk::<3>() {
            (self.sink)(xxh3_of_bytes(first, self.bits), single);
        }
        while let Some(neighbours) = rest.first_chunk::<6>() {
            (self.sink)(xxh3_of_bytes(neighbours, self.bits), pair);
            (self.sink)(xxh3_of_bytes(&neighbours[3..], self.bits), single);
            rest = &rest[3..];
        }
    }
}

impl<'a, const W: usize, F: FnMut([u64; W], u8)> words::PieceSink<'a> for HashedWords<'_, W, F> {
    #[inline]
    fn piece(&mut self, piece: words::Piece<'a>) {
        if let words::Piece::Word(word) = piece {
            return (self.sink)(xxh3(word, self.bits), self.classes.of(word));
        }
        if let words::Piece::Run(run) = piece
            && usual_han_length(run) == run.len()
        {
            return self.usual_han(run);
        }
        let classes = self.classes;
        piece.each_part(&mut |part, class| (self.sink)(xxh3(part, self.bits), classes.of_part(class)));
    }

    #[inline(always)]
    fn ascii_words(&mut self, text: &'a str, places: &[[usize; 2]]) {
        let mut counts = [0; LENGTHS.len() + 1];
        for &[start, end] in places {
            let batch = usize::from(BATCH_OF[(end - start).min(BATCH_OF.len() - 1)]) % counts.len();
            self.batches[batch][counts[batch] % words::WORDS] = [start, end];
            counts[batch] += 1;
        }
        let bytes = text.as_bytes();
        for (number, (batch, &count)) in self.batches.iter().zip(&counts).enumerate() {
            for &[start, end] in &batch[..count] {
                let word = &bytes[start..end];
                let class = if number < 2 { self.classes.of_ascii(word) } else { self.classes.of_long_ascii(word) };
                (self.sink)(xxh3_of_bytes(word, self.bits), class);
            }
        }
    }
}
