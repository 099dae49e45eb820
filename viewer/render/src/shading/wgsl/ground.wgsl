// The floor: what touches it darkens it, and lines measure it. Everything else of it is clear.
// Needs frame, light. World space, metres; y = frame.ground.x.
//
// Contact: sphere over plane, dot(n, d) r^2 / |d|^2 (Quilez, "Sphere ambient occlusion"), the sphere
// being the nearest of each capsule. Lines keep a width of a pixel and lose strength instead
// (Golus, "The Best Darn Grid Shader (Yet)", 2021).

struct Floor {
    @builtin(position) clip: vec4f,
    @location(0) position: vec3f,
}

@vertex
fn vs_ground(@builtin(vertex_index) i: u32) -> Floor {
    var corners = array<vec2f, 6>(
        vec2f(-1.0, -1.0), vec2f(-1.0, 1.0), vec2f(1.0, 1.0),
        vec2f(-1.0, -1.0), vec2f(1.0, 1.0), vec2f(1.0, -1.0),
    );
    let xz = frame.camera.xz + corners[i] * frame.ground.y;
    let position = vec3f(xz.x, frame.ground.x, xz.y);
    return Floor(frame.clip_from_world * vec4f(position, 1.0), position);
}

// Cover of lines every `period` metres, `width` metres wide, along x and along z.
fn lines(at: vec2f, pixel: vec2f, period: f32, width: f32) -> vec2f {
    let off = abs(fract(at / period - 0.5) - 0.5) * period;
    let drawn = max(vec2f(width), pixel);
    let cover = 1.0 - smoothstep(0.5 * drawn - 0.75 * pixel, 0.5 * drawn + 0.75 * pixel, off);
    // Where pixels hold several lines, their mean.
    let crowded = clamp(pixel / period * 2.0 - 1.0, vec2f(0.0), vec2f(1.0));
    return mix(cover * width / drawn, vec2f(width / period), crowded);
}

// Cover of the one line through 0.
fn axis_line(at: vec2f, pixel: vec2f, width: f32) -> vec2f {
    let drawn = max(vec2f(width), pixel);
    return (1.0 - smoothstep(0.5 * drawn - 0.75 * pixel, 0.5 * drawn + 0.75 * pixel, abs(at))) * width / drawn;
}

fn contact(p: vec3f) -> f32 {
    var open = 1.0;
    for (var i = 0u; i < min(frame.counts.y, 16u); i++) {
        let a = frame.occluders[2u * i];
        let b = frame.occluders[2u * i + 1u];
        let along = b.xyz - a.xyz;
        let t = clamp(dot(p - a.xyz, along) / max(dot(along, along), 1e-8), 0.0, 1.0);
        let d = a.xyz + along * t - p;
        let r = a.w;
        let square = max(dot(d, d), r * r);
        let cover = clamp(d.y * inverseSqrt(square), 0.0, 1.0) * r * r / square;
        open *= 1.0 - clamp(cover * b.w, 0.0, 0.95);
    }
    return open;
}

fn over(top: vec4f, under: vec4f) -> vec4f {
    return top + under * (1.0 - top.a);
}

@fragment
fn fs_ground(f: Floor) -> @location(0) vec4f {
    let at = f.position.xz;
    let pixel = max(fwidth(at), vec2f(1e-6));
    let away = distance(at, frame.camera.xz) / frame.ground.y;
    let fade = 1.0 - smoothstep(0.15, 0.95, away);

    let up = vec3f(0.0, 1.0, 0.0);
    let key = frame.key_color.w * step(0.05, frame.key_direction.y);
    let lit = mix(1.0, key_visibility(f.position, up, f.clip.xy, 1.2, 0.0), key * 0.75);
    let dark = (1.0 - lit * contact(f.position)) * frame.ground.w * fade;
    let body = frame.ground_color.a * fade;
    var color = vec4f(frame.ground_color.rgb * body, body);
    color = over(vec4f(0.0, 0.0, 0.0, clamp(dark, 0.0, 1.0)), color);

    // Lines across x are where z is a multiple, so cover.x belongs to lines along z.
    let metres = lines(at, pixel, 1.0, 0.008);
    let tenths = lines(at, pixel, 0.1, 0.003);
    let near = 1.0 - smoothstep(0.03, 0.35, away);
    let grey = max(max(metres.x, metres.y) * 0.8, max(tenths.x, tenths.y) * 0.35 * near) * frame.ground.z * fade;
    color = over(vec4f(vec3f(0.55), 1.0) * clamp(grey, 0.0, 1.0), color);
    let axes = axis_line(at, pixel, 0.014) * frame.ground.z * fade;
    color = over(vec4f(0.10, 0.28, 0.85, 1.0) * axes.x, color);
    return over(vec4f(0.75, 0.10, 0.10, 1.0) * axes.y, color);
}
