//! Lazy values that are safe across fork.

use std::sync::OnceLock;

/// Like `LazyLock`, but holds no lock while the value is computed: a process forked at that moment would wait for it
/// for ever. Two threads may compute it twice; one result is kept.
pub(crate) struct Once<T: 'static> {
    value: OnceLock<T>,
    make: fn() -> T,
}

impl<T> Once<T> {
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Once { value: OnceLock::new(), make }
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        match self.value.get() {
            Some(value) => value,
            None => self.first(),
        }
    }

    #[cold]
    fn first(&self) -> &T {
        let made = (self.make)();
        self.value.get_or_init(|| made)
    }
}
