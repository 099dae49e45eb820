//! From the sink of the sources to an output that passes frames through: bounded, and never in the way.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hub::{FrameData, FrameMeta, StaticData, SubjectKey};
use recordings::handover::{Handover, Keep};

use super::select::Patterns;

/// Most frames that wait for an output, and most bytes. Beyond either the oldest go.
const MAX_ITEMS: usize = 1024;
const MAX_BYTES: usize = 16 << 20;

/// A frame on its way, or the end of a subject.
#[derive(Default)]
pub(super) struct Passed {
    pub(super) key: Option<SubjectKey>,
    /// What the frame belongs to; `None` when the subject ended.
    pub(super) statics: Option<Arc<StaticData>>,
    pub(super) meta: FrameMeta,
    pub(super) data: FrameData,
    /// False when the frame came without values, and `data` means nothing.
    pub(super) has_data: bool,
}

/// The input of one output that passes frames through. Share it in an `Arc`.
///
/// Called under the hub's lock: it copies into recycled memory and returns. When the output does not keep up,
/// its oldest frames go, counted; nobody else notices.
pub struct Feed {
    select: Patterns,
    is_wanted: AtomicBool,
    pub(super) queue: Handover<Passed>,
}

impl Feed {
    pub(super) fn new(select: Patterns, is_wanted: bool) -> Self {
        Self {
            select,
            is_wanted: AtomicBool::new(is_wanted),
            queue: Handover::new(MAX_ITEMS, MAX_BYTES),
        }
    }

    pub(super) fn set_wanted(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::Relaxed);
    }

    /// A frame that the client took, in the order in which frames came.
    pub fn frame(
        &self,
        key: &SubjectKey,
        statics: &Arc<StaticData>,
        meta: &FrameMeta,
        data: Option<&FrameData>,
    ) {
        if !self.is_wanted.load(Ordering::Relaxed) || !self.select.matches(key.name.as_str()) {
            return;
        }
        self.queue.push(Keep::Frame, true, |item| {
            item.key = Some(key.clone());
            item.statics = Some(Arc::clone(statics));
            item.meta.clone_from(meta);
            item.has_data = data.is_some();
            let mut bytes = size_of::<Passed>();
            if let Some(data) = data {
                item.data.clone_from(data);
                bytes += size_of_val(data.transforms()) + size_of_val(&*data.properties);
            }
            bytes
        });
    }

    /// The source said that the subject ends.
    pub fn removed(&self, key: &SubjectKey) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        self.queue.push(Keep::Always, true, |item| {
            item.key = Some(key.clone());
            item.statics = None;
            item.has_data = false;
            size_of::<Passed>()
        });
    }

    /// Frames that had to go because the output did not keep up.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped_frames()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hub::{SourceId, SubjectName};

    use super::*;

    fn key(name: &str) -> SubjectKey {
        let source = SourceId::new("test").unwrap();
        SubjectKey::new(source, SubjectName::new(name).unwrap())
    }

    fn feed(pattern: &str) -> Feed {
        Feed::new(Patterns::new(&[pattern.to_owned()]).unwrap(), true)
    }

    #[test]
    fn frames_come_out_in_order_and_only_those_wanted() {
        let feed = feed("演*");
        let statics = Arc::new(StaticData::basic(&["a"]));
        for i in 0..4u8 {
            let data = FrameData::basic(vec![f32::from(i)]);
            let name = if i == 1 { "other" } else { "演員" };
            feed.frame(&key(name), &statics, &FrameMeta::default(), Some(&data));
        }
        feed.removed(&key("演員"));
        feed.set_wanted(false);
        feed.frame(&key("演員"), &statics, &FrameMeta::default(), None);
        let mut out = Vec::new();
        feed.queue.take(&mut out, Duration::ZERO);
        let values: Vec<Option<f32>> = out
            .iter()
            .map(|p| p.statics.is_some().then(|| p.data.properties[0]))
            .collect();
        assert_eq!(values, [Some(0.0), Some(2.0), Some(3.0), None]);
    }

    #[test]
    fn an_output_that_does_not_keep_up_loses_its_oldest_frames() {
        let feed = feed("*");
        let statics = Arc::new(StaticData::basic(&["a"]));
        for i in 0..2000u16 {
            let data = FrameData::basic(vec![f32::from(i)]);
            feed.frame(&key("x"), &statics, &FrameMeta::default(), Some(&data));
        }
        assert_eq!(feed.dropped(), 976);
        let mut out = Vec::new();
        feed.queue.take(&mut out, Duration::ZERO);
        assert_eq!(out.len(), 1024);
        assert_eq!(out[0].data.properties, [976.0]);
    }
}
