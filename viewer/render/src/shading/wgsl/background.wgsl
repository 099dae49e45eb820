// What is behind everything: a triangle at the far plane. Needs frame, sky.

struct Far {
    @builtin(position) clip: vec4f,
    @location(0) ndc: vec2f,
}

@vertex
fn vs_background(@builtin(vertex_index) i: u32) -> Far {
    let ndc = vec2f(f32((i << 1u) & 2u), f32(i & 2u)) * 2.0 - 1.0;
    return Far(vec4f(ndc, 0.0, 1.0), ndc);
}

@fragment
fn fs_background(f: Far) -> @location(0) vec4f {
    let kind = frame.backdrop.w;
    if (kind < 1.5) {
        return vec4f(frame.backdrop.rgb, 1.0);
    }
    if (kind < 2.5) {
        // A paper roll with a lamp on it: bright a little above the middle, dark at the corners.
        let at = vec2f(f.ndc.x * min(frame.backdrop_edge.w, 1.6), f.ndc.y - 0.15) / vec2f(1.5, 1.25);
        let away = clamp(length(at), 0.0, 1.0);
        return vec4f(mix(frame.backdrop.rgb, frame.backdrop_edge.rgb, away * away * (3.0 - 2.0 * away)), 1.0);
    }
    // Any point of the ray will do, but the far plane is infinitely far: take one half way.
    let p = frame.world_from_clip * vec4f(f.ndc, 0.5, 1.0);
    let ray = normalize(p.xyz / p.w - frame.camera.xyz);
    let key = frame.key_direction;
    let disc = max(key.w, 0.005);
    let angle = acos(clamp(dot(ray, key.xyz), -1.0, 1.0));
    let sun = min(frame.key_color.rgb / (disc * disc), vec3f(MAX_RADIANCE)) * (1.0 - smoothstep(disc * 0.96, disc * 1.04, angle));
    return vec4f(min(sky_radiance(ray) + sun, vec3f(MAX_RADIANCE)), 1.0);
}
