#!/usr/bin/env python3
"""A character file must move in Blender as it moved here: BVH, GLB, FBX or USD against a truth file.

Witness: Blender 5.0.1 (bpy); an FBX is read by both of its importers, the one in Python and the one in C++.

Compared at every sample of the truth: where each joint is (1 mm), how far it is turned from its rest (0.1 degrees),
every shape (1e-3). Compared once: how long the take is (one frame), and how tall who stands there (2 mm). Blender
turns bones by rules of its own, each importer by another, so turns are compared as `world at the frame *
inverse of world at rest`, in which that cancels out.

The truth is JSON in the house frame (right-handed, +Y up, facing +Z, metres, quaternions x, y, z, w):

    {"fps": [30000, 1001], "frames": 300,
     "height": 1.72,                  of the meshes at rest, or null
     "joint_height": 1.61,            highest minus lowest joint at rest, or null
     "joints": ["Hips", ...],         as they are called in the file
     "rest": [[x, y, z, w], ...],     of each joint in the world
     "samples": [{"frame": 0,
                  "positions": [[x, y, z], ...], "rotations": [[x, y, z, w], ...],
                  "shapes": {"JawOpen": 0.25, ...}}]}
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from pathlib import Path

import peerlib
from peerlib import PEERS, Fault, need

POSITION_M = 1e-3
ROTATION_DEG = 0.1
SHAPE = 1e-3
HEIGHT_M = 2e-3
AGAIN = "GHOSTLIGHT_BLENDER_AGAIN"


def need_bpy(required: bool) -> None:
    """Starts again under a Python that has bpy, or says that there is none."""
    try:
        import bpy  # noqa: F401

        return
    except ImportError:
        pass
    python = Path(os.environ.get("GHOSTLIGHT_BLENDER_PYTHON") or PEERS / "blender" / "bin" / "python")
    if not os.environ.get(AGAIN) and python.exists():
        os.environ[AGAIN] = "1"
        os.execv(python, [str(python), *sys.argv])
    text = "no bpy: run tests/peers/setup.sh --with-blender, or set GHOSTLIGHT_BLENDER_PYTHON"
    if required:
        sys.exit(text)
    print(f"skipped: {text}")
    sys.exit(0)


# ---------------------------------------------------------------- reading


def importers(path: Path, scale: float) -> list[tuple[str, object]]:
    import bpy

    file = str(path)
    kind = path.suffix.lower().lstrip(".")
    bvh = dict(global_scale=scale, update_scene_fps=True, update_scene_duration=True, frame_start=0)
    known = {
        "bvh": [("io_anim_bvh", lambda: bpy.ops.import_anim.bvh(filepath=file, **bvh))],
        "glb": [("io_scene_gltf2", lambda: bpy.ops.import_scene.gltf(filepath=file))],
        "fbx": [
            ("io_scene_fbx", lambda: bpy.ops.import_scene.fbx(filepath=file)),
            ("wm.fbx_import", lambda: bpy.ops.wm.fbx_import(filepath=file)),
        ],
    }
    known["gltf"] = known["glb"]
    for usd in ("usda", "usdc", "usdz", "usd"):
        known[usd] = [("wm.usd_import", lambda: bpy.ops.wm.usd_import(filepath=file, scale=scale))]
    need(kind in known, f"file: expected one of {', '.join(known)}, found {path.name}")
    return known[kind]


def fcurves():
    """All curves of all actions; since 5.0 they lie in layers, strips and bags."""
    import bpy

    for action in bpy.data.actions:
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    yield from bag.fcurves


def wake() -> None:
    """Plays what an importer laid aside: the glTF one may leave an action in a track that is mute."""
    import bpy

    for owner in [*bpy.data.objects, *bpy.data.shape_keys]:
        data = owner.animation_data
        if data and data.action is None and len(data.nla_tracks) and len(data.nla_tracks[0].strips):
            strip = data.nla_tracks[0].strips[0]
            data.action = strip.action
            data.action_slot = strip.action_slot


def keys_span() -> tuple[float, float]:
    firsts, lasts = [], []
    for curve in fcurves():
        if len(curve.keyframe_points):
            firsts.append(curve.keyframe_points[0].co.x)
            lasts.append(curve.keyframe_points[-1].co.x)
    need(bool(firsts), "animation: expected curves with keys, found none")
    return min(firsts), max(lasts)


def armature(joints: list[str]):
    import bpy

    found = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    if not joints:
        return None
    need(len(found) == 1, f"armatures: expected 1, found {[o.name for o in found]}")
    names = {b.name for b in found[0].data.bones}
    # A joint can be the armature itself where an importer makes the root one.
    missing = [j for j in joints if j not in names and j != found[0].name]
    need(not missing, f"bones: missing {missing[:10]} of {len(joints)}; found {sorted(names)[:10]} of {len(names)}")
    return found[0]


def heights() -> tuple[float | None, float | None]:
    """Of meshes and of joints, both at rest."""
    import bpy
    from mathutils import Vector

    mesh, joint = [], []
    # The glTF importer draws bones with a mesh of its own.
    drawings = {b.custom_shape for o in bpy.data.objects if o.type == "ARMATURE" for b in o.pose.bones}
    for o in bpy.data.objects:
        if o.type == "MESH" and o not in drawings and len(o.data.vertices):
            mesh += [(o.matrix_world @ v.co).z for v in o.data.vertices]
        if o.type == "ARMATURE":
            joint += [(o.matrix_world @ Vector(b.head_local)).z for b in o.data.bones]
    return tuple(max(z) - min(z) if z else None for z in (mesh, joint))


# ---------------------------------------------------------------- comparing


def world(matrix):
    """Place and turn of a matrix, without its scale."""
    return matrix.to_translation(), matrix.to_3x3().normalized().to_quaternion()


def at(values: list[float]):
    """A house position in Blender's world: +Z up, facing -Y."""
    from mathutils import Vector

    x, y, z = values
    return Vector((x, -z, y))


def turn(rotation: list[float], rest: list[float]):
    """A house turn away from rest, in Blender's world."""
    from mathutils import Quaternion

    def quaternion(v: list[float]):
        return Quaternion((v[3], v[0], v[1], v[2]))

    house = quaternion(rotation) @ quaternion(rest).inverted()
    blender_from_house = Quaternion((1.0, 0.0, 0.0), math.pi / 2)
    return blender_from_house @ house @ blender_from_house.inverted()


def angle(a, b) -> float:
    """Degrees between two turns; by the sine, which tells small ones apart."""
    difference = a.rotation_difference(b)
    vector = math.sqrt(difference.x**2 + difference.y**2 + difference.z**2)
    return math.degrees(2 * math.atan2(vector, abs(difference.w)))


class Worst:
    """The greatest difference of its kind, and where."""

    def __init__(self, what: str, unit: str, limit: float):
        self.what, self.unit, self.limit, self.value, self.place = what, unit, limit, 0.0, "-"

    def see(self, value: float, place: str) -> None:
        need(math.isfinite(value), f"{self.what}: expected a number at {place}, found {value}")
        if value > self.value:
            self.value, self.place = value, place

    def check(self) -> None:
        need(
            self.value <= self.limit,
            f"{self.what}: expected within {self.limit:g} {self.unit}, found {self.value:.6f} at {self.place}",
        )

    def __str__(self) -> str:
        return f"{self.what} {self.value:.2g} {self.unit}"


def compare(truth: dict, args) -> str:
    import bpy

    scene = bpy.context.scene
    joints = truth["joints"]
    rig = armature(joints)
    wake()
    first, last = keys_span()
    span = truth["frames"] - 1
    need(
        abs((last - first) - span) <= 1.0,
        f"length: expected {span} frames between the first and the last key, found {first:g} to {last:g}",
    )
    scene.frame_set(int(first))
    for what, want, found in zip(("height", "joint_height"), (truth.get("height"), truth.get("joint_height")), heights()):
        # A BVH has no mesh to measure.
        if want is not None and not (what == "height" and args.file.suffix.lower() == ".bvh"):
            need(found is not None, f"{what}: expected {want} m, found nothing to measure")
            need(abs(found - want) <= HEIGHT_M, f"{what}: expected {want:.4f} m, found {found:.4f} m")

    places, turns = Worst("position", "m", POSITION_M), Worst("rotation", "degrees", ROTATION_DEG)
    shapes = Worst("shape", "of 1", SHAPE)
    rest = {}
    if rig:
        for bone in rig.data.bones:
            rest[bone.name] = world(rig.matrix_world @ bone.matrix_local)[1]
    blocks: dict[str, list] = {}
    for key in bpy.data.shape_keys:
        for block in key.key_blocks:
            blocks.setdefault(block.name, []).append(block)
    for sample in truth["samples"]:
        here = first + (last - first) * sample["frame"] / max(span, 1)
        whole = math.floor(here + 1e-4)
        scene.frame_set(whole, subframe=min(max(here - whole, 0.0), 0.999))
        for name, position, rotation, still in zip(joints, sample["positions"], sample["rotations"], truth["rest"]):
            place = f"{name}, frame {sample['frame']}"
            if name not in rig.pose.bones:
                places.see((rig.matrix_world.to_translation() - at(position)).length, place)
                continue
            have_position, have_rotation = world(rig.matrix_world @ rig.pose.bones[name].matrix)
            places.see((have_position - at(position)).length, place)
            turns.see(angle(have_rotation @ rest[name].inverted(), turn(rotation, still)), place)
        # A BVH holds bones alone.
        wanted = {} if args.file.suffix.lower() == ".bvh" else sample.get("shapes", {})
        for name, value in wanted.items():
            need(name in blocks, f"shape keys: expected {name}, found {sorted(blocks)[:10]} of {len(blocks)}")
            for block in blocks[name]:
                shapes.see(abs(block.value - value), f"{name}, frame {sample['frame']}")
    for worst in (places, turns, shapes):
        worst.check()
    rate = scene.render.fps / scene.render.fps_base
    want = truth["fps"][0] / truth["fps"][1]
    if args.fps:
        need(abs(rate - want) < 1e-3 * want, f"frames a second: expected {want:.4f}, found {rate:.4f}")
    return f"{len(joints)} joints, {len(blocks)} shapes, {len(truth['samples'])} frames; {places}, {turns}, {shapes}"


def check_file(args) -> None:
    import bpy

    with open(args.truth, encoding="utf-8") as file:
        truth = json.load(file)
    numerator, denominator = truth["fps"]
    for name, read in importers(args.file, args.scale):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        # Formats with seconds are put on frames of the scene; those that set its rate do so themselves.
        render = bpy.context.scene.render
        render.fps = -(-numerator // denominator)
        render.fps_base = render.fps * denominator / numerator
        try:
            need(read() == {"FINISHED"}, f"{name}: expected FINISHED")
        except RuntimeError as error:
            raise Fault(f"{name}: {error}") from None
        try:
            print(f"ok {args.file.name} by {name}: {compare(truth, args)}")
        except Fault as fault:
            raise Fault(f"{args.file.name} by {name}: {fault}") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE", help="*.bvh, *.glb, *.fbx, *.usda")
    parser.add_argument("truth", type=Path, metavar="TRUTH", help="the JSON described above")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for formats without a unit: 0.01 for a BVH in cm")
    parser.add_argument("--fps", action="store_true", help="also want the scene at the take's rate")
    parser.add_argument("--required", action="store_true", help="fail, rather than skip, where there is no bpy")
    args = parser.parse_args()
    for path in (args.file, args.truth):
        if not path.is_file():
            parser.error(f"no such file: {path}")
    need_bpy(args.required)
    peerlib.main(lambda: check_file(args))


if __name__ == "__main__":
    sys.exit(main())
