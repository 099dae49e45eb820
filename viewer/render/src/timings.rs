//! How long the GPU takes for each pass, where it can tell.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use crate::{error::RenderError, gpu::Gpu};

/// Milliseconds of the GPU for one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Morph targets and skins of all actors.
    pub deform_ms: f64,
    /// The shadow map.
    pub shadow_ms: f64,
    /// Everything that is shaded: opaque surfaces, sky, ground, blended surfaces, overlays.
    pub shade_ms: f64,
    /// The tone map.
    pub tone_ms: f64,
}

impl Timings {
    /// All passes together.
    pub fn total_ms(&self) -> f64 {
        self.deform_ms + self.shadow_ms + self.shade_ms + self.tone_ms
    }
}

/// A pass that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Deform,
    Shadow,
    Shade,
    Tone,
}

/// Two time stamps a pass.
const NUM_STAMPS: u32 = 8;
const BYTES: u64 = NUM_STAMPS as u64 * wgpu::QUERY_SIZE as u64;

/// The next frame may be timed.
const FREE: u8 = 0;
/// A frame is timed; its stamps are on their way.
const PENDING: u8 = 1;
/// To be read.
const MAPPED: u8 = 2;

/// Time stamps of one frame at a time; while they are on their way, further frames are not timed.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    stamps: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
    state: Arc<AtomicU8>,
    nanos_per_tick: f64,
    last: Option<Timings>,
}

impl Stopwatch {
    /// `None` when the device has no time stamps.
    pub(crate) fn new(gpu: &Gpu) -> Result<Option<Self>, RenderError> {
        let device = &gpu.device;
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        gpu.checked("time stamps", || {
            let buffer = |usage: wgpu::BufferUsages| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("time stamps"),
                    size: BYTES,
                    usage: usage | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            };
            Some(Self {
                stamps: device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("passes"),
                    ty: wgpu::QueryType::Timestamp,
                    count: NUM_STAMPS,
                }),
                resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
                readable: buffer(wgpu::BufferUsages::MAP_READ),
                state: Arc::new(AtomicU8::new(FREE)),
                nanos_per_tick: f64::from(gpu.queue.get_timestamp_period()),
                last: None,
            })
        })
    }

    /// The latest frame whose times have come back.
    pub(crate) fn last(&self) -> Option<Timings> {
        self.last
    }

    /// Takes in what has come back. Whether the frame that begins is timed.
    pub(crate) fn begin(&mut self) -> bool {
        if self.state.load(Ordering::Acquire) == MAPPED {
            self.last = self.read().or(self.last);
            self.readable.unmap();
            self.state.store(FREE, Ordering::Release);
        }
        self.state.load(Ordering::Acquire) == FREE
    }

    fn read(&self) -> Option<Timings> {
        let view = self.readable.get_mapped_range(..).ok()?;
        let stamps: Vec<u64> = view
            .as_chunks::<8>()
            .0
            .iter()
            .map(|&bytes| u64::from_le_bytes(bytes))
            .collect();
        let span_ms = |pass: Pass| {
            let first = 2 * pass as usize;
            let (begin, end) = (stamps.get(first)?, stamps.get(first + 1)?);
            Some(end.saturating_sub(*begin) as f64 * self.nanos_per_tick * 1e-6)
        };
        Some(Timings {
            deform_ms: span_ms(Pass::Deform)?,
            shadow_ms: span_ms(Pass::Shadow)?,
            shade_ms: span_ms(Pass::Shade)?,
            tone_ms: span_ms(Pass::Tone)?,
        })
    }

    /// What a compute pass needs to be timed.
    pub(crate) fn compute(&self, pass: Pass) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.stamps,
            beginning_of_pass_write_index: Some(2 * pass as u32),
            end_of_pass_write_index: Some(2 * pass as u32 + 1),
        }
    }

    /// What a render pass needs to be timed.
    pub(crate) fn render(&self, pass: Pass) -> wgpu::RenderPassTimestampWrites<'_> {
        wgpu::RenderPassTimestampWrites {
            query_set: &self.stamps,
            beginning_of_pass_write_index: Some(2 * pass as u32),
            end_of_pass_write_index: Some(2 * pass as u32 + 1),
        }
    }

    /// After the last pass of a frame that is timed. The stamps come back after the commands are submitted.
    pub(crate) fn end(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.stamps, 0..NUM_STAMPS, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, BYTES);
        self.state.store(PENDING, Ordering::Release);
        let pending = Pending(Arc::clone(&self.state));
        encoder.map_buffer_on_submit(&self.readable, wgpu::MapMode::Read, .., move |result| {
            if result.is_ok() {
                pending.0.store(MAPPED, Ordering::Release);
            }
        });
    }
}

/// Stamps on their way. When the commands are thrown away instead, the next frame is timed.
struct Pending(Arc<AtomicU8>);

impl Drop for Pending {
    fn drop(&mut self) {
        let (from, to) = (PENDING, FREE);
        // It may have come back already.
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
    }
}
