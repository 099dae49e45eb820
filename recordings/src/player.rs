//! Gives a take back at its own timing: any speed, loop, seek by timecode. Told the time; any prefix plays.

use std::path::{Path, PathBuf};

use hub::{StaticData, SubjectKey, Timecode, WorldTime};

use crate::{
    error::TakeError,
    format::{Item, Reader},
};

/// A take being played.
pub struct Player {
    path: PathBuf,
    reader: Reader,
    pending: Option<(i64, Item)>,
    /// Take time (Unix nanoseconds) that is due at `anchor_world`.
    anchor_take: Option<i64>,
    anchor_world: WorldTime,
    speed: f64,
    looping: bool,
    first: Option<i64>,
    last: i64,
    rounds: u64,
}

impl Player {
    /// From the start, at `now`. `speed` is clamped to 0.01..=100.
    ///
    /// # Errors
    /// When the take cannot be opened.
    pub fn open(path: &Path, speed: f64, looping: bool, now: WorldTime) -> Result<Self, TakeError> {
        Ok(Self {
            path: path.to_owned(),
            reader: Reader::open(path)?.with_raw(),
            pending: None,
            anchor_take: None,
            anchor_world: now,
            speed: if speed.is_finite() {
                speed.clamp(0.01, 100.0)
            } else {
                1.0
            },
            looping,
            first: None,
            last: 0,
            rounds: 0,
        })
    }

    /// Goes to the first frame at or after a timecode of any subject. Static data before it is given out at
    /// once through `give`. Returns false, and plays from the start, when no frame has such a timecode.
    ///
    /// # Errors
    /// When the take cannot be read.
    pub fn seek(
        &mut self,
        to: Timecode,
        now: WorldTime,
        mut give: impl FnMut(Item),
    ) -> Result<bool, TakeError> {
        self.rewind(now)?;
        let target = hub::QualifiedFrameTime {
            drop: to.drop(),
            ..hub::QualifiedFrameTime::whole(to.frame(), to.rate())
        }
        .as_nanos();
        let mut statics: Vec<(SubjectKey, Box<StaticData>, i64)> = Vec::new();
        while let Some(item) = self.reader.next_item()? {
            match item {
                Item::Static { key, data, nanos } => {
                    statics.retain(|(k, ..)| *k != key);
                    statics.push((key, data, nanos));
                }
                Item::Frame {
                    ref meta, nanos, ..
                } if meta.timecode.is_some_and(|t| {
                    // Modulo a day: a take over midnight goes on after it.
                    let day = t.day_nanos();
                    (t.as_nanos() - target).rem_euclid(day) < day / 2
                }) =>
                {
                    for (key, data, nanos) in statics {
                        give(Item::Static { key, data, nanos });
                    }
                    self.anchor_take = Some(nanos);
                    self.first = Some(nanos);
                    self.pending = Some((nanos, item));
                    return Ok(true);
                }
                _ => {}
            }
        }
        self.rewind(now)?;
        Ok(false)
    }

    fn rewind(&mut self, now: WorldTime) -> Result<(), TakeError> {
        self.reader = Reader::open(&self.path)?.with_raw();
        self.pending = None;
        self.anchor_take = None;
        self.anchor_world = now;
        self.first = None;
        Ok(())
    }

    /// Gives out everything due at `now`; returns when the next item is due, `None` at the end.
    ///
    /// # Errors
    /// When the take cannot be read.
    pub fn poll(
        &mut self,
        now: WorldTime,
        mut give: impl FnMut(Item),
    ) -> Result<Option<WorldTime>, TakeError> {
        loop {
            let (nanos, item) = match self.pending.take() {
                Some(pending) => pending,
                None => match self.reader.next_item()? {
                    Some(item) => {
                        if let Some(nanos) = item.nanos() {
                            (nanos, item)
                        } else {
                            give(item);
                            continue;
                        }
                    }
                    // A take without any timed item must not spin.
                    None if self.looping && self.first.is_some_and(|f| self.last > f) => {
                        self.rounds += 1;
                        let resume = self.due(self.last);
                        self.rewind(resume)?;
                        continue;
                    }
                    None => return Ok(None),
                },
            };
            self.first.get_or_insert(nanos);
            self.anchor_take.get_or_insert(nanos);
            let due = self.due(nanos);
            if due > now {
                self.pending = Some((nanos, item));
                return Ok(Some(due));
            }
            self.last = nanos;
            give(item);
        }
    }

    fn due(&self, nanos: i64) -> WorldTime {
        let since = (nanos - self.anchor_take.unwrap_or(nanos)) as f64 / self.speed;
        self.anchor_world + since as i64
    }

    /// Times the take has begun again.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }
}
