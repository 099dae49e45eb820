#!/usr/bin/env node
// How does the GLB look in motion? Witness: three.js in headless Chromium (WebGL in software), as a contact sheet
// for the eye. The scene is a dark stage with a warm work light: a hemisphere light, a key with a soft
// shadow, a faint rim, ACES tone mapping. Nothing is fetched from outside: the page is served from memory.

import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { modulesDir, need, peer, run, usage } from './peers.mjs';

const HELP = `
usage: gltf_picture.mjs GLB OUT.png [--times a,b,c...] [--camera face|body] [--columns N] [--tile N]

Renders frames of the GLB's first animation side by side, with the time under each.
  --times a,b,c   seconds (default: eight, evenly spread over the animation)
  --camera        face: what the morph targets move, filling the tile (default); body: everything
  --columns N     tiles in a row (default: 4)
  --tile N        pixels of a tile's edge (default: 480)
Chromium is $CHROMIUM, or the first of chromium, chromium-browser, google-chrome on the PATH
(Debian: setup.sh --with-chromium). Exits 1 if the page reports an error or a tile stays empty.
`;
const ORIGIN = 'http://ghostlight.invalid';
const FLAGS = ['--no-sandbox', '--disable-background-networking', '--disable-gpu', '--enable-unsafe-swiftshader', '--use-angle=swiftshader', '--hide-scrollbars'];

function parseArgs(args) {
  const options = { times: null, camera: 'face', columns: 4, tile: 480 };
  const files = [];
  for (let i = 0; i < args.length; i++) {
    const [arg, value] = [args[i], args[i + 1]];
    if (!arg.startsWith('--')) files.push(arg);
    else if (arg === '--times' && value) options.times = args[++i].split(',').map(Number);
    else if (arg === '--camera' && ['face', 'body'].includes(value)) options.camera = args[++i];
    else if (arg === '--columns' && value >= 1 && value <= 16) options.columns = Math.floor(args[++i]);
    else if (arg === '--tile' && value >= 64 && value <= 2048) options.tile = Math.floor(args[++i]);
    else usage(HELP, `unknown option or value: ${arg}`);
  }
  if (files.length !== 2 || !files[1].endsWith('.png')) usage(HELP, 'expected GLB and OUT.png');
  if (options.times && (options.times.length > 64 || !options.times.every((t) => t >= 0))) usage(HELP, '--times: expected up to 64 times of 0 or more');
  return { glb: files[0], out: files[1], ...options };
}

async function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const folder of (process.env.PATH ?? '').split(path.delimiter))
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const file = path.join(folder, name);
      if (await access(file).then(() => true, () => false)) return file;
    }
  need(false, 'chromium: expected one on the PATH or in $CHROMIUM, found none; try setup.sh --with-chromium');
}

const PAGE = `<!doctype html><meta charset="utf-8"><body>
<script type="importmap">{"imports":{"three":"/node_modules/three/build/three.module.js","three/addons/":"/node_modules/three/examples/jsm/"}}</script>
<script type="module" src="/scene.js"></script>`;

/** Runs in the page; its source is served as /scene.js. */
async function scene(options) {
  const THREE = await import('three');
  const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
  const { MeshoptDecoder } = await import('three/addons/libs/meshopt_decoder.module.js');
  const loader = new GLTFLoader();
  loader.setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => ({
    name: 'GHOSTLIGHT_no_basis_textures', // they would need a transcoder; the shape is what we look at
    beforeRoot() {
      if (!parser.json.extensionsUsed?.includes('KHR_texture_basisu')) return null;
      for (const material of parser.json.materials ?? []) {
        delete material.normalTexture;
        delete material.pbrMetallicRoughness?.baseColorTexture;
        delete material.pbrMetallicRoughness?.metallicRoughnessTexture;
      }
      return null;
    },
  }));
  const gltf = await loader.loadAsync('/model.glb');
  const root = gltf.scene;
  const clip = gltf.animations[0];
  const mixer = new THREE.AnimationMixer(root);
  const action = clip && mixer.clipAction(clip).setLoop(THREE.LoopOnce, 1);
  const pose = (time) => {
    if (action) {
      action.reset().play();
      action.time = Math.min(time, clip.duration);
      mixer.update(0);
    }
    root.updateMatrixWorld(true);
  };
  const duration = clip?.duration ?? 0;
  const times = options.times ?? Array.from({ length: 8 }, (_, i) => (duration * i) / 7);

  // What to look at: the vertices that morph targets move, or else everything; at rest, all weights 0.
  root.updateMatrixWorld(true);
  const all = new THREE.Box3();
  const face = new THREE.Box3();
  const at = new THREE.Vector3();
  root.traverse((node) => {
    if (node.isMesh) {
      node.castShadow = node.receiveShadow = true;
      node.frustumCulled = false;
      const targets = node.geometry.morphAttributes.position ?? [];
      const rest = node.morphTargetInfluences?.slice();
      node.morphTargetInfluences?.fill(0);
      node.skeleton?.update();
      const size = new THREE.Vector3();
      node.geometry.boundingBox ?? node.geometry.computeBoundingBox();
      node.geometry.boundingBox.getSize(size);
      const least = size.length() * 1e-4;
      for (let i = 0; i < node.geometry.attributes.position.count; i++) {
        node.getVertexPosition(i, at).applyMatrix4(node.matrixWorld);
        all.expandByPoint(at);
        if (targets.some((t) => Math.hypot(t.getX(i), t.getY(i), t.getZ(i)) > least)) face.expandByPoint(at);
      }
      rest?.forEach((value, i) => (node.morphTargetInfluences[i] = value));
    }
  });
  const onFace = options.camera === 'face' && !face.isEmpty();
  const box = onFace ? face : all;
  const centre = box.getCenter(new THREE.Vector3());
  const size = box.getSize(new THREE.Vector3());
  const reach = Math.max(size.x, size.y) * (onFace ? 0.6 : 0.56); // half of what the tile shows

  const camera = new THREE.PerspectiveCamera(24, 1, reach * 0.05, reach * 60);
  const away = reach / Math.tan((12 * Math.PI) / 180) + size.z * 0.5;
  camera.position.set(centre.x + away * 0.2, centre.y + away * 0.045, centre.z + away * 0.98);
  camera.lookAt(centre);

  // Drawn larger and scaled down: the software WebGL's own antialiasing lets what lies behind a
  // surface through at single points of its edges, dark specks on a cheek.
  const finer = Math.max(1, Math.min(3, Math.floor(4096 / options.tile)));
  const renderer = new THREE.WebGLRenderer({ antialias: false, preserveDrawingBuffer: true });
  renderer.setSize(options.tile * finer, options.tile * finer, false);
  renderer.toneMapping = THREE.ACESFilmicToneMapping;
  renderer.toneMappingExposure = 1.0;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.VSMShadowMap;

  const stage = new THREE.Scene();
  stage.add(root);
  stage.background = backdrop();
  stage.add(new THREE.HemisphereLight(0xe2e2ee, 0x5a3418, 0.85));
  const key = new THREE.DirectionalLight(0xffd6a0, 2.5);
  key.position.set(centre.x - reach * 3.0, centre.y + reach * 3.0, centre.z + reach * 4.2);
  key.target.position.copy(centre);
  key.castShadow = true;
  key.shadow.mapSize.set(2048, 2048);
  key.shadow.radius = 5;
  key.shadow.blurSamples = 16;
  key.shadow.normalBias = reach * 0.014;
  key.shadow.bias = -0.001;
  const wide = Math.max(reach, onFace ? reach * 1.6 : size.length() * 0.6);
  stage.add(key, key.target);
  const rim = new THREE.DirectionalLight(0x9db8ff, 0.8);
  rim.position.set(centre.x + reach * 4, centre.y + reach * 2.5, centre.z - reach * 4);
  rim.target.position.copy(centre);
  // Without a shadow of its own it would shine through the head onto the teeth.
  rim.castShadow = true;
  rim.shadow.mapSize.set(1024, 1024);
  rim.shadow.radius = 4;
  rim.shadow.normalBias = reach * 0.006;
  rim.shadow.bias = -0.0006;
  stage.add(rim, rim.target);
  for (const light of [key, rim])
    Object.assign(light.shadow.camera, { left: -wide, right: wide, top: wide, bottom: -wide, near: reach * 0.5, far: reach * 14 });
  // From beside the camera, so that eyes and the inside of the mouth are not black.
  const fill = new THREE.DirectionalLight(0xffe8cf, 0.55);
  fill.position.set(centre.x + reach * 1.6, centre.y - reach * 0.4, centre.z + reach * 5);
  fill.target.position.copy(centre);
  stage.add(fill, fill.target);
  if (!onFace) {
    // The boards fade out before the wall begins.
    const fade = radial([[0, '#fff'], [0.35, '#fff'], [1, '#000']]);
    const boards = new THREE.MeshStandardMaterial({ color: 0x4a3220, roughness: 0.95, alphaMap: fade, transparent: true });
    const floor = new THREE.Mesh(new THREE.CircleGeometry(size.y * 1.7, 96), boards);
    floor.rotation.x = -Math.PI / 2;
    floor.position.set(centre.x, all.min.y - 1e-3 * reach, centre.z);
    floor.receiveShadow = true;
    stage.add(floor);
  }

  const label = Math.round(options.tile * 0.075);
  const gap = 6;
  const columns = Math.min(options.columns, times.length);
  const lines = Math.ceil(times.length / columns);
  const sheet = document.createElement('canvas');
  sheet.width = columns * options.tile + (columns + 1) * gap;
  sheet.height = lines * (options.tile + label) + (lines + 1) * gap + label;
  const ink = sheet.getContext('2d');
  ink.fillStyle = '#0b0806';
  ink.fillRect(0, 0, sheet.width, sheet.height);
  ink.textBaseline = 'middle';
  ink.imageSmoothingQuality = 'high';
  const contrast = [];
  for (const [i, time] of times.entries()) {
    pose(time);
    renderer.render(stage, camera);
    const x = gap + (i % columns) * (options.tile + gap);
    const y = gap + Math.floor(i / columns) * (options.tile + label + gap);
    ink.drawImage(renderer.domElement, x, y, options.tile, options.tile);
    const pixels = ink.getImageData(x + options.tile / 4, y + options.tile / 4, options.tile / 2, options.tile / 2).data;
    let [low, high] = [255, 0];
    for (let p = 0; p < pixels.length; p += 4) {
      low = Math.min(low, pixels[p]);
      high = Math.max(high, pixels[p]);
    }
    contrast.push(high - low);
    ink.font = `${Math.round(label * 0.56)}px "Liberation Mono", "DejaVu Sans Mono", monospace`;
    ink.textAlign = 'center';
    ink.fillStyle = '#f0d7b0';
    ink.fillText(`${time.toFixed(3)} s`, x + options.tile / 2, y + options.tile + label / 2);
  }
  const start = gltf.asset.extras?.startTimecode ?? clip?.userData?.startTimecode ?? root.userData?.startTimecode;
  ink.textAlign = 'left';
  ink.fillStyle = '#a58a66';
  ink.font = `${Math.round(label * 0.5)}px "Liberation Sans", "DejaVu Sans", sans-serif`;
  const title = `${options.title}   ${duration.toFixed(3)} s${typeof start === 'string' ? `   from ${start}` : ''}   three.js r${THREE.REVISION}`;
  ink.fillText(title, gap * 2, sheet.height - label / 2 - gap / 2, sheet.width - gap * 4);
  return { png: sheet.toDataURL('image/png').split(',')[1], width: sheet.width, height: sheet.height, times, duration, contrast };

  /** A dark wall with a warm pool of light behind the head. */
  function backdrop() {
    const texture = radial([[0, '#c08850'], [0.5, '#6b4424'], [0.85, '#2c1b0e'], [1, '#1a100a']]);
    texture.colorSpace = THREE.SRGBColorSpace;
    return texture;
  }

  function radial(stops) {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 512;
    const paint = canvas.getContext('2d');
    const glow = paint.createRadialGradient(256, 256, 0, 256, 256, 256 * 1.35);
    for (const [where, colour] of stops) glow.addColorStop(where / 1.35, colour);
    paint.fillStyle = glow;
    paint.fillRect(0, 0, 512, 512);
    return new THREE.CanvasTexture(canvas);
  }
}

await run(
  HELP,
  async (args) => {
    const { glb, out, ...options } = parseArgs(args);
    const model = await readFile(glb);
    const executablePath = await findChromium();
    const { chromium } = await peer('playwright-core/index.mjs');
    const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: 60_000 });
    try {
      const page = await browser.newPage();
      const errors = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      const types = { '.js': 'text/javascript', '.html': 'text/html', '.wasm': 'application/wasm' };
      await page.route('**/*', async (route) => {
        const { origin, pathname } = new URL(route.request().url());
        if (origin !== ORIGIN) return route.request().url().startsWith('blob:') ? route.continue() : route.abort();
        if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: PAGE });
        if (pathname === '/favicon.ico') return route.fulfill({ status: 204 });
        if (pathname === '/model.glb') return route.fulfill({ contentType: 'model/gltf-binary', body: model });
        if (pathname === '/scene.js') return route.fulfill({ contentType: 'text/javascript', body: `window.draw = ${scene};` });
        const file = path.join(modulesDir, path.normalize(pathname.replace(/^\/node_modules\//, '/')));
        if (!file.startsWith(modulesDir) || !(await stat(file).catch(() => null))?.isFile()) return route.fulfill({ status: 404 });
        return route.fulfill({ contentType: types[path.extname(file)] ?? 'application/octet-stream', body: await readFile(file) });
      });
      await page.goto(`${ORIGIN}/`);
      await page.waitForFunction(() => window.draw);
      const title = path.basename(glb);
      const sheet = await page.evaluate((given) => window.draw(given), { ...options, title });
      need(errors.length === 0, `page: expected no errors, found: ${errors.join(' | ')}`);
      await mkdir(path.dirname(path.resolve(out)), { recursive: true });
      await writeFile(out, Buffer.from(sheet.png, 'base64'));
      const empty = sheet.contrast.findIndex((c) => c < 24);
      need(empty < 0, `tile ${empty} at ${sheet.times[empty]} s: expected a picture, found it almost of one colour; see ${out}`);
      console.log(
        `ok ${out}: ${sheet.width}x${sheet.height}, ${sheet.times.length} tiles over ${sheet.duration.toFixed(3)} s, camera ${options.camera}`,
      );
    } finally {
      await browser.close();
    }
  },
  300,
);
