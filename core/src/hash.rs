//! Token → bits. Bit i of a hash has the value 2^i; words are least significant first.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

use crate::error::{Error, choose};

/// 2^64 divided by the golden ratio: an odd multiplier whose bits have no pattern.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// The same for 32 bits.
pub(crate) const GOLDEN_32: u32 = (GOLDEN >> 32) as u32;

/// Hashes a key that is a hash already: it stays as it is.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0 << 8 ^ u64::from(byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A map by the keys of tokens.
pub(crate) type KeyMap<T> = HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// The hash a token votes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenHash {
    /// XXH3: 64 bits, 128 bits, or 128-bit pieces with seeds 0, 1, 2, 3 for wider ones.
    Xxh3,
    /// The last bytes of MD5, big-endian, as 1e0ng's `simhash`.
    Md5,
    /// The first bytes of MD5, big-endian, as seomoz's libraries.
    Md5First,
    /// The string hash of Python 2 at any width, as python-hashes.
    Python,
    /// Jenkins' lookup3 `hashlittle2` as `(b << 32) | c`.
    Lookup3,
    /// The same as `(c << 32) | b`, as yanyiwu's library.
    Lookup3Yanyiwu,
}

impl std::str::FromStr for TokenHash {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        choose(
            "hash",
            name,
            &[
                ("xxh3", TokenHash::Xxh3),
                ("md5", TokenHash::Md5),
                ("md5-first", TokenHash::Md5First),
                ("python", TokenHash::Python),
                ("lookup3", TokenHash::Lookup3),
                ("lookup3-yanyiwu", TokenHash::Lookup3Yanyiwu),
            ],
        )
    }
}

/// Returns the key that identifies a token within and between texts.
#[inline]
pub(crate) fn token_key(token: &str) -> u64 {
    xxh3_64(token.as_bytes())
}

impl TokenHash {
    /// Returns the widest fingerprint this hash can fill.
    pub(crate) fn max_bits(self) -> usize {
        match self {
            TokenHash::Xxh3 | TokenHash::Python => crate::MAX_BITS,
            TokenHash::Md5 | TokenHash::Md5First => 128,
            TokenHash::Lookup3 | TokenHash::Lookup3Yanyiwu => 64,
        }
    }

    /// Returns the low `bits` bits of the hash of `token`; at most `max_bits` and 64·W.
    #[inline]
    pub(crate) fn hash<const W: usize>(self, token: &str, bits: usize) -> [u64; W] {
        let mut words = [0; W];
        let bytes = token.as_bytes();
        match self {
            TokenHash::Xxh3 => return xxh3(token, bits),
            TokenHash::Md5 => fill(&mut words, 0, md5(bytes)),
            TokenHash::Md5First => fill(&mut words, 0, md5(bytes) >> (128 - bits)),
            TokenHash::Python => python_hash(token, &mut words),
            TokenHash::Lookup3 => {
                let (c, b) = lookup3(bytes);
                words[0] = u64::from(b) << 32 | u64::from(c);
            }
            TokenHash::Lookup3Yanyiwu => {
                let (c, b) = lookup3(bytes);
                words[0] = u64::from(c) << 32 | u64::from(b);
            }
        }
        keep_low(&mut words, bits);
        words
    }
}

/// Returns `TokenHash::Xxh3` of a token, for loops that use no other hash.
#[inline(always)]
pub(crate) fn xxh3<const W: usize>(token: &str, bits: usize) -> [u64; W] {
    xxh3_of_bytes(token.as_bytes(), bits)
}

/// Returns `TokenHash::Xxh3` of the bytes of a token. Where their number is known at compile time, the branches of XXH3
/// on it disappear.
#[inline(always)]
pub(crate) fn xxh3_of_bytes<const W: usize>(bytes: &[u8], bits: usize) -> [u64; W] {
    let mut words = [0; W];
    if W == 1 || bits <= 64 {
        words[0] = xxh3_64(bytes);
    } else if W == 2 || bits <= 128 {
        fill(&mut words, 0, xxh3_128(bytes));
    } else {
        for piece in 0..bits.div_ceil(128) {
            fill(&mut words, piece, xxh3_128_with_seed(bytes, piece as u64));
        }
    }
    if bits < W * 64 {
        keep_low(&mut words, bits);
    }
    words
}

/// Clears every bit from `bits` on.
#[inline]
pub(crate) fn keep_low(words: &mut [u64], bits: usize) {
    for (at, word) in words.iter_mut().enumerate() {
        let left = bits.saturating_sub(at * 64);
        if left < 64 {
            *word &= (1u64 << left) - 1;
        }
    }
}

#[inline]
fn fill<const W: usize>(words: &mut [u64; W], piece: usize, value: u128) {
    words[2 * piece] = value as u64;
    if let Some(high) = words.get_mut(2 * piece + 1) {
        *high = (value >> 64) as u64;
    }
}

fn md5(bytes: &[u8]) -> u128 {
    u128::from_be_bytes(md5::compute(bytes).0)
}

/// Computes x = x · 1000003 xor c over the code points, modulo 2^(64·W); the low bits do not depend on W.
fn python_hash<const W: usize>(token: &str, words: &mut [u64; W]) {
    let Some(first) = token.chars().next() else { return };
    words[0] = (first as u64) << 7;
    let mut length = 0;
    for c in token.chars() {
        let mut carry = 0u128;
        for word in words.iter_mut() {
            carry += u128::from(*word) * 1_000_003;
            *word = carry as u64;
            carry >>= 64;
        }
        words[0] ^= c as u64;
        length += 1;
    }
    words[0] ^= length;
}

/// Computes Bob Jenkins' `hashlittle2` with both seeds 0 (<https://burtleburtle.net/bob/hash/doobs.html>); returns (c,
/// b).
fn lookup3(bytes: &[u8]) -> (u32, u32) {
    let seed = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [seed; 3];
    let mut rest = bytes;
    // The last block, even a full one, is mixed by the final rounds.
    while rest.len() > 12 {
        add_block(&mut state, &rest[..12]);
        for (x, y, z, turn) in [(0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8), (0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4)] {
            state[x] = state[x].wrapping_sub(state[y]) ^ state[y].rotate_left(turn);
            state[y] = state[y].wrapping_add(state[z]);
        }
        rest = &rest[12..];
    }
    if !rest.is_empty() {
        add_block(&mut state, rest);
        for (x, y, turn) in [(2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24)] {
            state[x] = (state[x] ^ state[y]).wrapping_sub(state[y].rotate_left(turn));
        }
    }
    (state[2], state[1])
}

/// Adds up to twelve bytes, little-endian, missing ones as zero.
fn add_block(state: &mut [u32; 3], bytes: &[u8]) {
    let mut block = [0; 12];
    block[..bytes.len()].copy_from_slice(bytes);
    for (word, quarter) in state.iter_mut().zip(block.chunks_exact(4)) {
        *word = word.wrapping_add(u32::from_le_bytes([quarter[0], quarter[1], quarter[2], quarter[3]]));
    }
}

/// A cache of the hashes of the latest tokens: MD5 costs a hundred nanoseconds, and texts share most of their tokens.
/// Keyed by XXH3 of the token; each worker serves one recipe, so one hash and width.
pub(crate) struct HashCache<const W: usize> {
    slots: Vec<(u64, [u64; W])>,
}

impl<const W: usize> HashCache<W> {
    const SLOTS: usize = 1 << 17;

    /// Returns the hash of the token with this key; computes it if it is not cached.
    pub(crate) fn get(&mut self, key: u64, hash: impl FnOnce() -> [u64; W]) -> [u64; W] {
        if self.slots.is_empty() {
            // An empty slot must match no key: key !i never belongs into slot i.
            self.slots = (0..Self::SLOTS as u64).map(|slot| (!slot, [0; W])).collect();
        }
        let slot = &mut self.slots[key as usize % Self::SLOTS];
        if slot.0 != key {
            *slot = (key, hash());
        }
        slot.1
    }
}

impl<const W: usize> Default for HashCache<W> {
    fn default() -> Self {
        HashCache { slots: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(kind: TokenHash, token: &str) -> u64 {
        kind.hash::<1>(token, 64)[0]
    }

    #[test]
    fn golden_values() {
        assert_eq!(hash(TokenHash::Lookup3, "ab"), 0x6B79_A0F2_FBB3_A8DF);
        assert_eq!(hash(TokenHash::Lookup3, ""), 0xdead_beef_dead_beef);
        assert_eq!(hash(TokenHash::Lookup3Yanyiwu, "你好"), 17_676_873_585_679_812_141);
        // https://burtleburtle.net/bob/c/lookup3.c, driver5: 30 bytes, both seeds 0
        assert_eq!(hash(TokenHash::Lookup3Yanyiwu, "Four score and seven years ago"), 0x1777_0551_ce72_26e6);
        assert_eq!(hash(TokenHash::Md5First, ""), 0xd41d_8cd9_8f00_b204);
        assert_eq!(hash(TokenHash::Md5, ""), 0xe980_0998_ecf8_427e);
        assert_eq!(hash(TokenHash::Xxh3, ""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash(TokenHash::Python, ""), 0);
        assert_eq!(hash(TokenHash::Python, "a"), ((97 << 7) * 1_000_003) ^ 97 ^ 1);
    }

    #[test]
    fn widths_agree_on_their_common_bits() {
        for token in ["a", "汉字", "a longer token that needs more than sixteen bytes"] {
            for kind in [TokenHash::Python, TokenHash::Md5] {
                let wide = kind.hash::<2>(token, 128);
                assert_eq!(wide[0], kind.hash::<1>(token, 64)[0]);
                assert_eq!(wide[0] & 0xFF, kind.hash::<1>(token, 8)[0]);
            }
            let wide = TokenHash::Xxh3.hash::<8>(token, 512);
            assert_eq!(wide[..2], TokenHash::Xxh3.hash::<2>(token, 128));
            assert_eq!(wide[..3], TokenHash::Xxh3.hash::<4>(token, 192)[..3]);
            // The number of words that hold a hash must not matter.
            for bits in [8, 64, 96, 128] {
                assert_eq!(
                    TokenHash::Xxh3.hash::<8>(token, bits)[..2],
                    if bits <= 64 {
                        [TokenHash::Xxh3.hash::<1>(token, bits)[0], 0]
                    } else {
                        TokenHash::Xxh3.hash::<2>(token, bits)
                    }
                );
            }
        }
    }
}
