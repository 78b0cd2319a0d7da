//! The tables of jieba-rs, included as they are.
//!
//! jieba-rs includes its dictionary through a crate that packs it with zstd while compiling and unpacks it at first
//! use. That takes a C library, built twice, and a fifth of the time our build takes, to make a file smaller that a
//! wheel packs anyway. The macro here does the same without packing; `[patch.crates-io]` of the workspace puts it in
//! place. Without the patch everything works the same, only slower to build.

/// A file of the calling crate as a static string. What it is to be packed with is ignored.
#[macro_export]
macro_rules! flate {
    (static $name:ident: str from $path:literal with $method:ident) => {
        static $name: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path));
    };
}
