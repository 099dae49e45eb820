//! A cursor that never reads past the end: the sole place that indexes untrusted bytes.

use crate::error::Reject;

/// Reads from the front of a slice; remembers the offset for error messages.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn take(&mut self, needed: usize) -> Result<&'a [u8], Reject> {
        let (taken, rest) = self.bytes.split_at_checked(needed).ok_or(Reject::Short {
            at: self.at,
            needed,
            have: self.bytes.len(),
        })?;
        self.bytes = rest;
        self.at += needed;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Reject> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or(Reject::Short {
            at: self.at,
            needed: N,
            have: self.bytes.len(),
        })?;
        self.bytes = rest;
        self.at += N;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Reject> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16_le(&mut self) -> Result<u16, Reject> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32_le(&mut self) -> Result<u32, Reject> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64_le(&mut self) -> Result<u64, Reject> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn i32_be(&mut self) -> Result<i32, Reject> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn f32_be(&mut self) -> Result<f32, Reject> {
        Ok(f32::from_be_bytes(self.array()?))
    }
}
