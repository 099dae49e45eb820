//! Lip sync against speech of known timing: samples/audio of the folder in `GHOSTLIGHT_SAMPLES`.
//!
//! Nothing of it was heard in training. espeak-ng names the instant of release as the start of a p or b,
//! with the closure before it in the phone before; alignments of recordings give the closure its place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use retarget::voice::{VISEMES, VoiceFrame, VoiceOptions, VoiceSource};
use tests::counting::count;

const VOWELS: [&str; 5] = ["aa", "E", "ih", "oh", "ou"];
/// Index of p, b, m.
const PP: usize = 1;

struct Phone {
    start: f64,
    end: f64,
    name: String,
}

struct Clip {
    name: String,
    rate: u32,
    samples: Vec<f32>,
    phones: Vec<Phone>,
    is_ipa: bool,
}

fn clips() -> Vec<Clip> {
    let samples = std::env::var_os("GHOSTLIGHT_SAMPLES").expect("the folder of samples");
    let folder = PathBuf::from(samples).join("audio");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| clip(path)).collect()
}

/// The clip whose phones are in the file at `path`, if it is such a file.
fn clip(path: &Path) -> Option<Clip> {
    let name = path.file_name()?.to_str()?.to_owned();
    let (stem, is_json) = match name.strip_suffix(".json") {
        Some(stem) => (stem, true),
        None => (name.strip_suffix(".psdur.txt")?, false),
    };
    let text = fs::read_to_string(path).unwrap();
    let mut is_ipa = false;
    let phones = if is_json {
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        is_ipa = document["notation"] == "IPA";
        let phone = |p: &serde_json::Value| Phone {
            start: p["start"].as_f64().unwrap(),
            end: p["end"].as_f64().unwrap(),
            name: p["ph"].as_str().unwrap().to_owned(),
        };
        let all = document["phonemes"].as_array().unwrap();
        all.iter().map(phone).collect()
    } else {
        let mut start = 0.0;
        let phone = |word: &str| {
            let (name, end) = word.rsplit_once(':').unwrap();
            let end = end.parse().unwrap();
            let phone = Phone {
                start,
                end,
                name: name.to_owned(),
            };
            start = end;
            phone
        };
        text.split_whitespace().map(phone).collect()
    };
    let mut wav = hound::WavReader::open(path.with_file_name(format!("{stem}.wav"))).unwrap();
    Some(Clip {
        name: stem.to_owned(),
        rate: wav.spec().sample_rate,
        samples: wav
            .samples::<i16>()
            .map(|s| f32::from(s.unwrap()) / 32_768.0)
            .collect(),
        phones,
        is_ipa,
    })
}

/// Which of [`VOWELS`] a phone is; none for consonants, diphthongs, schwa and r-coloured vowels.
fn vowel_of(phone: &str, is_ipa: bool) -> Option<usize> {
    let of = |name: &str| VOWELS.iter().position(|v| *v == name);
    if !is_ipa {
        return of(match phone.to_uppercase().as_str() {
            "AA" | "AE" | "AH" => "aa",
            "EH" => "E",
            "IH" | "IY" => "ih",
            "AO" => "oh",
            "UH" | "UW" => "ou",
            _ => return None,
        });
    }
    let mut letters = phone.chars().filter(|c| !"ːˈˌ".contains(*c));
    let (letter, None) = (letters.next()?, letters.next()) else {
        return None;
    };
    of(match letter {
        'ɑ' | 'a' | 'ɐ' | 'ʌ' | 'æ' => "aa",
        'ɛ' | 'e' => "E",
        'i' | 'ɪ' | 'ᵻ' | 'ɨ' => "ih",
        'o' | 'ɔ' | 'ɒ' | 'ø' | 'œ' => "oh",
        'u' | 'ʊ' | 'ɯ' | 'y' | 'ʏ' => "ou",
        _ => return None,
    })
}

/// Whether the phone is one of p, b, m, alone.
fn closes_the_lips(phone: &str) -> bool {
    matches!(phone, "p" | "b" | "m" | "P" | "B" | "M")
}

fn frames_of(clip: &Clip) -> Vec<(f64, VoiceFrame)> {
    let mut source = VoiceSource::new(clip.rate, VoiceOptions::default()).unwrap();
    let mut frames = Vec::new();
    let mut each = |at: i64, frame: &VoiceFrame| frames.push((at as f64 / 1e9, *frame));
    source.push(&clip.samples, &mut each);
    source.finish(&mut each);
    frames
}

#[test]
#[ignore = "needs the sample files"]
fn lips_close_on_time_and_vowels_are_told() {
    assert_eq!(VISEMES[PP], "PP");
    let (mut closed, mut closures, mut shut_vowels, mut long_vowels) = (0, 0, 0, 0);
    let mut confusion = [[0_u32; 5]; 5];
    for clip in clips() {
        let frames = frames_of(&clip);
        let within = |from: f64, to: f64| {
            frames
                .iter()
                .filter(move |(at, _)| (from..=to).contains(at))
                .map(|(_, frame)| frame)
        };
        for phone in &clip.phones {
            let length = phone.end - phone.start;
            let (from, to) = (phone.start + 0.25 * length, phone.end - 0.25 * length);
            if closes_the_lips(&phone.name) {
                closures += 1;
                // Shut by the closure itself, not by a silence.
                let is_met = within(phone.start - 0.04, phone.end + 0.04)
                    .any(|f| f.lip_gap() < 0.06 && f.visemes[PP] > 0.3);
                if is_met {
                    closed += 1;
                } else {
                    println!("open: {} {} at {:.3} s", clip.name, phone.name, phone.start);
                }
            } else if let Some(wanted) = vowel_of(&phone.name, clip.is_ipa) {
                let mut sums = [0.0_f32; 5];
                for frame in within(from - 0.006, to + 0.006) {
                    for (sum, weight) in sums.iter_mut().zip(&frame.visemes[10..]) {
                        *sum += weight;
                    }
                }
                let got = (0..5).max_by(|a, b| f32::total_cmp(&sums[*a], &sums[*b]));
                confusion[wanted][got.unwrap()] += 1;
                if length > 0.05 {
                    long_vowels += 1;
                    shut_vowels += u32::from(within(from, to).any(|f| f.lip_gap() < 0.06));
                }
            }
        }
    }
    let right: u32 = (0..5).map(|i| confusion[i][i]).sum();
    let vowels: u32 = confusion.iter().flatten().sum();
    println!("closures met within 40 ms: {closed} of {closures}");
    println!("vowels with closed lips in the middle: {shut_vowels} of {long_vowels}");
    println!("vowel class right: {right} of {vowels}; rows said, columns heard, {VOWELS:?}");
    for row in confusion {
        println!("{row:?}");
    }
    assert!(closures >= 23 && vowels >= 44, "{closures} {vowels}");
    assert!(f64::from(closed) > 0.9 * f64::from(closures));
    assert!(f64::from(right) >= 0.7 * f64::from(vowels));
    assert!(f64::from(shut_vowels) <= 0.1 * f64::from(long_vowels));
}

#[test]
fn a_voice_does_not_allocate() {
    let mut source = VoiceSource::new(48_000, VoiceOptions::default()).unwrap();
    let samples: Vec<f32> = (0..4_800).map(|i| (i as f32 * 0.05).sin() * 0.3).collect();
    let mut frames = 0;
    let ((), allocations, _) = count(|| {
        source.push(&samples, &mut |_, _| frames += 1);
        source.finish(&mut |_, _| frames += 1);
    });
    // Of 100 ms and the silence at the end.
    assert_eq!((frames, allocations), (11, 0));
}
