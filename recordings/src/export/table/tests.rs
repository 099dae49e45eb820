use glam::{Quat, Vec3};
use hub::{
    CameraFrame, CameraStatic, DropFrame, FrameRate, Property, QualifiedFrameTime, Skeleton,
};

use super::*;
use crate::bake::Row;

fn row(frame: i64, data: FrameData, origin: Origin) -> Row {
    let rate = FrameRate::FPS_30;
    Row {
        nanos: rate.nanos_of(frame),
        timecode: QualifiedFrameTime {
            frame: 30 * 3600 + frame,
            sub_frame: 0.25,
            rate,
            drop: DropFrame::NonDrop,
        },
        data,
        origin,
    }
}

fn rows(statics: StaticData, rows: Vec<Row>) -> Rows {
    Rows {
        statics,
        rate: FrameRate::FPS_30,
        timecode_rate: FrameRate::FPS_30,
        rows,
    }
}

fn write(rows: &Rows, space: TableSpace) -> (String, TableReport) {
    let mut out = Vec::new();
    let report = write_table(rows, &mut out, TableOptions { space }).unwrap();
    (String::from_utf8(out).unwrap(), report)
}

#[test]
fn curves_are_a_line_a_row() {
    let statics = StaticData::basic(&["JawOpen", "笑,い", "say \"a\""]);
    let rows = rows(
        statics,
        vec![
            row(0, FrameData::basic(vec![0.1, 1.0, -2.5]), Origin::Recorded),
            row(
                1,
                FrameData::basic(vec![0.0, 1e-7, 3.0]),
                Origin::Interpolated,
            ),
        ],
    );
    let (text, report) = write(&rows, TableSpace::Local);
    assert_eq!(
        text,
        "time_s,timecode,origin,JawOpen,\"笑,い\",\"say \"\"a\"\"\"\n\
         0.000000000,01:00:00:00.250,recorded,0.1,1,-2.5\n\
         0.033333334,01:00:00:01.250,interpolated,0,0.0000001,3\n"
    );
    assert_eq!((report.columns, report.rows), (6, 2));
    assert_eq!(report.names, []);
    assert_eq!(
        report.notes,
        ["1 rows were not recorded; column origin says which"]
    );
}

/// A bone a metre up that is turned a quarter to the left, and one a metre in front of it.
fn two_bones() -> Rows {
    let skeleton = Skeleton {
        bone_names: vec!["腰".to_owned(), "Spine".to_owned()],
        parents: vec![None, Some(0)],
        rest: Vec::new(),
    };
    let quarter = Quat::from_xyzw(0.0, 0.5_f32.sqrt(), 0.0, 0.5_f32.sqrt());
    let bones = vec![
        Transform::new(Vec3::Y, quarter),
        Transform::new(Vec3::Z, Quat::IDENTITY),
    ];
    let data = FrameData {
        body: FrameBody::Animation(bones),
        properties: Vec::new(),
    };
    rows(
        StaticData::animation(skeleton),
        vec![row(0, data, Origin::Recorded)],
    )
}

fn cells(line: &str) -> Vec<f32> {
    line.split(',')
        .skip(3)
        .map(|c| c.parse().unwrap())
        .collect()
}

#[test]
fn bones_are_local_or_in_the_model() {
    let (text, _) = write(&two_bones(), TableSpace::Local);
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "time_s,timecode,origin,腰.px,腰.py,腰.pz,腰.qx,腰.qy,腰.qz,腰.qw,\
         Spine.px,Spine.py,Spine.pz,Spine.qx,Spine.qy,Spine.qz,Spine.qw"
    );
    let spine = &cells(lines.next().unwrap())[7..];
    assert_eq!(spine, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);

    // A quarter turn about +Y takes +Z to +X, the character's left.
    let (text, _) = write(&two_bones(), TableSpace::World);
    let spine = &cells(text.lines().nth(1).unwrap())[7..];
    let half = 0.5_f32.sqrt();
    for (have, want) in spine.iter().zip([1.0, 1.0, 0.0, 0.0, half, 0.0, half]) {
        assert!((have - want).abs() < 1e-6, "{spine:?}");
    }
}

#[test]
fn scale_has_columns_where_there_is_any() {
    let mut rows = two_bones();
    rows.rows[0].data.transforms_mut()[1].scale = Vec3::new(1.0, 2.0, 0.5);
    let (text, report) = write(&rows, TableSpace::Local);
    assert_eq!(report.columns, 3 + 2 * 10);
    assert!(
        text.lines()
            .next()
            .unwrap()
            .ends_with(",Spine.sx,Spine.sy,Spine.sz")
    );
    assert!(text.lines().nth(1).unwrap().ends_with(",1,2,0.5"));
}

#[test]
fn what_a_camera_does_not_measure_is_an_empty_cell() {
    let statics = StaticData {
        body: StaticBody::Camera(CameraStatic::default()),
        properties: vec![Property::linear("camera.px")],
    };
    let camera = CameraFrame {
        transform: Transform::new(Vec3::new(1.0, 2.0, 3.0), Quat::IDENTITY),
        focal_length_mm: Some(35.0),
        ..CameraFrame::default()
    };
    let data = FrameData {
        body: FrameBody::Camera(camera),
        properties: vec![7.0],
    };
    let (text, report) = write(
        &rows(statics, vec![row(0, data, Origin::Held)]),
        TableSpace::World,
    );
    assert_eq!(
        text,
        "time_s,timecode,origin,camera.px,camera.px_2,camera.py,camera.pz,camera.qx,camera.qy,\
         camera.qz,camera.qw,camera.field_of_view_rad,camera.aspect_ratio,camera.focal_length_mm,\
         camera.aperture,camera.focus_distance_m\n\
         0.000000000,01:00:00:00.250,held,7,1,2,3,0,0,0,1,,,35,,\n"
    );
    assert_eq!(
        report.names,
        [("camera.px".to_owned(), "camera.px_2".to_owned())]
    );
}

#[test]
fn a_row_that_does_not_fit_is_refused() {
    let rows = rows(
        StaticData::basic(&["a", "b"]),
        vec![row(0, FrameData::basic(vec![1.0]), Origin::Recorded)],
    );
    let error = write_table(&rows, &mut io::sink(), TableOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0 has 1 properties, the subject has 2"
    );
}
