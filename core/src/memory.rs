//! Prefetching, and large allocations that may fail.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Prefetches the cache line behind a reference.
#[inline(always)]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it changes nothing a program can see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The payload of a panic for want of memory. An allocation that fails otherwise ends the process; one that grows with
/// the data goes through the functions here, so that a caller can catch it and go on.
#[derive(Clone, Copy, Debug)]
pub struct OutOfMemory;

fn give_up() -> ! {
    // Without the hook, which would print a message. A box of nothing needs no memory.
    std::panic::resume_unwind(Box::new(OutOfMemory))
}

/// Makes room for more items.
pub(crate) fn reserve<T>(items: &mut Vec<T>, more: usize) {
    if items.try_reserve(more).is_err() {
        give_up();
    }
}

/// Appends an item.
#[inline(always)]
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        reserve(items, 1);
    }
    items.push(item);
}

/// Makes sure that there is this much memory, for work that allocates it in many places. Panics with [`OutOfMemory`] if
/// there is less.
pub fn probe(bytes: usize) {
    drop(with_room::<u8>(bytes));
}

/// Returns an empty vector with room for just this many items.
pub(crate) fn with_room<T>(room: usize) -> Vec<T> {
    let mut items = Vec::new();
    if items.try_reserve_exact(room).is_err() {
        give_up();
    }
    items
}

/// Returns a vector of equal items. Panics with [`OutOfMemory`] if they do not fit into memory.
pub fn filled<T: Clone>(length: usize, item: T) -> Vec<T> {
    let mut items = with_room(length);
    items.resize(length, item);
    items
}

/// Returns the items of an iterator that knows its length. Panics with [`OutOfMemory`] if they do not fit into memory.
pub fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut all = with_room(items.len());
    all.extend(items);
    all
}

/// Appends items, and frees their vector.
pub(crate) fn append<T>(items: &mut Vec<T>, mut more: Vec<T>) {
    reserve(items, more.len());
    items.append(&mut more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_memory_is_a_panic_to_catch() {
        let caught = std::panic::catch_unwind(|| filled(usize::MAX / 4, 0u16)).unwrap_err();
        assert!(caught.is::<OutOfMemory>());
        assert!(std::panic::catch_unwind(|| probe(usize::MAX / 4)).is_err());
        let mut items = Vec::new();
        push(&mut items, 1);
        append(&mut items, vec![2, 3]);
        assert_eq!([items, collected(4..6)], [vec![1, 2, 3], vec![4, 5]]);
    }
}
