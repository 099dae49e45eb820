use proptest::prelude::*;

use super::*;

fn layout(mode: Mode, filter: Filter, stride: usize, count: usize) -> Layout {
    Layout {
        mode,
        filter,
        stride,
        count,
    }
}

#[test]
fn the_group_of_the_specification_is_unpacked() {
    // Appendix A, mode 0: sixteen deltas in four bits each, two of them written out.
    let mut packed = vec![0xa0, 0b10];
    packed.extend_from_slice(&[0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5]);
    // The other three bytes of the element never change.
    packed.extend_from_slice(&[0, 0, 0]);
    packed.extend_from_slice(&[0; 28]);
    packed.extend_from_slice(&[100, 1, 2, 3]);
    let deltas = [-1_i8, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0];
    let mut value = 100_u8;
    let mut want = Vec::new();
    for delta in deltas {
        value = value.wrapping_add_signed(delta);
        want.extend_from_slice(&[value, 1, 2, 3]);
    }
    let layout = |count| layout(Mode::Attributes, Filter::None, 4, count);
    assert_eq!(unpack(&packed, layout(16)).unwrap(), want);
    // What a group has beyond the last element is left out.
    assert_eq!(unpack(&packed, layout(9)).unwrap(), want[..36]);
    packed.insert(12, 0);
    assert_eq!(unpack(&packed, layout(16)), Err(LEFT_OVER));
    assert_eq!(unpack(&packed[..30], layout(16)), Err(CUT_SHORT));
    packed[0] = 0xa1;
    assert!(unpack(&packed, layout(16)).is_err());
}

#[test]
fn whole_bytes_and_two_bits_go_on_from_block_to_block() {
    // Elements of 256 bytes: 32 in a block. Only their first byte moves: one up in each element.
    let mut packed = vec![0xa0];
    // Two groups: bytes, then two bits each; zigzag 2 is +1.
    packed.push(0b0111);
    packed.extend_from_slice(&[2; 16]);
    packed.extend_from_slice(&[0b1010_1010; 4]);
    packed.extend_from_slice(&[0; 255]);
    // Another block of one element.
    packed.push(0b11);
    packed.extend_from_slice(&[2; 16]);
    packed.extend_from_slice(&[0; 255]);
    packed.extend_from_slice(&[0; 256]);
    let bytes = unpack(&packed, layout(Mode::Attributes, Filter::None, 256, 33)).unwrap();
    let firsts: Vec<u8> = bytes.iter().step_by(256).copied().collect();
    assert_eq!(firsts, (1..=33).collect::<Vec<u8>>());
    assert!(bytes[1..256].iter().all(|byte| *byte == 0));
}

#[test]
fn every_code_of_triangles_is_unpacked() {
    // Followed by hand from appendix A, mode 1.
    let codes = [0xf0, 0x00, 0x10, 0x01, 0x0f, 0x0d, 0x0e, 0xfe, 0xff];
    let data = [
        0x14, // 0x0f: +10
        0x1f, 0x01, // 0xfe: the most recent vertex, and -1
        0x00, 0x02, // 0xff: begin again at 0, and +1
    ];
    let mut packed = vec![0xe1];
    packed.extend_from_slice(&codes);
    packed.extend_from_slice(&data);
    packed.extend_from_slice(&[0; 16]);
    let want: [u16; 27] = [
        0, 1, 2, 0, 2, 3, 3, 2, 4, 3, 4, 3, 3, 3, 10, 3, 10, 9, 3, 9, 10, 5, 10, 9, 10, 0, 1,
    ];
    let want: Vec<u8> = want.iter().flat_map(|index| index.to_le_bytes()).collect();
    let layout = layout(Mode::Triangles, Filter::None, 2, 27);
    assert_eq!(unpack(&packed, layout).unwrap(), want);
    packed.insert(10, 0);
    assert_eq!(unpack(&packed, layout), Err(LEFT_OVER));
}

#[test]
fn indices_go_on_from_two_baselines() {
    // Appendix A, mode 2: the lowest bit chooses, then zigzag: 4 is +1 of the first, 0x51 is +20 of the second.
    let packed = [0xd1, 0x04, 0x51, 0x04, 0x03, 0x81, 0x04, 0, 0, 0, 0];
    let bytes = unpack(&packed, layout(Mode::Indices, Filter::None, 4, 5)).unwrap();
    // 0x201: second baseline, 0x100 in zigzag is +128; 3 is -1.
    let want = [1_u32, 20, 2, 19, 147];
    let want: Vec<u8> = want.iter().flat_map(|index| index.to_le_bytes()).collect();
    assert_eq!(bytes, want);
    let long = [0xd1, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0];
    assert!(unpack(&long, layout(Mode::Indices, Filter::None, 4, 1)).is_err());
}

#[test]
fn filters_give_unit_vectors_and_floats() {
    // Octahedral, 8 bits: (0, 0) is +Z; (1, 0) is +X; (1, 1) is folded over to −Z.
    let mut bytes = [0, 0, 127, 9, 127, 0, 127, 9, 127, 127, 127, 9];
    undo(Filter::Octahedral, 4, &mut bytes);
    assert_eq!(bytes, [0, 0, 127, 9, 127, 0, 0, 9, 0, 0, 129, 9]);

    // 10 bits in words: 511 is 1; half and half is on the rim.
    let words = |words: &[i16]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let mut bytes = words(&[0, -511, 511, -7]);
    undo(Filter::Octahedral, 8, &mut bytes);
    assert_eq!(bytes, words(&[0, -32767, 0, -7]));

    // Quaternion: nothing but the largest, at index 2; then a quarter turn about X, its w at index 3 left out.
    let one = 2047_i16 & !3;
    let mut bytes = words(&[0, 0, 0, one | 2, 2047, 0, 0, one | 3]);
    undo(Filter::Quaternion, 8, &mut bytes);
    let (turns, _) = bytes.as_chunks::<8>();
    assert_eq!(super::words(turns[0]), [0, 0, 32767, 0]);
    let half = 32767.0 / 2.0_f32.sqrt();
    for (have, want) in super::words(turns[1])
        .into_iter()
        .zip([half, 0.0, 0.0, half])
    {
        assert!((f32::from(have) - want).abs() <= 1.0, "{have} {want}");
    }

    // Exponential: 3 · 2⁻¹, −5 · 2², 0.
    let mut bytes: Vec<u8> = [0xff00_0003_u32, 0x02ff_fffb, 0]
        .iter()
        .flat_map(|bits| bits.to_le_bytes())
        .collect();
    undo(Filter::Exponential, 4, &mut bytes);
    let (floats, _) = bytes.as_chunks::<4>();
    let floats: Vec<f32> = floats.iter().map(|f| f32::from_le_bytes(*f)).collect();
    assert_eq!(floats, [1.5, -20.0, 0.0]);
}

#[test]
fn what_cannot_be_is_refused_before_memory_is_asked_for() {
    let packed = [0xa0; 100];
    for layout in [
        layout(Mode::Attributes, Filter::None, 16, 1_000_000_000),
        layout(Mode::Attributes, Filter::None, 16, usize::MAX),
        layout(Mode::Attributes, Filter::None, 0, 1),
        layout(Mode::Attributes, Filter::None, 6, 1),
        layout(Mode::Attributes, Filter::None, 260, 1),
        layout(Mode::Attributes, Filter::Octahedral, 12, 1),
        layout(Mode::Attributes, Filter::Quaternion, 4, 1),
        layout(Mode::Triangles, Filter::None, 1, 3),
        layout(Mode::Triangles, Filter::None, 2, 4),
        layout(Mode::Triangles, Filter::Exponential, 4, 3),
        layout(Mode::Indices, Filter::None, 8, 3),
    ] {
        assert!(unpack(&packed, layout).is_err(), "{layout:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(
        mut packed in prop::collection::vec(any::<u8>(), 0..300),
        count in 0_usize..100,
    ) {
        for (mode, header) in [(Mode::Attributes, 0xa0), (Mode::Triangles, 0xe1), (Mode::Indices, 0xd1)] {
            if let Some(first) = packed.first_mut() {
                *first = header;
            }
            for filter in [Filter::None, Filter::Octahedral, Filter::Quaternion, Filter::Exponential] {
                for stride in [2, 4, 8] {
                    if let Ok(bytes) = unpack(&packed, layout(mode, filter, stride, count)) {
                        prop_assert_eq!(bytes.len(), stride * count);
                    }
                }
            }
        }
    }
}
