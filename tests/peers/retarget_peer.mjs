#!/usr/bin/env node
// Real motions onto characters by another hand: three.js BVHLoader, GLTFLoader and SkeletonUtils.retargetClip.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadGlb, need, peer, run, usage } from './peers.mjs';

const HELP = `
usage: retarget_peer.mjs FOLDER

Takes every FOLDER/NAME.map.json that the test motions::maps_for_a_peer wrote, retargets its BVH to its GLB with
three.js, and writes FOLDER/NAME.peer.json: where each joint was in each frame, in the frame of the GLB's model,
metres and x, y, z, w, index (frame * joints + joint) * 7. The map gives the peer all that helps it:
  names             which target bone takes which source bone, all of VRM's humanoid that both have
  hip, scale        the hips, and target metres per source metre by the heights of the hips
  localOffsets      the turn between both bodies' axes in one T-pose; without it retargetClip expects equal axes
  hipPosition       lifts the motion so that the soles of the source stand on 0
  useFirstFramePosition false, for true would take the place of the hips in the first frame off
The source is in metres and turned to face as the target does. The target is one skeleton of all the bones at rest,
parents first. BVHLoader adds OFFSET to position channels, which hold it already: it is taken off again.
`;
const LIMIT_SECS = 1800;
const MAX_PAIRS = 200;

await run(
  HELP,
  async (args) => {
    if (args.length !== 1) usage(HELP, `expected a folder, found ${args.length} arguments`);
    const [folder] = args;
    const maps = (await readdir(folder)).filter((name) => name.endsWith('.map.json')).sort();
    need(maps.length > 0, `maps: expected *.map.json, found none in ${folder}`);
    need(maps.length <= MAX_PAIRS, `maps: expected at most ${MAX_PAIRS}, found ${maps.length}`);
    console.warn = () => {}; // extensions that three.js does not know
    for (const [at, name] of maps.entries()) {
      const map = JSON.parse(await readFile(path.join(folder, name), 'utf8'));
      const began = performance.now();
      const { frames, joints, values } = await retargeted(map);
      const bad = values.findIndex((value) => !Number.isFinite(value));
      need(bad < 0, `${name}: expected numbers, found ${values[bad]} at ${bad}`);
      const out = path.join(folder, name.replace(/\.map\.json$/, '.peer.json'));
      await writeFile(out, JSON.stringify({ frames, joints, values }));
      const took = ((performance.now() - began) / 1000).toFixed(1);
      console.log(`${at + 1}/${maps.length} ${name}: ${frames} frames of ${joints.length} joints, ${took} s`);
    }
  },
  LIMIT_SECS,
);

async function retargeted(map) {
  const { THREE, gltf } = await loadGlb(map.glb);
  const SkeletonUtils = await peer('three/examples/jsm/utils/SkeletonUtils.js');
  const source = await readSource(THREE, map);

  // The bones of the target: those that are asked about, and all between them and the scene.
  const byNode = new Map();
  gltf.scene.traverse((object) => {
    const node = gltf.parser.associations.get(object)?.nodes;
    if (node !== undefined && !byNode.has(node)) byNode.set(node, object);
  });
  const object = (node) => {
    need(byNode.has(node), `${map.glb}: expected a node ${node}`);
    return byNode.get(node);
  };
  const wanted = new Set(map.joints.map(({ node }) => object(node)));
  const bones = [];
  gltf.scene.traverse((o) => {
    if (o.isBone || wanted.has(o)) bones.push(o);
  });
  const rest = bones.map((bone) => [bone, bone.position.clone(), bone.quaternion.clone(), bone.scale.clone()]);
  const target = new THREE.SkinnedMesh();
  target.bind(new THREE.Skeleton(bones), new THREE.Matrix4());

  const names = {};
  const localOffsets = {};
  let hip;
  for (const { bone, target: node, source: joint, offset } of map.bones) {
    const { name } = object(node);
    names[name] = jointName(joint);
    localOffsets[name] = new THREE.Matrix4().makeRotationFromQuaternion(new THREE.Quaternion(...offset));
    if (bone === 'hips') hip = names[name];
  }
  need(hip !== undefined, 'map: expected hips among the bones');
  const all = source.frames;
  const fps = all / source.clip.duration;
  const frames = Math.min(all, map.max_frames);
  const clip = SkeletonUtils.retargetClip(target, source.object, source.clip, {
    names,
    hip,
    localOffsets,
    fps,
    scale: map.scale,
    hipPosition: new THREE.Vector3(0, map.lift, 0),
    useFirstFramePosition: false,
    ...(frames < all ? { trim: [0, frames / fps] } : {}),
  });

  // Played as anybody would. What has no track stands as in the file.
  for (const [bone, position, quaternion, scale] of rest) {
    bone.position.copy(position);
    bone.quaternion.copy(quaternion);
    bone.scale.copy(scale);
  }
  const mixer = new THREE.AnimationMixer(target);
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
  const [{ times }] = clip.tracks;
  need(times.length === frames, `clip: expected ${frames} frames, found ${times.length}`);
  const joints = map.joints.map(({ bone }) => bone);
  const objects = map.joints.map(({ node }) => object(node));
  const values = [];
  const [position, rotation, scale] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
  for (const time of times) {
    action.time = time;
    mixer.update(0);
    gltf.scene.updateMatrixWorld(true);
    for (const { matrixWorld } of objects) {
      matrixWorld.decompose(position, rotation, scale);
      values.push(...position.toArray().map((v) => rounded(v, 1e5)), ...rotation.toArray().map((v) => rounded(v, 1e7)));
    }
  }
  return { frames, joints, values };
}

function jointName(index) {
  return `source${index}`;
}

function rounded(value, per) {
  return Math.round(value * per) / per;
}

/** The BVH in metres, turned as the map says, its joints named by their index. */
async function readSource(THREE, map) {
  const { BVHLoader } = await peer('three/examples/jsm/loaders/BVHLoader.js');
  const text = await readFile(map.bvh, 'utf8');
  const { skeleton, clip } = new BVHLoader().parse(text);
  const joints = skeleton.bones.filter((bone) => bone.name !== 'ENDSITE');
  need(joints.length === map.source_joints, `${map.bvh}: expected ${map.source_joints} joints, found ${joints.length}`);
  const channels = [...text.matchAll(/^\s*CHANNELS\s+\d+(.*)$/gm)].map(([, list]) => /position/i.test(list));
  need(channels.length === joints.length, `${map.bvh}: expected CHANNELS for each joint, found ${channels.length}`);
  need(clip.tracks.length === 2 * joints.length, `${map.bvh}: expected two tracks a joint, found ${clip.tracks.length}`);
  for (const [index, joint] of joints.entries()) {
    joint.name = jointName(index);
    const [places, turns] = clip.tracks.slice(2 * index);
    places.name = `${joint.name}.position`;
    turns.name = `${joint.name}.quaternion`;
    if (!channels[index]) continue;
    const offset = joint.position.toArray();
    places.values = places.values.map((value, at) => value - offset[at % 3]);
  }
  const frames = clip.tracks[0].times.length;
  need(frames >= 2, `${map.bvh}: expected two frames or more, found ${frames}`);
  const object = new THREE.Group();
  object.scale.setScalar(map.metres_per_unit);
  object.quaternion.set(...map.turn);
  object.add(skeleton.bones[0]);
  object.skeleton = skeleton;
  object.updateMatrixWorld(true);
  return { object, clip, frames };
}
