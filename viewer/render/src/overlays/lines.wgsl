// Lines of an even width on the screen. Needs frame. Colours come out multiplied by their alpha.

struct Line {
    @builtin(position) clip: vec4f,
    @location(0) color: vec4f,
}

@vertex
fn vs_line(
    @builtin(vertex_index) corner: u32,
    @location(0) a: vec3f,
    @location(1) b: vec3f,
    @location(2) color: vec4f,
    @location(3) width: f32,
) -> Line {
    var p = frame.clip_from_world * vec4f(a, 1.0);
    var q = frame.clip_from_world * vec4f(b, 1.0);
    // Before the camera: what is behind it would be mirrored through it.
    let near = 0.01;
    if (p.w < near && q.w < near) {
        return Line(vec4f(2.0, 2.0, 2.0, 1.0), color);
    }
    if (p.w < near) {
        p = mix(q, p, (q.w - near) / (q.w - p.w));
    } else if (q.w < near) {
        q = mix(p, q, (p.w - near) / (p.w - q.w));
    }
    let half_size = frame.viewport.xy * 0.5;
    let s = p.xy / p.w * half_size;
    let t = q.xy / q.w * half_size;
    let way = t - s;
    let length = max(length(way), 1e-4);
    let along = way / length;
    let across = vec2f(-along.y, along.x) * (width * 0.5);
    let is_end = (corner & 1u) == 1u;
    let side = select(-1.0, 1.0, (corner & 2u) == 2u);
    let center = select(p, q, is_end);
    let offset = across * side / half_size * center.w;
    return Line(vec4f(center.xy + offset, center.zw), vec4f(color.rgb * color.a, color.a));
}

@fragment
fn fs_line(line: Line) -> @location(0) vec4f {
    return line.color;
}
