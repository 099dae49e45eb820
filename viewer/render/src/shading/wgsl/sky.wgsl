// The sky as a formula: three colours and soft boxes. Needs frame.wgsl.
//
// `direction` is a unit vector from the scene, world space; the answer is radiance, linear Rec.709.
// The key light is not part of it: its diffuse and specular light are computed from its direction.
// The Rust twin is `sky::radiance`, which fills the cube map and the harmonics.

fn sky_radiance(direction: vec3f) -> vec3f {
    let y = clamp(direction.y, -1.0, 1.0);
    let above = pow(max(y, 0.0), frame.horizon.w);
    // The bounce of the ground sets in quickly: a floor is near.
    let below = 1.0 - pow(1.0 - max(-y, 0.0), 3.0);
    var color = mix(mix(frame.horizon.rgb, frame.zenith.rgb, above), frame.nadir.rgb, below);
    for (var i = 0u; i < min(frame.counts.x, 4u); i++) {
        color += frame.boxes[i].color.rgb * box_cover(frame.boxes[i], direction);
    }
    return color;
}

fn box_cover(box: SoftBox, direction: vec3f) -> f32 {
    let facing = dot(direction, box.direction.xyz);
    if (facing <= 0.01) {
        return 0.0;
    }
    let at = abs(vec2f(dot(direction, box.right.xyz), dot(direction, box.up.xyz))) / facing;
    let from_edge = at / max(vec2f(box.right.w, box.up.w), vec2f(1e-4));
    let soft = max(box.direction.w, 1e-3);
    let cover = 1.0 - smoothstep(vec2f(1.0 - soft), vec2f(1.0 + soft), from_edge);
    return cover.x * cover.y;
}
