//! Materials as networks of shaders around a UsdPreviewSurface.

use std::io::{self, Write};

use characters::Alpha;

use super::{
    Path,
    material::{Look, Materials, Sampled},
    text::{F, Text, Tuple, vec2},
};

/// Writes the scope of all materials, if there are any.
pub(super) fn write(
    materials: &Materials<'_>,
    root: &str,
    text: &mut Text<'_, impl Write>,
) -> io::Result<()> {
    if materials.looks.is_empty() {
        return Ok(());
    }
    text.blank()?;
    text.prim("Scope", "Materials", &[])?;
    let scope = Path(format!("/{root}/Materials"));
    for (look, name) in materials.looks.iter().zip(&materials.names) {
        text.blank()?;
        text.prim("Material", name, &[])?;
        look.write(&scope.child(name), text)?;
        text.close("}")?;
    }
    text.close("}")
}

impl Look<'_> {
    fn write(&self, path: &Path, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let surface = path.child("Surface");
        text.line(format_args!(
            "token outputs:surface.connect = <{surface}.outputs:surface>"
        ))?;
        text.blank()?;
        text.prim("Shader", "Surface", &[])?;
        text.line(format_args!(
            "uniform token info:id = \"UsdPreviewSurface\""
        ))?;
        let material = self.material;
        let [r, g, b, a] = material.base_color;
        let color = Tuple([r, g, b]);
        self.input(
            "color3f",
            "diffuseColor",
            "BaseColor",
            "rgb",
            Some(color),
            path,
            text,
        )?;
        let emissive = Some(Tuple(material.emissive));
        self.input(
            "color3f",
            "emissiveColor",
            "Emissive",
            "rgb",
            emissive,
            path,
            text,
        )?;
        let metallic = Some(F(material.metallic));
        self.input(
            "float",
            "metallic",
            "MetallicRoughness",
            "b",
            metallic,
            path,
            text,
        )?;
        let none = None::<F>;
        self.input("normal3f", "normal", "Normal", "rgb", none, path, text)?;
        let none = None::<F>;
        self.input("float", "occlusion", "Occlusion", "r", none, path, text)?;
        match material.alpha {
            Alpha::Opaque => {}
            Alpha::Mask { cutoff } => {
                self.input("float", "opacity", "BaseColor", "a", Some(F(a)), path, text)?;
                text.line(format_args!(
                    "float inputs:opacityThreshold = {}",
                    F(cutoff)
                ))?;
            }
            Alpha::Blend => {
                self.input("float", "opacity", "BaseColor", "a", Some(F(a)), path, text)?;
            }
        }
        let roughness = Some(F(material.roughness));
        self.input(
            "float",
            "roughness",
            "MetallicRoughness",
            "g",
            roughness,
            path,
            text,
        )?;
        text.line(format_args!("token outputs:surface"))?;
        text.close("}")?;

        for primvar in ["st", "st1"] {
            if self.textures.iter().any(|t| t.primvar == primvar) {
                text.blank()?;
                text.prim("Shader", &format!("Read_{primvar}"), &[])?;
                text.line(format_args!(
                    "uniform token info:id = \"UsdPrimvarReader_float2\""
                ))?;
                text.line(format_args!("string inputs:varname = \"{primvar}\""))?;
                text.line(format_args!("float2 outputs:result"))?;
                text.close("}")?;
            }
        }
        for texture in &self.textures {
            texture.write(path, text)?;
        }
        Ok(())
    }

    /// An input from its texture, or else a value, if there is one.
    #[expect(
        clippy::too_many_arguments,
        reason = "one line of the file, each argument a word of it"
    )]
    fn input(
        &self,
        kind: &str,
        input: &str,
        shader: &str,
        output: &str,
        value: Option<impl std::fmt::Display>,
        path: &Path,
        text: &mut Text<'_, impl Write>,
    ) -> io::Result<()> {
        if self.textures.iter().any(|t| t.name == shader) {
            let shader = path.child(shader);
            text.line(format_args!(
                "{kind} inputs:{input}.connect = <{shader}.outputs:{output}>"
            ))
        } else if let Some(value) = value {
            text.line(format_args!("{kind} inputs:{input} = {value}"))
        } else {
            Ok(())
        }
    }
}

impl Sampled {
    fn write(&self, material: &Path, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let mut coordinates = material.child(&format!("Read_{}", self.primvar));
        if let Some((scale, translation)) = self.moved {
            let name = format!("{}_Moved", self.name);
            text.blank()?;
            text.prim("Shader", &name, &[])?;
            text.line(format_args!("uniform token info:id = \"UsdTransform2d\""))?;
            text.line(format_args!(
                "float2 inputs:in.connect = <{coordinates}.outputs:result>"
            ))?;
            text.line(format_args!("float2 inputs:scale = {}", vec2(scale)))?;
            let translation = vec2(translation);
            text.line(format_args!("float2 inputs:translation = {translation}"))?;
            text.line(format_args!("float2 outputs:result"))?;
            text.close("}")?;
            coordinates = material.child(&name);
        }
        text.blank()?;
        text.prim("Shader", self.name, &[])?;
        text.line(format_args!("uniform token info:id = \"UsdUVTexture\""))?;
        text.line(format_args!("float4 inputs:bias = {}", Tuple(self.bias)))?;
        text.line(format_args!("asset inputs:file = @./{}@", self.path))?;
        text.line(format_args!("float4 inputs:scale = {}", Tuple(self.scale)))?;
        let space = if self.is_srgb { "sRGB" } else { "raw" };
        text.line(format_args!("token inputs:sourceColorSpace = \"{space}\""))?;
        text.line(format_args!(
            "float2 inputs:st.connect = <{coordinates}.outputs:result>"
        ))?;
        let [s, t] = self.wraps;
        text.line(format_args!("token inputs:wrapS = \"{s}\""))?;
        text.line(format_args!("token inputs:wrapT = \"{t}\""))?;
        for output in [
            "float outputs:a",
            "float outputs:b",
            "float outputs:g",
            "float outputs:r",
            "float3 outputs:rgb",
        ] {
            text.line(format_args!("{output}"))?;
        }
        text.close("}")
    }
}
