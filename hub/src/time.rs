//! Instants. Three clocks are kept apart: the hub's monotonic one, the source's own, and timecode.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// Nanoseconds in a second.
pub const NANOS_PER_SEC: i64 = 1_000_000_000;

macro_rules! instant_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(i64);

        impl $name {
            /// From nanoseconds.
            pub const fn from_nanos(nanos: i64) -> Self {
                Self(nanos)
            }

            /// From seconds, rounded to the nearest nanosecond; saturates, NaN becomes 0.
            pub fn from_secs_f64(secs: f64) -> Self {
                Self((secs * NANOS_PER_SEC as f64).round() as i64)
            }

            /// Nanoseconds.
            pub const fn as_nanos(self) -> i64 {
                self.0
            }

            /// Seconds, to f64 precision.
            pub fn as_secs_f64(self) -> f64 {
                self.0 as f64 / NANOS_PER_SEC as f64
            }
        }

        /// Moves by a span in nanoseconds, saturating.
        impl Add<i64> for $name {
            type Output = Self;

            fn add(self, nanos: i64) -> Self {
                Self(self.0.saturating_add(nanos))
            }
        }

        /// The span from the right-hand instant to this one, in nanoseconds, saturating.
        impl Sub for $name {
            type Output = i64;

            fn sub(self, other: Self) -> i64 {
                self.0.saturating_sub(other.0)
            }
        }
    };
}

instant_type! {
    /// An instant on the hub's monotonic clock; zero is the hub's start.
    WorldTime
}

instant_type! {
    /// An instant on a source's own clock, whose zero only the source knows.
    SourceTime
}
