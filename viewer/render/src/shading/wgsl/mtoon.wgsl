// VRMC_materials_mtoon 1.0, by its own formulas. Needs frame, light, material.
//
// - `lightColor` is the key light's (see frame.wgsl for its unit), its shadow multiplies `shading`;
//   fill and rim lights do not shine on toon surfaces. `rawGi` is the sky's irradiance / pi.
// - The specification's text says that lit parts show the base colour; its pseudo code swaps the
//   two operands of lerp. The text is followed.
// - The matcap's v is turned, for glTF images begin at the top: a normal that points up reads the top.
// - Vertex colours are ignored, as the specification says.

// UV of a slot: animation first, then KHR_texture_transform.
fn toon_uv(slot: u32, uvs: vec4f, mask: f32) -> vec2f {
    let time = frame.camera.w * mask;
    let angle = material.animation.x * time;
    let c = cos(angle);
    let s = sin(angle);
    let p = slot_set(slot, uvs) - 0.5;
    let turned = vec2f(c * p.x + s * p.y, c * p.y - s * p.x) + 0.5;
    return slot_transform(slot, turned + material.outline_more.zw * time);
}

struct Toon {
    color: vec3f,
    alpha: f32,
}

fn toon(s: Surface, front: bool) -> Toon {
    let mask = textureSample(mask_texture, mask_sampler, slot_uv(8u, s.uvs)).b;
    let base = material.base_color * textureSample(base_texture, base_sampler, toon_uv(0u, s.uvs, mask));
    let shade = material.shade.rgb * textureSample(surface_texture, surface_sampler, toon_uv(3u, s.uvs, mask)).rgb;
    let shift_texel = textureSample(occlusion_texture, occlusion_sampler, toon_uv(4u, s.uvs, mask)).r;
    let rim_texel = textureSample(rim_texture, rim_sampler, toon_uv(6u, s.uvs, mask)).rgb;
    let glow = material.emissive.rgb * textureSample(emissive_texture, emissive_sampler, toon_uv(2u, s.uvs, mask)).rgb;
    let face = face_normal(s, front);
    let n = mapped_normal(s, face, toon_uv(1u, s.uvs, mask));
    let v = normalize(frame.camera.xyz - s.position);

    // Matcap, in the axes of the view at this point.
    let view_x = normalize(vec3f(v.z, 0.0, -v.x) + vec3f(1e-6, 0.0, 0.0));
    let view_y = cross(v, view_x);
    let matcap_uv = vec2f(dot(view_x, n), -dot(view_y, n)) * 0.495 + 0.5;
    let matcap_texel = textureSample(matcap_texture, matcap_sampler, matcap_uv).rgb;

    // Direct light.
    let key = key_light();
    var shading = dot(n, key.direction) + material.shade.w;
    shading += select(0.0, shift_texel * material.toon.z, slot_used(4u));
    let half_width = max(1.0 - material.toon.x, 1e-4);
    shading = clamp((shading + half_width) / (2.0 * half_width), 0.0, 1.0);
    shading *= key_shadow(s.position, face, s.clip.xy, 0.15, 0.004);
    var color = mix(shade, base.rgb, shading) * key.color;

    // Global illumination.
    let even = 0.5 * (sky_diffuse(vec3f(0.0, 1.0, 0.0)) + sky_diffuse(vec3f(0.0, -1.0, 0.0)));
    let gi = mix(sky_diffuse(n), even, material.toon.y);
    color += gi * base.rgb;
    color += glow;

    // Rim.
    var rim = material.matcap.rgb * select(vec3f(0.0), matcap_texel, slot_used(5u));
    let lifted = clamp(1.0 - dot(n, v) + material.rim.w, 0.0, 1.0);
    rim += pow(max(lifted, 1e-5), max(material.matcap.w, 1e-5)) * material.rim.rgb;
    rim *= rim_texel * mix(vec3f(1.0), key.color + gi, material.toon.w);
    return Toon(color + rim, base.a);
}

@fragment
fn fs_mtoon(s: Surface, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let t = toon(s, front);
    return finished(t.color, t.alpha);
}

// The hull of the outline: the surface moved along its normal, of which only back faces are drawn.
@vertex
fn vs_outline(v: VertexIn) -> Surface {
    var out = surface(v);
    let mask = textureSampleLevel(mask_texture, mask_sampler, slot_uv(8u, out.uvs), 0.0).b;
    let share = textureSampleLevel(width_texture, width_sampler, toon_uv(7u, out.uvs, mask), 0.0).g;
    let width = material.outline.w * share;
    let n = v.normal / max(length(v.normal), 1e-6);
    if (material.outline_more.y < 1.5) {
        out.clip = frame.clip_from_world * vec4f(v.position + n * width, 1.0);
    } else {
        // Width in heights of the target; clip space is two high.
        let aspect = frame.viewport.x * frame.viewport.w;
        let along = (frame.clip_from_world * vec4f(n, 0.0)).xy * vec2f(aspect, 1.0);
        let step = along / max(length(along), 1e-6) * 2.0 * width / vec2f(aspect, 1.0);
        out.clip = vec4f(out.clip.xy + step * out.clip.w, out.clip.zw);
    }
    return out;
}

@fragment
fn fs_outline(s: Surface) -> @location(0) vec4f {
    // Back faces of the hull stand for the rim of the front: lit as if they faced the viewer.
    let t = toon(s, true);
    let lit = mix(vec3f(1.0), t.color, material.outline_more.x);
    return finished(material.outline.rgb * lit, t.alpha);
}
