#!/usr/bin/env node
// Does the GLB play as the take was? Witness: three.js (GLTFLoader and AnimationMixer), against the CSV of the take.

import path from 'node:path';
import { isRotation, loadGlb, need, readCsv, run, usage } from './peers.mjs';

const HELP = `
usage: gltf_play.mjs GLB CSV [--rate R] [--every N] [--tolerance X]

Loads the GLB with three.js under node, plays its animation with an AnimationMixer to the time of every
7th CSV row (and the last), and compares all 52 morph influences with the row, names matched ignoring
case. Values outside 0..1 in the CSV may be clamped in the GLB. Also checked: the first key is at 0, the
animation is as long as the CSV within one frame, and head and eye joints turn the way the CSV says in
the house frame (right-handed, +Y up, character faces +Z): yaw + = towards the subject's right (-X),
pitch + = looking down (-Y). Yaw and pitch are read from where the joint's +Z points: the head in the model, the eyes
within the head. Roll is left alone.
  --rate R        frames per second of the CSV's timecode (default: 60 if any FF > 29, else 30)
  --every N       compare every Nth row (default: 7)
  --tolerance X   of a morph influence (default: 0.001)
`;
const DEGREES = 180 / Math.PI;
const STILL = 0.02; // rad: below this the CSV does not say which way
const JOINTS = [
  { curve: 'head', pattern: /head(?!.*(top|end))/i },
  { curve: 'lefteye', pattern: /(left.*eye|eye.*left|^l_?eye|eye_?l$)/i },
  { curve: 'righteye', pattern: /(right.*eye|eye.*right|^r_?eye|eye_?r$)/i },
];

function parseArgs(args) {
  const options = { rate: undefined, every: 7, tolerance: 1e-3 };
  const files = [];
  for (let i = 0; i < args.length; i++) {
    if (!args[i].startsWith('--')) files.push(args[i]);
    else if (args[i].slice(2) in options && Number(args[i + 1]) > 0) options[args[i].slice(2)] = Number(args[++i]);
    else usage(HELP, `unknown option or value: ${args[i]}`);
  }
  if (files.length !== 2) usage(HELP, `expected GLB and CSV, found ${files.length} files`);
  return { glb: files[0], csv: files[1], ...options };
}

await run(HELP, async (args) => {
  const { glb, csv, rate: givenRate, every, tolerance } = parseArgs(args);
  const { rows, rate } = await readCsv(csv, givenRate);
  const { THREE, gltf } = await loadGlb(glb);
  console.log(`${path.basename(glb)} against ${path.basename(csv)}: ${rows.length} rows at ${rate}/s`);

  // Time.
  need(gltf.animations.length === 1, `animations: expected 1, found ${gltf.animations.length}`);
  const clip = gltf.animations[0];
  for (const track of clip.tracks)
    need(track.times[0] === 0, `${track.name}: first key: expected 0 s, found ${track.times[0]}`);
  const steps = rows.slice(1).map((row, i) => row.atSecs - rows[i].atSecs).sort((a, b) => a - b);
  const frameSecs = steps.length ? steps[steps.length >> 1] : 1 / rate;
  const lengthSecs = rows.at(-1).atSecs;
  need(
    Math.abs(clip.duration - lengthSecs) <= frameSecs,
    `duration: expected ${lengthSecs.toFixed(4)} s within a frame (${frameSecs.toFixed(4)} s), found ${clip.duration.toFixed(4)} s`,
  );
  console.log(`ok time: first key 0 s, ${clip.duration.toFixed(3)} s long (CSV ${lengthSecs.toFixed(3)} s), ${clip.tracks.length} tracks`);

  // Morphs: every mesh with targets is looked at, each of the 52 must be somewhere.
  const weights = [...rows[0].curves.keys()].filter((name) => !isRotation(name));
  need(weights.length === 52, `CSV: expected 52 weight columns, found ${weights.length}`);
  const faces = [];
  gltf.scene.traverse((node) => {
    if (!node.morphTargetDictionary) return;
    const targets = Object.entries(node.morphTargetDictionary)
      .map(([name, index]) => ({ name: name.toLowerCase().replace(/_l$/, 'left').replace(/_r$/, 'right'), index }))
      .filter(({ name }) => weights.includes(name));
    if (targets.length) faces.push({ node, targets });
  });
  const present = new Set(faces.flatMap(({ targets }) => targets.map(({ name }) => name)));
  const missing = weights.filter((name) => !present.has(name));
  need(missing.length === 0, `morph targets: expected the 52 of the CSV, missing ${missing.length}: ${missing.slice(0, 5).join(', ')}`);

  // Joints with rotation keys.
  const turning = new Set(clip.tracks.filter((t) => t.name.endsWith('.quaternion')).map((t) => t.name.slice(0, -11)));
  // Where the eyeLook shapes turn the eyeballs, eye joints that turned too would double the gaze.
  const gazeInMorphs = [...present].some((name) => name.startsWith('eyelook'));
  const joints = JOINTS.flatMap(({ curve, pattern }) => {
    const nodes = [];
    gltf.scene.traverse((node) => {
      const isEye = JOINTS[1].pattern.test(node.name) || JOINTS[2].pattern.test(node.name);
      if (turning.has(node.name) && pattern.test(node.name) && (curve !== 'head' || !isEye)) nodes.push(node);
    });
    const track = (node) => clip.tracks.find((t) => t.name === `${node.name}.quaternion`);
    if (curve !== 'head' && gazeInMorphs && !nodes.some((node) => isTurning(track(node).values))) {
      console.log(`ok ${curve}: the gaze is in the eyeLook shapes: ${gazeOfShapes(THREE, gltf.scene, curve.slice(0, -3), need)}; no joint turns beside them`);
      return [];
    }
    need(nodes.length >= 1, `${curve} joint: expected a node with rotation keys, found none among ${[...turning].join(', ') || 'no such node'}`);
    const node = nodes[0];
    const parent = curve === 'head' ? gltf.scene : node.parent;
    return [{ curve, node, parent, restInParent: rotationIn(THREE, node, parent), parentRest: worldRotation(THREE, parent), seen: [] }];
  });

  // Keys are even, rows are when the phone sent them: what is between keys is a line from one to the next.
  const keys = clip.tracks.find((t) => t.name.includes('morphTargetInfluences')).times;
  const told = (name, secs) => {
    const found = rows.findIndex((r) => r.atSecs >= secs);
    const after = found < 0 ? rows.length - 1 : Math.max(1, found);
    const [a, b] = [rows[after - 1], rows[after]];
    return lerp(a.curves.get(name), b.curves.get(name), share(a.atSecs, b.atSecs, secs));
  };
  const between = (name, secs) => {
    const after = keys.findIndex((k) => k >= secs - 1e-6);
    if (after < 1) return told(name, Math.min(secs, keys[keys.length - 1]));
    const [a, b] = [keys[after - 1], keys[after]];
    return lerp(told(name, a), told(name, b), share(a, b, secs));
  };

  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce, 1);
  const worst = { error: -1 };
  let compared = 0;
  const samples = rows.map((_, i) => i).filter((i) => i % every === 0 || i === rows.length - 1);
  for (const i of samples) {
    const row = rows[i];
    action.reset().play();
    action.time = Math.min(row.atSecs, clip.duration);
    mixer.update(0);
    gltf.scene.updateMatrixWorld(true);
    for (const { node, targets } of faces)
      for (const { name, index } of targets) {
        const expected = between(name, row.atSecs);
        const found = node.morphTargetInfluences[index];
        const error = Math.min(Math.abs(found - expected), Math.abs(found - Math.min(1, Math.max(0, expected))));
        compared++;
        if (!(error <= worst.error)) Object.assign(worst, { error, name, i, expected, found, mesh: node.name });
      }
    for (const joint of joints) joint.seen.push(yawPitch(THREE, joint));
  }
  need(
    worst.error <= tolerance,
    `morph ${worst.name} of ${worst.mesh} at row ${worst.i} (${rows[worst.i].timecode}, ${rows[worst.i].atSecs.toFixed(3)} s): ` +
      `expected ${worst.expected.toFixed(5)}, found ${worst.found.toFixed(5)}, tolerance ${tolerance}`,
  );
  const range = weights.filter((name) => samples.some((i) => rows[i].curves.get(name) > 0.01)).length;
  console.log(
    `ok morphs: ${compared} influences at ${samples.length} rows on ${faces.map(({ node }) => node.name).join(', ')}, ` +
      `greatest error ${worst.error.toExponential(2)} (${worst.name} at row ${worst.i}); ${range} of 52 move`,
  );

  // Turning the right way: the slope of joint against CSV must be positive once both are in CSV signs.
  const faults = [];
  for (const { curve, node, seen } of joints)
    for (const axis of ['yaw', 'pitch']) {
      const told = samples.map((i) => rows[i].curves.get(`${curve}${axis}`));
      const shown = seen.map((angles) => angles[axis]);
      const maxTold = told.reduce((m, v) => (Math.abs(v) > Math.abs(m) ? v : m), 0);
      const maxShown = shown.reduce((m, v) => (Math.abs(v) > Math.abs(m) ? v : m), 0);
      const text = `${node.name} ${axis}: greatest ${(maxShown * DEGREES).toFixed(2)}° (CSV ${(maxTold * DEGREES).toFixed(2)}°)`;
      if (Math.abs(maxTold) < STILL) {
        console.log(`skipped ${text}: too still to tell the sign`);
        continue;
      }
      const slope = dot(told, shown) / dot(told, told);
      const right = axis === 'yaw' ? "towards the subject's right" : 'down';
      if (slope > 0.05) console.log(`ok ${text}, + is ${right}, ratio ${slope.toFixed(3)}`);
      else faults.push(`${text}: expected + to turn ${right} as in the CSV, found ratio ${slope.toFixed(3)} ${slope < -0.05 ? '(the other way)' : '(not turning)'}`);
    }
  need(faults.length === 0, faults.join('\n        '));
});

function share(from, to, at) {
  return to > from ? Math.min(1, Math.max(0, (at - from) / (to - from))) : 0;
}

function lerp(a, b, by) {
  return a + (b - a) * by;
}

/**
 * That the shapes of an eye turn its pupil to where their names say; the character faces +Z, its left is +X. The pupil is
 * what lies foremost of what "look in" and "look out" move much, lids being moved less.
 */
function gazeOfShapes(THREE, scene, side, need) {
  const left = side === 'left';
  const found = {};
  for (const [look, axis, sign] of [['out', 'x', left ? 1 : -1], ['in', 'x', left ? -1 : 1], ['up', 'y', 1], ['down', 'y', -1]]) {
    let pupil = null;
    scene.traverse((node) => {
      const names = Object.keys(node.morphTargetDictionary ?? {});
      const name = (of) => names.find((n) => n.toLowerCase().replace(/_l$/, 'left').replace(/_r$/, 'right') === `eyelook${of}${side}`);
      if (!name(look) || !name('out')) return;
      const [of, out] = [look, 'out'].map((l) => node.geometry.morphAttributes.position[node.morphTargetDictionary[name(l)]]);
      const at = node.geometry.attributes.position;
      for (let i = 0; i < at.count; i++) {
        if (Math.abs(out.getX(i)) < 0.004) continue;
        if (!pupil || at.getZ(i) > pupil.z) pupil = { z: at.getZ(i), by: axis === 'x' ? of.getX(i) : of.getY(i) };
      }
    });
    need(pupil, `eyeLook${look} of the ${side} eye: expected a pupil that moves, found none`);
    need(pupil.by * sign > 0.001, `eyeLook${look} of the ${side} eye: expected its pupil to go towards ${sign > 0 ? '+' : '-'}${axis}, found ${(pupil.by * 1e3).toFixed(2)} mm`);
    found[look] = `${look} ${(pupil.by * 1e3).toFixed(1)} mm ${axis}`;
  }
  return Object.values(found).join(', ');
}

/** Whether quaternions, one after the other, differ at all. */
function isTurning(values) {
  for (let i = 4; i < values.length; i++) if (Math.abs(values[i] - values[i % 4]) > 1e-5) return true;
  return false;
}

function dot(a, b) {
  return a.reduce((sum, v, i) => sum + v * b[i], 0);
}

function worldRotation(THREE, node) {
  return node.getWorldQuaternion(new THREE.Quaternion());
}

/** parent_from_node, rotation only. */
function rotationIn(THREE, node, parent) {
  return worldRotation(THREE, parent).invert().multiply(worldRotation(THREE, node));
}

/** Where +Z of the model went, by what the joint turned since rest; in CSV signs, radians. */
function yawPitch(THREE, { node, parent, restInParent, parentRest }) {
  const turned = rotationIn(THREE, node, parent).multiply(restInParent.clone().invert());
  const inModel = parentRest.clone().multiply(turned).multiply(parentRest.clone().invert());
  const forward = new THREE.Vector3(0, 0, 1).applyQuaternion(inModel);
  return { yaw: -Math.atan2(forward.x, forward.z), pitch: -Math.asin(Math.max(-1, Math.min(1, forward.y))) };
}
