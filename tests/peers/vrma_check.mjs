#!/usr/bin/env node
// Does the VRMA play on other people's models as the body moved? Witness: three-vrm and three-vrm-animation, against
// numbers that were not made by the exporter.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { need, peer, run, usage } from './peers.mjs';

const HELP = `
usage: vrma_check.mjs VRMA TRUTH.json VRM... [--degrees D]

Loads the VRMA and each VRM (0.x or 1.0) with three-vrm under node, plays the one on the other, and compares at
each frame of the truth: what every bone has turned in the world since the model's T-pose, where the hips are, and
the value of every expression that both know. What turned is read from the model's own bones, so its rest
rotations are in the comparison. Fingers are compared joint by joint, as any bone.

TRUTH.json, in the house frame (right-handed, +Y up, faces +Z, metres, quaternions x, y, z, w):
  {"rate": 30, "frames": 3, "hipsRest": 0.95,
   "hips": [[x, y, z], ...],                            a position a frame
   "bones": {"leftUpperArm": [[x, y, z, w], ...]},      W = Q of the frame * inverse of Q of the T-pose, in the model
   "expressions": {"aa": [0, 0.5, 1]}}
  --degrees D   tolerance of a rotation (default: 0.5)
`;

function parseArgs(args) {
  const files = [];
  let degrees = 0.5;
  for (let i = 0; i < args.length; i++) {
    if (!args[i].startsWith('--')) files.push(args[i]);
    else if (args[i] === '--degrees' && Number(args[i + 1]) > 0) degrees = Number(args[++i]);
    else usage(HELP, `unknown option or value: ${args[i]}`);
  }
  if (files.length < 3) usage(HELP, `expected VRMA, TRUTH.json and at least one VRM, found ${files.length} files`);
  return { vrma: files[0], truth: files[1], models: files.slice(2), degrees };
}

/** A loader of GLBs that leaves textures out, of VRM's own lists too: nothing here sees them. */
async function loader() {
  globalThis.self ??= globalThis;
  globalThis.ProgressEvent ??= class ProgressEvent extends Event {};
  const THREE = await peer('three/build/three.module.js');
  const { GLTFLoader } = await peer('three/examples/jsm/loaders/GLTFLoader.js');
  const vrm = await peer('@pixiv/three-vrm/lib/three-vrm.module.js');
  const animation = await peer('@pixiv/three-vrm-animation/lib/three-vrm-animation.module.js');
  const load = async (file) => {
    const gltfLoader = new GLTFLoader();
    gltfLoader.register((parser) => ({
      name: 'GHOSTLIGHT_no_textures',
      beforeRoot() {
        for (const material of parser.json.materials ?? []) withoutTextures(material);
        for (const material of parser.json.extensions?.VRM?.materialProperties ?? []) material.textureProperties = {};
        return null;
      },
    }));
    gltfLoader.register((parser) => new vrm.VRMLoaderPlugin(parser));
    gltfLoader.register((parser) => new animation.VRMAnimationLoaderPlugin(parser));
    const bytes = await readFile(file);
    const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const gltf = await gltfLoader.parseAsync(data, '');
    gltf.scene.updateMatrixWorld(true);
    return gltf.userData;
  };
  return { THREE, animation, load };
}

function withoutTextures(value) {
  for (const [key, child] of Object.entries(value)) {
    if (/texture$/i.test(key)) delete value[key];
    else if (child && typeof child === 'object') withoutTextures(child);
  }
}

await run(HELP, async (args) => {
  const { vrma, truth: truthFile, models, degrees } = parseArgs(args);
  const truth = JSON.parse(await readFile(truthFile, 'utf8'));
  for (const [name, keys] of [['hips', truth.hips], ...Object.entries(truth.bones), ...Object.entries(truth.expressions ?? {})])
    need(keys.length === truth.frames, `truth of ${name}: expected ${truth.frames} values, found ${keys.length}`);
  const { THREE, animation, load } = await loader();

  // The players' complaints are ours to hear.
  const warnings = [];
  const warn = console.warn;
  console.warn = (...words) => warnings.push(words.join(' '));
  const [motion] = (await load(vrma)).vrmAnimations ?? [];
  console.warn = warn;
  need(motion, `${path.basename(vrma)}: expected an animation by VRMC_vrm_animation, found none`);
  need(warnings.length === 0, `${path.basename(vrma)}: expected no warning, found: ${warnings.join('; ')}`);
  const lastSecs = (truth.frames - 1) / truth.rate;
  need(Math.abs(motion.duration - lastSecs) < 1e-3, `duration: expected ${lastSecs} s, found ${motion.duration} s`);
  need([...motion.humanoidTracks.translation.keys()].join() === 'hips', 'translation: expected the hips only');
  console.log(`ok ${path.basename(vrma)}: ${motion.humanoidTracks.rotation.size} bones, ${motion.duration.toFixed(3)} s, no warning`);

  for (const file of models) {
    const { vrm } = await load(file);
    need(vrm, `${path.basename(file)}: expected a VRM, found none`);
    // VRM 0.x faces -Z: half a turn about +Y from ours.
    const old = vrm.meta.metaVersion === '0';
    const bones = Object.keys(truth.bones).filter((name) => vrm.humanoid.getRawBoneNode(name));
    const rest = new Map(bones.map((name) => [name, vrm.humanoid.getRawBoneNode(name).getWorldQuaternion(new THREE.Quaternion())]));
    const restHips = vrm.humanoid.getRawBoneNode('hips').getWorldPosition(new THREE.Vector3());

    console.warn = () => {}; // It asks for a proxy of the gaze and then makes one.
    const clip = animation.createVRMAnimationClip(motion, vrm);
    console.warn = warn;
    const mixer = new THREE.AnimationMixer(vrm.scene);
    const action = mixer.clipAction(clip).setLoop(THREE.LoopOnce, 1);
    action.clampWhenFinished = true;
    action.play();
    const worst = { angle: 0, at: '-', hips: 0, weight: 0 };
    let compared = 0;
    for (let frame = 0; frame < truth.frames; frame++) {
      action.time = Math.min(frame / truth.rate, clip.duration);
      mixer.update(0);
      vrm.humanoid.update();
      vrm.scene.updateMatrixWorld(true);
      for (const name of bones) {
        const now = vrm.humanoid.getRawBoneNode(name).getWorldQuaternion(new THREE.Quaternion());
        const turned = now.multiply(rest.get(name).clone().invert());
        const [x, y, z, w] = truth.bones[name][frame];
        const expected = old ? new THREE.Quaternion(-x, y, -z, w) : new THREE.Quaternion(x, y, z, w);
        const angle = (turned.angleTo(expected.normalize()) * 180) / Math.PI;
        if (angle > worst.angle) Object.assign(worst, { angle, at: `${name} at frame ${frame}` });
        need(angle <= degrees, `${path.basename(file)}: ${name} at frame ${frame}: off by ${angle.toFixed(3)} degrees, tolerance ${degrees}: ` +
          `expected ${expected.toArray().map((v) => v.toFixed(4))}, found ${turned.toArray().map((v) => v.toFixed(4))}`);
        compared++;
      }
      const scale = restHips.y / truth.hipsRest;
      const [x, y, z] = truth.hips[frame].map((v) => v * scale);
      const expected = new THREE.Vector3(old ? -x : x, y, old ? -z : z);
      const off = vrm.humanoid.getRawBoneNode('hips').getWorldPosition(new THREE.Vector3()).distanceTo(expected);
      need(off <= 0.002, `${path.basename(file)}: hips at frame ${frame}: off by ${(off * 1000).toFixed(2)} mm, tolerance 2 mm`);
      worst.hips = Math.max(worst.hips, off);
      for (const [name, weights] of Object.entries(truth.expressions ?? {})) {
        const found = vrm.expressionManager?.getValue(name);
        if (found === null || found === undefined) continue;
        const error = Math.abs(found - weights[frame]);
        need(error <= 1e-3, `${path.basename(file)}: ${name} at frame ${frame}: expected ${weights[frame]}, found ${found}`);
        worst.weight = Math.max(worst.weight, error);
      }
    }
    need(compared > 0, `${path.basename(file)}: expected bones of the truth, found none`);
    console.log(
      `ok ${path.basename(file)} (VRM ${old ? '0.x' : '1.0'}): ${bones.length} bones at ${truth.frames} frames, greatest error ` +
        `${worst.angle.toFixed(4)} degrees (${worst.at}), hips ${(worst.hips * 1000).toFixed(3)} mm, expressions ${worst.weight.toExponential(1)}`,
    );
  }
});
