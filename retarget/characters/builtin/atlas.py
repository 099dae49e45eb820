"""Where the islands of the data's texture layout lie in the picture of the skin.

The data gives the face little room. Here the head's island fills the upper half of the picture, upright, with the face
enlarged; hands, eye cavities and wrists of both sides share one place.
"""

import numpy as np

# Islands of the body's texture layout, in the order of their first vertex.
HEAD, MOUTH, TORSO, EYE_R, HAND_R, FOOT_R, EYE_L, HAND_L, FOOT_L = range(9)

FACE_CENTRE = (0.868, 0.4827)
# How much more room the middle of the face gets than the back of the head.
FACE_ZOOM = 11.0
HEAD_RADIUS = 0.36
# Twice the middle between both sides' places, in the data's u.
MIRROR = {EYE_R: 0.16296, HAND_R: 1.12441, TORSO: 0.76106}
# island: data's (u, v) of the left end and the upper end, picture's (left, top), scale.
PLACES = {
    HAND_L: ((0.5702, 0.19635), (0.005, 0.585), 2.05),
    MOUTH: ((0.7576, 0.13645), (0.42, 0.585), 1.7),
    EYE_L: ((0.0861, 0.63286), (0.74, 0.585), 2.3),
}
NECK = ((0.185, 0.985), (0.42, 0.815), 1.15)
WRIST = ((0.69, 0.89), (0.91, 0.585), 1.0)


def zoomed(d):
    """Directions from the face's centre in the data's layout, with more room in the middle."""
    r = np.linalg.norm(d, axis=-1, keepdims=True) / HEAD_RADIUS
    return d * np.log1p(FACE_ZOOM * r) / np.log1p(FACE_ZOOM) / np.maximum(r, 1e-9)


def picture_uvs(uvs, islands):
    """Corner coordinates (m, 4, 2) of the data's layout, with the island of every quad, as places in the picture."""
    out = np.zeros_like(uvs)
    head = islands == HEAD
    d = zoomed(uvs[head] - FACE_CENTRE)
    # The top of the head points to -u in the data.
    out[head] = np.stack([d[..., 1], d[..., 0]], axis=-1)
    low, high = out[head].min(axis=(0, 1)), out[head].max(axis=(0, 1))
    out[head] = 0.005 + (out[head] - low) * np.array([0.99, 0.56]) / (high - low)
    for island in np.unique(islands[~head]):
        mask = islands == island
        uv = uvs[mask].copy()
        if island in (EYE_R, HAND_R):
            uv[..., 0] = MIRROR[island] - uv[..., 0]
            island += EYE_L - EYE_R
        if island in PLACES:
            (u, v), (x, y), scale = PLACES[island]
            out[mask] = np.stack([x + (uv[..., 0] - u) * scale, y + (v - uv[..., 1]) * scale], axis=-1)
        elif island == TORSO:
            arm = np.abs(uv[..., 0].mean(axis=1) - MIRROR[TORSO] / 2) > 0.25
            right = arm & (uv[..., 0].mean(axis=1) < MIRROR[TORSO] / 2)
            uv[right, :, 0] = MIRROR[TORSO] - uv[right, :, 0]
            placed = []
            for (u, v), (x, y), scale in (NECK, WRIST):
                placed.append(np.stack([x + (uv[..., 0] - u) * scale, y + (v - uv[..., 1]) * scale], axis=-1))
            out[mask] = np.where(arm[:, None, None], placed[1], placed[0])
    return out
