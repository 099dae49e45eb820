//! A take that plays in the window alone: live input and recording do not notice.

use std::{path::Path, sync::Arc};

use hub::{FrameData, StaticData, client::SourceSettings};
use recordings::{
    bake::{Rows, bake},
    performance,
};

use super::Given;
use crate::gui::Playing;

/// One subject of it.
struct Part {
    name: String,
    statics: Arc<StaticData>,
    rows: Rows,
    /// Seconds from the take's start to its first row.
    start_secs: f64,
}

/// A take read whole, and where it stands.
pub(super) struct Playback {
    playing: Playing,
    parts: Vec<Part>,
}

impl Playback {
    /// Reads a take.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let content = performance::load(path)?;
        let mut parts = Vec::new();
        let mut of_secs = 0.0f64;
        for subject in &content.subjects {
            // The longest stretch speaks for the subject.
            let longest = subject.generations.iter().max_by_key(|g| g.frames.len());
            let Some(generation) = longest else {
                continue;
            };
            let settings = SourceSettings::default();
            let Some(rows) = bake(&subject.key, generation, None, settings) else {
                continue;
            };
            let first = generation.frames.first();
            let start_secs = first.map_or(0.0, |f| f.meta.arrival.as_secs_f64()).max(0.0);
            of_secs = of_secs.max(start_secs + rows.duration_secs());
            parts.push(Part {
                name: subject.key.name.to_string(),
                statics: Arc::new(rows.statics.clone()),
                rows,
                start_secs,
            });
        }
        anyhow::ensure!(
            !parts.is_empty(),
            "the take holds no frame: {}",
            path.display()
        );
        Ok(Self {
            playing: Playing {
                path: path.to_owned(),
                at_secs: 0.0,
                of_secs,
                paused: false,
                looping: false,
                subjects: parts.iter().map(|p| p.name.clone()).collect(),
            },
            parts,
        })
    }

    pub(super) fn playing(&self) -> Playing {
        self.playing.clone()
    }

    pub(super) fn at_secs(&self) -> f64 {
        self.playing.at_secs
    }

    /// Whether time goes on in it.
    pub(super) fn moves(&self) -> bool {
        let at_end = self.playing.at_secs >= self.playing.of_secs;
        !self.playing.paused && (self.playing.looping || !at_end)
    }

    pub(super) fn follow(&mut self, playing: &Playing) {
        self.playing.at_secs = playing.at_secs;
        self.playing.paused = playing.paused;
        self.playing.looping = playing.looping;
    }

    pub(super) fn advance(&mut self, dt_secs: f64) {
        if !self.moves() {
            return;
        }
        let playing = &mut self.playing;
        playing.at_secs += dt_secs;
        if playing.at_secs > playing.of_secs {
            playing.at_secs = if playing.looping {
                0.0
            } else {
                playing.of_secs
            };
        }
    }

    /// Numbers of its subjects.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        (0..self.parts.len() as u32).filter(|id| {
            // Cameras and props have no character.
            self.parts.get(*id as usize).is_some_and(|p| {
                matches!(p.statics.role(), hub::Role::Animation | hub::Role::Basic)
            })
        })
    }

    /// The row of a subject where the playback stands: the last one at or before that time.
    pub(super) fn frame(&self, id: u32) -> Option<Given<'_>> {
        let part = self.parts.get(id as usize)?;
        let nanos = ((self.playing.at_secs - part.start_secs) * 1e9) as i64;
        let after = part.rows.rows.partition_point(|r| r.nanos <= nanos);
        let row = part.rows.rows.get(after.saturating_sub(1));
        let data: Option<&FrameData> = row.map(|r| &r.data);
        Some((Arc::clone(&part.statics), data))
    }
}

#[cfg(test)]
mod tests;
