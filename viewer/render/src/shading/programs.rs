//! The shader programs and the parts they are made of.

/// The uniform `frame` and what goes with it, for programs of other rooms.
pub(crate) const FRAME_WGSL: &str = include_str!("wgsl/frame.wgsl");
const SKY: &str = include_str!("wgsl/sky.wgsl");
const BRDF: &str = include_str!("wgsl/brdf.wgsl");
const LIGHT: &str = include_str!("wgsl/light.wgsl");
const MATERIAL: &str = include_str!("wgsl/material.wgsl");
const PBR: &str = include_str!("wgsl/pbr.wgsl");
const SKIN: &str = include_str!("wgsl/skin.wgsl");
const EYE: &str = include_str!("wgsl/eye.wgsl");
const MTOON: &str = include_str!("wgsl/mtoon.wgsl");
const SHADOW: &str = include_str!("wgsl/shadow.wgsl");
const BACKGROUND: &str = include_str!("wgsl/background.wgsl");
const GROUND: &str = include_str!("wgsl/ground.wgsl");
const TONEMAP: &str = include_str!("wgsl/tonemap.wgsl");

/// One shader module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Pbr,
    Skin,
    Eye,
    MToon,
    Shadow,
    Background,
    Ground,
    Tonemap,
}

impl Program {
    /// All, in the order of the enum.
    pub(crate) const ALL: [Self; 8] = [
        Self::Pbr,
        Self::Skin,
        Self::Eye,
        Self::MToon,
        Self::Shadow,
        Self::Background,
        Self::Ground,
        Self::Tonemap,
    ];

    /// Name in the driver's messages.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Pbr => "pbr",
            Self::Skin => "skin",
            Self::Eye => "eye",
            Self::MToon => "mtoon",
            Self::Shadow => "shadow",
            Self::Background => "background",
            Self::Ground => "ground",
            Self::Tonemap => "tonemap",
        }
    }

    fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Pbr => &[FRAME_WGSL, BRDF, LIGHT, MATERIAL, PBR],
            Self::Skin => &[FRAME_WGSL, BRDF, LIGHT, MATERIAL, PBR, SKIN],
            Self::Eye => &[FRAME_WGSL, SKY, BRDF, LIGHT, MATERIAL, PBR, SKIN, EYE],
            Self::MToon => &[FRAME_WGSL, LIGHT, MATERIAL, MTOON],
            Self::Shadow => &[FRAME_WGSL, MATERIAL, SHADOW],
            Self::Background => &[FRAME_WGSL, SKY, BACKGROUND],
            Self::Ground => &[FRAME_WGSL, LIGHT, GROUND],
            Self::Tonemap => &[FRAME_WGSL, TONEMAP],
        }
    }

    /// The WGSL text.
    pub(crate) fn source(self) -> String {
        self.parts().join("\n")
    }
}
