//! Two lists of instants of the same events, each by its own clock.

/// Most instants looked at of each.
const MOST: usize = 256;
/// Instants this near to each other are the same one, in seconds: two frames at 24 a second.
const SAME_S: f64 = 0.08;

/// What lies between two lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// To be added to the instants of `b`, in seconds, so that they are those of `a`.
    pub seconds: f64,
    /// Instants that are in both.
    pub matched: usize,
    /// How far, in seconds, the furthest of them is from its partner; 0 for a single one.
    pub spread: f64,
}

/// The offset at which most instants agree; `None` where none does, or where another one does as well.
/// Order does not matter. Of each list the first 256 instants are looked at.
///
/// A single agreement is believed only where `a` and `b` have one instant each.
pub fn align(a: &[f64], b: &[f64]) -> Option<Offset> {
    let (a, b) = (sorted(a), sorted(b));
    let mut candidates: Vec<f64> = a
        .iter()
        .flat_map(|a| b.iter().map(move |b| a - b))
        .collect();
    candidates.sort_by(f64::total_cmp);
    let mut best: Option<Offset> = None;
    let mut rival: Option<Offset> = None;
    for seconds in candidates {
        let Some(offset) = agree(&a, &b, seconds) else {
            continue;
        };
        let Some(lead) = best else {
            best = Some(offset);
            continue;
        };
        let is_same = (offset.seconds - lead.seconds).abs() <= SAME_S;
        if is_better(&offset, &lead) {
            if !is_same {
                rival = Some(lead);
            }
            best = Some(offset);
        } else if !is_same && rival.is_none_or(|r| is_better(&offset, &r)) {
            rival = Some(offset);
        }
    }
    let best = best?;
    let is_single = best.matched == 1;
    if is_single && (a.len() > 1 || b.len() > 1) {
        return None;
    }
    let is_doubtful = rival
        .is_some_and(|r| (r.seconds - best.seconds).abs() > SAME_S && r.matched >= best.matched);
    (!is_doubtful).then_some(best)
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut times: Vec<f64> = times
        .iter()
        .copied()
        .filter(|t| t.is_finite())
        .take(MOST)
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn is_better(this: &Offset, other: &Offset) -> bool {
    this.matched > other.matched || (this.matched == other.matched && this.spread < other.spread)
}

/// What agrees at about `seconds`, and the median of their differences.
fn agree(a: &[f64], b: &[f64], seconds: f64) -> Option<Offset> {
    let mut differences = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let difference = x - y;
        let off = difference - seconds;
        if off.abs() <= SAME_S / 2.0 {
            differences.push(difference);
            i += 1;
            j += 1;
        } else if off > 0.0 {
            j += 1;
        } else {
            i += 1;
        }
    }
    differences.sort_by(f64::total_cmp);
    let seconds = *differences.get(differences.len() / 2)?;
    let furthest = |d: Option<&f64>| d.map_or(0.0, |d| (d - seconds).abs());
    Some(Offset {
        seconds,
        matched: differences.len(),
        spread: furthest(differences.first()).max(furthest(differences.last())),
    })
}
