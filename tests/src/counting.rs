//! An allocator that counts for the current thread, so that "does not allocate" is a test.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Passes everything on to the system's allocator.
pub struct Counting;

fn note(size: usize) {
    // During thread teardown there is nothing left to count in.
    let _ = CALLS.try_with(|c| c.set(c.get() + 1));
    let _ = LARGEST.try_with(|l| l.set(l.get().max(size)));
}

#[expect(unsafe_code, reason = "an allocator cannot be written otherwise")]
// SAFETY: every call goes to `System` unchanged; counting touches no memory of the caller's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// Runs `f`; returns its result, the allocations it made, and the largest in bytes.
pub fn count<T>(f: impl FnOnce() -> T) -> (T, u64, usize) {
    let before = CALLS.get();
    LARGEST.set(0);
    let result = f();
    (result, CALLS.get() - before, LARGEST.get())
}
