//! Bytes ↔ records of mocopi.
//!
//! A box is `u32 size of the value`, four ASCII letters, the value; the size leaves out these eight bytes.
//! All little-endian. Containers hold boxes:
//!
//! ```text
//! head: ftyp "sony motion format"  vrsn u8 = 1
//! sndf: ipad 8 bytes, meaning unknown  rcvp u16 = 12351
//! skdf: bons: n × bndt: bnid u16  pbid i16 (−1 = none)  tran
//!   or
//! fram: fnum u32  time f32 seconds  [uttm f64 Unix seconds]  btrs: n × btdt: bnid u16  tran
//!
//! tran = 7 × f32: rotation x y z w, translation x y z, local to the parent
//! ```
//!
//! With 27 bones a `skdf` packet has 1821 bytes, a `fram` packet 1591, or 1575 from firmware before late 2023,
//! which has no `uttm`. Boxes that are not named here are skipped without looking inside, so that what is read
//! is never nested deeper than four boxes, whatever the bytes say.
//!
//! Sources: `seagetch/mcp-receiver doc/Protocol.md`; `t-34400/mocopi_protocol_supplement` (layout and the two sample
//! packets the tests follow); `MizunagiKB/gd_mocopi`; `nariakiiwatani/ofxMocopiReceiver`; `FOURIER-Inc/mocopi-parser`.

use crate::{error::Reject, reader::Reader};

/// Most bones taken. The app sends 27.
pub const MAX_BONES: usize = 64;
/// Longest datagram accepted; the longest known has 1821 bytes.
pub const MAX_DATAGRAM: usize = 8192;
/// Bone ids are below this.
pub(super) const MAX_BONE_ID: usize = 256;

const FORMAT: &[u8] = b"sony motion format";
/// Furthest a bone may be from its parent, and the root from the origin, in metres.
const MAX_OFFSET_M: f32 = 10.0;
const MAX_ROOT_M: f32 = 1000.0;

/// One bone as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bone {
    /// Number of the bone, below 256.
    pub id: u16,
    /// Number of its parent; `None` for a root, and in frames, which do not repeat it.
    pub parent: Option<u16>,
    /// Rotation x, y, z, w, `parent_from_local`; finite, its length not yet judged.
    pub rotation: [f32; 4],
    /// Metres; finite and within bounds.
    pub translation: [f32; 3],
}

/// Bones with distinct ids, at most [`MAX_BONES`], in memory of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Bones {
    bones: [Bone; MAX_BONES],
    len: usize,
}

impl Default for Bones {
    fn default() -> Self {
        Self {
            bones: [Bone::default(); MAX_BONES],
            len: 0,
        }
    }
}

impl Bones {
    /// The bones.
    pub fn as_slice(&self) -> &[Bone] {
        self.bones.get(..self.len).unwrap_or(&[])
    }

    fn push(&mut self, bone: Bone) -> Result<(), Reject> {
        if self.as_slice().iter().any(|b| b.id == bone.id) {
            return Err(Reject::OutOfRange {
                what: "count of one bone id",
                have: 2,
                min: 1,
                max: 1,
            });
        }
        let place = self.bones.get_mut(self.len).ok_or(out_of_range(
            "bone count",
            MAX_BONES as i64 + 1,
            1,
            MAX_BONES as i64,
        ))?;
        *place = bone;
        self.len += 1;
        Ok(())
    }

    /// The same bones, parents before children; `None` when a parent is missing or its own descendant.
    fn parents_first(&self) -> Option<Self> {
        let mut sorted = Self::default();
        let mut placed = [false; MAX_BONE_ID];
        let is_placed = |placed: &[bool], id: u16| placed.get(usize::from(id)) == Some(&true);
        while sorted.len < self.len {
            let before = sorted.len;
            for bone in self.as_slice() {
                let ready = bone.parent.is_none_or(|p| is_placed(&placed, p));
                if ready && !is_placed(&placed, bone.id) {
                    sorted.push(*bone).ok()?;
                    *placed.get_mut(usize::from(bone.id))? = true;
                }
            }
            if sorted.len == before {
                return None;
            }
        }
        Some(sorted)
    }
}

/// A `fram` box.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// `fnum`: counts up.
    pub number: u32,
    /// `time` as sent: f32 seconds. Two older readers took the four bytes for an integer.
    pub time_secs: f32,
    /// `uttm`: Unix seconds; absent from older firmware. Not yet judged.
    pub unix_secs: Option<f64>,
    /// The pose.
    pub bones: Bones,
}

/// One datagram's boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// `vrsn`; 1 is known, others are read as if they were.
    pub version: u8,
    /// `skdf`: the T-pose, parents before children.
    pub skeleton: Option<Bones>,
    /// `fram`.
    pub motion: Option<Motion>,
}

fn out_of_range(what: &'static str, have: i64, min: i64, max: i64) -> Reject {
    Reject::OutOfRange {
        what,
        have,
        min,
        max,
    }
}

/// One box; `at` is where its value starts in the datagram.
struct TaggedBox<'a> {
    tag: [u8; 4],
    value: &'a [u8],
    at: usize,
}

impl<'a> TaggedBox<'a> {
    fn boxes(&self) -> Boxes<'a> {
        Boxes {
            bytes: self.value,
            at: self.at,
        }
    }

    /// A value of known length.
    fn exact<const N: usize>(&self) -> Result<[u8; N], Reject> {
        self.value.try_into().map_err(|_cause| Reject::WrongLength {
            want: N,
            have: self.value.len(),
        })
    }
}

/// The boxes of one container, until its end or the first fault.
struct Boxes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Boxes<'a> {
    fn read(&mut self) -> Result<TaggedBox<'a>, Reject> {
        let here = self.at;
        let absolute = |reject: Reject| match reject {
            Reject::Short { at, needed, have } => Reject::Short {
                at: here + at,
                needed,
                have,
            },
            other => other,
        };
        let mut r = Reader::new(self.bytes);
        let size = r.u32_le().map_err(absolute)? as usize;
        let tag = r.array().map_err(absolute)?;
        let value = r.take(size).map_err(absolute)?;
        let at = here + 8;
        self.at = at + size;
        self.bytes = r.take(r.left())?;
        Ok(TaggedBox { tag, value, at })
    }
}

impl<'a> Iterator for Boxes<'a> {
    type Item = Result<TaggedBox<'a>, Reject>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let outcome = self.read();
        if outcome.is_err() {
            self.bytes = &[];
        }
        Some(outcome)
    }
}

fn missing(at: usize, expected: &'static str) -> Reject {
    Reject::Syntax { at, expected }
}

impl Packet {
    /// Reads the boxes of a datagram.
    ///
    /// # Errors
    /// Not this format, a box that leaves its container, a field of a wrong length or outside its bounds, bones that
    /// form no tree, or neither a skeleton nor a frame.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reject> {
        if bytes.len() > MAX_DATAGRAM {
            return Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: bytes.len(),
            });
        }
        let mut boxes = Boxes { bytes, at: 0 };
        let head = match boxes.next() {
            Some(Ok(b)) if b.tag == *b"head" => b,
            // Cut within its very first box, or another protocol: told apart by the tag.
            Some(Err(cause)) if bytes.get(4..8) == Some(&b"head"[..]) => return Err(cause),
            _ => return Err(Reject::BadMagic),
        };
        let mut packet = Self::default();
        let mut is_ours = false;
        for inner in head.boxes() {
            let inner = inner?;
            match &inner.tag {
                b"ftyp" => is_ours = inner.value == FORMAT,
                b"vrsn" => packet.version = u8::from_le_bytes(inner.exact()?),
                _ => {}
            }
        }
        if !is_ours {
            return Err(Reject::BadMagic);
        }
        for outer in boxes {
            let outer = outer?;
            match &outer.tag {
                b"skdf" => packet.skeleton = Some(skeleton(&outer)?),
                b"fram" => packet.motion = Some(motion(&outer)?),
                _ => {}
            }
        }
        if packet.skeleton.is_none() && packet.motion.is_none() {
            return Err(missing(bytes.len(), "a box skdf or fram"));
        }
        Ok(packet)
    }
}

fn skeleton(outer: &TaggedBox<'_>) -> Result<Bones, Reject> {
    let mut bones = Bones::default();
    for list in outer.boxes() {
        let list = list?;
        if list.tag == *b"bons" {
            read_bones(&list, *b"bndt", true, &mut bones)?;
        }
    }
    if bones.len == 0 {
        return Err(out_of_range("bone count", 0, 1, MAX_BONES as i64));
    }
    bones
        .parents_first()
        .ok_or(missing(outer.at, "bones that form a tree"))
}

fn motion(outer: &TaggedBox<'_>) -> Result<Motion, Reject> {
    let mut motion = Motion::default();
    let mut has_number = false;
    for inner in outer.boxes() {
        let inner = inner?;
        match &inner.tag {
            b"fnum" => {
                motion.number = u32::from_le_bytes(inner.exact()?);
                has_number = true;
            }
            b"time" => motion.time_secs = f32::from_le_bytes(inner.exact()?),
            b"uttm" => motion.unix_secs = Some(f64::from_le_bytes(inner.exact()?)),
            b"btrs" => read_bones(&inner, *b"btdt", false, &mut motion.bones)?,
            _ => {}
        }
    }
    if !has_number {
        return Err(missing(outer.at, "a box fnum"));
    }
    if motion.bones.len == 0 {
        return Err(out_of_range("bone count", 0, 1, MAX_BONES as i64));
    }
    Ok(motion)
}

fn read_bones(
    list: &TaggedBox<'_>,
    tag: [u8; 4],
    with_parents: bool,
    bones: &mut Bones,
) -> Result<(), Reject> {
    for entry in list.boxes() {
        let entry = entry?;
        if entry.tag == tag {
            let bone = read_bone(&entry, with_parents, bones.len)?;
            bones.push(bone)?;
        }
    }
    Ok(())
}

fn read_bone(entry: &TaggedBox<'_>, with_parent: bool, index: usize) -> Result<Bone, Reject> {
    let (mut id, mut parent, mut transform) = (None, None, None);
    for field in entry.boxes() {
        let field = field?;
        match &field.tag {
            b"bnid" => id = Some(u16::from_le_bytes(field.exact()?)),
            b"pbid" => parent = Some(i16::from_le_bytes(field.exact()?)),
            b"tran" => transform = Some(field.exact::<28>()?),
            _ => {}
        }
    }
    let id = id.ok_or(missing(entry.at, "a box bnid"))?;
    if usize::from(id) >= MAX_BONE_ID {
        return Err(out_of_range("bone id", i64::from(id), 0, 255));
    }
    let parent = match (with_parent, parent) {
        (false, _) | (true, Some(-1)) => None,
        (true, Some(p @ 0..=255)) => Some(p.cast_unsigned()),
        (true, Some(p)) => return Err(out_of_range("parent bone id", i64::from(p), -1, 255)),
        (true, None) => return Err(missing(entry.at, "a box pbid")),
    };
    let transform = transform.ok_or(missing(entry.at, "a box tran"))?;
    let mut values = [0.0; 7];
    for (value, bytes) in values.iter_mut().zip(transform.as_chunks::<4>().0) {
        *value = f32::from_le_bytes(*bytes);
    }
    if let Some(at) = values.iter().position(|v| !v.is_finite()) {
        return Err(Reject::NonFinite { at: index * 7 + at });
    }
    let [qx, qy, qz, qw, x, y, z] = values;
    let limit = if id == 0 { MAX_ROOT_M } else { MAX_OFFSET_M };
    if let Some(far) = [x, y, z].into_iter().find(|v| v.abs() > limit) {
        let limit = limit as i64;
        return Err(out_of_range(
            "bone position in metres",
            far as i64,
            -limit,
            limit,
        ));
    }
    Ok(Bone {
        id,
        parent,
        rotation: [qx, qy, qz, qw],
        translation: [x, y, z],
    })
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A box, by the layout above.
    pub(in crate::mocopi) fn boxed(tag: &str, value: &[u8]) -> Vec<u8> {
        let mut b = (value.len() as u32).to_le_bytes().to_vec();
        b.extend(tag.as_bytes());
        b.extend(value);
        b
    }

    pub(in crate::mocopi) fn header() -> Vec<u8> {
        let head = [boxed("ftyp", FORMAT), boxed("vrsn", &[1])].concat();
        let sndf = [boxed("ipad", &[9; 8]), boxed("rcvp", &[0x3f, 0x30])].concat();
        [boxed("head", &head), boxed("sndf", &sndf)].concat()
    }

    fn tran(bone: &Bone) -> Vec<u8> {
        let values = bone.rotation.iter().chain(&bone.translation);
        boxed(
            "tran",
            &values.flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
        )
    }

    pub(in crate::mocopi) fn skdf(bones: &[Bone]) -> Vec<u8> {
        let bons: Vec<u8> = bones
            .iter()
            .flat_map(|b| {
                let parent = b.parent.map_or(-1, |p| p as i16);
                let fields = [
                    boxed("bnid", &b.id.to_le_bytes()),
                    boxed("pbid", &parent.to_le_bytes()),
                    tran(b),
                ];
                boxed("bndt", &fields.concat())
            })
            .collect();
        [header(), boxed("skdf", &boxed("bons", &bons))].concat()
    }

    pub(in crate::mocopi) fn fram(
        number: u32,
        time: [u8; 4],
        unix_secs: Option<f64>,
        bones: &[Bone],
    ) -> Vec<u8> {
        let btrs: Vec<u8> = bones
            .iter()
            .flat_map(|b| {
                let fields = [boxed("bnid", &b.id.to_le_bytes()), tran(b)];
                boxed("btdt", &fields.concat())
            })
            .collect();
        let uttm = unix_secs.map_or(Vec::new(), |s| boxed("uttm", &s.to_le_bytes()));
        let fields = [
            boxed("fnum", &number.to_le_bytes()),
            boxed("time", &time),
            uttm,
            boxed("btrs", &btrs),
        ];
        [header(), boxed("fram", &fields.concat())].concat()
    }

    pub(in crate::mocopi) fn bone(id: u16, parent: Option<u16>) -> Bone {
        Bone {
            id,
            parent,
            rotation: [0.0, 0.0, 0.0, 1.0],
            translation: [0.0, 0.1, 0.0],
        }
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// The beginning of a skdf packet as the fact sheet prints it, with sizes for one bone.
    fn golden_skdf() -> Vec<u8> {
        hex(
            "23000000 68656164 12000000 66747970 736f6e79206d6f74696f6e20666f726d6174
             01000000 7672736e 01
             1a000000 736e6466 08000000 69706164 e9fd1abe2c000000 02000000 72637670 3f30
             48000000 736b6466 40000000 626f6e73 38000000 626e6474
             02000000 626e6964 0000 02000000 70626964 ffff
             1c000000 7472616e 00000080 00000000 00000080 000080bf 00000000 6fd46e3f 00000000",
        )
    }

    #[test]
    fn golden_bytes_read_as_the_layout_says() {
        let packet = Packet::parse(&golden_skdf()).unwrap();
        assert_eq!((packet.version, &packet.motion), (1, &None));
        let bones = packet.skeleton.unwrap();
        let [root] = bones.as_slice() else {
            panic!("one bone");
        };
        assert_eq!((root.id, root.parent), (0, None));
        assert_eq!(root.rotation, [0.0, 0.0, 0.0, -1.0]);
        assert!((root.translation[1] - 0.9329).abs() < 1e-4);

        let fram = hex(
            "23000000 68656164 12000000 66747970 736f6e79206d6f74696f6e20666f726d6174
             01000000 7672736e 01
             1a000000 736e6466 08000000 69706164 e9fd1abe2c000000 02000000 72637670 3f30
             66000000 6672616d 04000000 666e756d 01000000 04000000 74696d65 00000000
             08000000 7574746d 4149a3ed8563d941 36000000 62747273
             2e000000 62746474 02000000 626e6964 0000
             1c000000 7472616e 00000080 00000000 00000080 000080bf 00000000 6fd46e3f 00000000",
        );
        let motion = Packet::parse(&fram).unwrap().motion.unwrap();
        assert_eq!((motion.number, motion.time_secs), (1, 0.0));
        assert!((motion.unix_secs.unwrap() - 1_703_810_998.551).abs() < 1e-3);
        assert_eq!(motion.bones.as_slice(), [*root]);
    }

    #[test]
    fn twenty_seven_bones_give_the_published_packet_sizes() {
        let bones: Vec<Bone> = (0..27).map(|i| bone(i, i.checked_sub(1))).collect();
        assert_eq!(skdf(&bones).len(), 1821);
        assert_eq!(fram(1, [0; 4], Some(0.0), &bones).len(), 1591);
        assert_eq!(fram(1, [0; 4], None, &bones).len(), 1575);
    }

    #[test]
    fn unknown_boxes_and_versions_pass_and_children_may_stand_first() {
        let mut bytes = [
            skdf(&[bone(1, Some(0)), bone(0, None)]),
            boxed("newb", &[1; 9]),
        ]
        .concat();
        let version = 8 + 8 + FORMAT.len() + 8;
        assert_eq!(bytes[version], 1);
        bytes[version] = 2;
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!(packet.version, 2);
        let ids: Vec<u16> = packet
            .skeleton
            .unwrap()
            .as_slice()
            .iter()
            .map(|b| b.id)
            .collect();
        assert_eq!(ids, [0, 1]);
    }

    #[test]
    fn each_fault_is_named() {
        let check = |bytes: &[u8], expected: Reject| {
            assert_eq!(Packet::parse(bytes), Err(expected));
        };
        check(&[], Reject::BadMagic);
        check(b"\x06\0\0\0\x24device", Reject::BadMagic);
        check(
            &boxed("head", &boxed("ftyp", b"another format....")),
            Reject::BadMagic,
        );
        let len = header().len();
        check(&header(), missing(len, "a box skdf or fram"));
        check(
            &skdf(&[bone(0, None), bone(0, None)]),
            out_of_range("count of one bone id", 2, 1, 1),
        );
        check(
            &skdf(&[bone(0, Some(1)), bone(1, Some(0))]),
            missing(len + 8, "bones that form a tree"),
        );
        check(
            &skdf(&[bone(0, Some(7))]),
            missing(len + 8, "bones that form a tree"),
        );
        check(&skdf(&[]), out_of_range("bone count", 0, 1, 64));
        check(
            &skdf(&[bone(256, None)]),
            out_of_range("bone id", 256, 0, 255),
        );
        check(
            &skdf(&[bone(0, Some(300))]),
            out_of_range("parent bone id", 300, -1, 255),
        );
        let many: Vec<Bone> = (0..65).map(|i| bone(i, None)).collect();
        check(&skdf(&many), out_of_range("bone count", 65, 1, 64));
        let nan = Bone {
            rotation: [0.0, f32::NAN, 0.0, 1.0],
            ..bone(1, Some(0))
        };
        check(&skdf(&[bone(0, None), nan]), Reject::NonFinite { at: 8 });
        let far = Bone {
            translation: [0.0, -11.0, 0.0],
            ..bone(1, Some(0))
        };
        check(
            &skdf(&[bone(0, None), far]),
            out_of_range("bone position in metres", -11, -10, 10),
        );
        let walked_far = Bone {
            translation: [900.0, 0.0, 0.0],
            ..bone(0, None)
        };
        assert!(
            Packet::parse(&skdf(&[walked_far])).is_ok(),
            "a root may travel"
        );
        check(
            &[0; MAX_DATAGRAM + 1],
            Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: MAX_DATAGRAM + 1,
            },
        );
    }

    #[test]
    fn a_size_never_reaches_beyond_its_container() {
        // The last `tran` says it is longer: its bone ends, the datagram goes on.
        let mut bytes = [skdf(&[bone(0, None)]), boxed("tail", &[0; 64])].concat();
        let size = bytes.len() - 72 - 36;
        assert_eq!(bytes[size..size + 8], *b"\x1c\0\0\0tran");
        bytes[size] = 0x1d;
        assert!(matches!(
            Packet::parse(&bytes),
            Err(Reject::Short { needed: 29, have: 28, at }) if at == size + 8
        ));
        for huge in [u32::MAX, i32::MAX as u32, 0x8000_0000] {
            let mut bytes = skdf(&[bone(0, None)]);
            bytes[..4].copy_from_slice(&huge.to_le_bytes());
            assert!(matches!(Packet::parse(&bytes), Err(Reject::Short { .. })));
        }
    }

    #[test]
    fn boxes_within_boxes_without_end_are_not_followed() {
        let mut nested = Vec::new();
        while nested.len() < 4000 {
            nested = boxed("skdf", &nested);
        }
        let bytes = [header(), nested].concat();
        assert_eq!(
            Packet::parse(&bytes),
            Err(out_of_range("bone count", 0, 1, 64))
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let _ = Packet::parse(&bytes);
            let _ = Packet::parse(&[header(), bytes].concat());
        }

        #[test]
        fn no_change_of_a_good_packet_panics(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            for mut bytes in [
                skdf(&[bone(0, None), bone(1, Some(0)), bone(2, Some(1))]),
                fram(7, [0; 4], Some(1.7e9), &[bone(0, None), bone(1, None)]),
            ] {
                for (at, value) in &changes {
                    let at = at.index(bytes.len());
                    bytes[at] = *value;
                }
                let _ = Packet::parse(&bytes);
                let _ = Packet::parse(&bytes[..cut.index(bytes.len())]);
            }
        }
    }
}
