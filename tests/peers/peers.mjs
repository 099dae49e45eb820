// What the node peers share: where setup.sh put the packages, loading a GLB with three.js, the app CSV.

import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const modulesDir = path.join(
  path.resolve(process.env.GHOSTLIGHT_PEERS || path.join(here, '..', '..', 'target', 'peers')),
  'node_modules',
);

/** A check that failed; the text says what was expected and what was found. */
export class Fault extends Error {}

export function need(condition, text) {
  if (!condition) throw new Fault(text);
}

/** Imports a file of an installed peer, for example `three/build/three.module.js`. */
export async function peer(file) {
  const full = path.join(modulesDir, file);
  need(existsSync(full), `${file.split('/')[0]} is not installed: run tests/peers/setup.sh`);
  return import(pathToFileURL(full).href);
}

/** Runs a script's main: a Fault is one line and exit code 1, wrong use is exit code 2. */
export async function run(help, main, limitSecs = 120) {
  const args = process.argv.slice(2);
  if (args.includes('-h') || args.includes('--help')) {
    console.log(help.trim());
    return;
  }
  const watchdog = setTimeout(() => {
    console.error(`FAILED: expected an end within ${limitSecs} s: given up`);
    process.exit(1);
  }, limitSecs * 1000);
  try {
    process.exitCode = (await main(args)) ?? 0;
  } catch (error) {
    console.error(error instanceof Fault ? `FAILED: ${error.message}` : error);
    process.exitCode = 1;
  } finally {
    clearTimeout(watchdog);
  }
}

export function usage(help, text) {
  console.error(`${text}\n${help.trim()}`);
  process.exit(2);
}

/** Loads a GLB with three.js's own GLTFLoader under node. Textures are left out: nothing here sees them. */
export async function loadGlb(file) {
  globalThis.self ??= globalThis; // GLTFLoader asks it for URL
  globalThis.ProgressEvent ??= class ProgressEvent extends Event {}; // FileLoader reports with it
  const THREE = await peer('three/build/three.module.js');
  const { GLTFLoader } = await peer('three/examples/jsm/loaders/GLTFLoader.js');
  const { MeshoptDecoder } = await peer('three/examples/jsm/libs/meshopt_decoder.module.js');
  const loader = new GLTFLoader();
  loader.setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => ({
    name: 'GHOSTLIGHT_no_textures',
    beforeRoot() {
      for (const material of parser.json.materials ?? []) withoutTextures(material);
      return null;
    },
  }));
  const bytes = await readFile(file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const gltf = await loader.parseAsync(data, '');
  gltf.scene.updateMatrixWorld(true);
  return { THREE, gltf };
}

function withoutTextures(value) {
  for (const [key, child] of Object.entries(value)) {
    if (/texture$/i.test(key)) delete value[key];
    else if (child && typeof child === 'object') withoutTextures(child);
  }
}

/** Reads an app CSV: rows of {timecode, atSecs (from the first row), curves: Map(lower-case name -> value)}. */
export async function readCsv(file, givenRate) {
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/).filter((line) => line !== '');
  need(lines.length >= 2, `CSV: expected a header and rows, found ${lines.length} lines: ${file}`);
  const header = lines[0].split(',').map((name) => name.trim().toLowerCase());
  need(header[0] === 'timecode', `CSV first column: expected Timecode, found ${header[0]}: ${file}`);
  const cells = lines.slice(1).map((line) => line.split(','));
  // The app does not write the rate: 60 if any FF passes 29, as importers guess, else 30.
  const rate = givenRate ?? (cells.some(([tc]) => Number(tc.split(':')[3].split('.')[0]) > 29) ? 60 : 30);
  const rows = cells.map((row, i) => {
    need(row.length === header.length, `CSV line ${i + 2}: expected ${header.length} fields, found ${row.length}`);
    const [h, m, s, f] = row[0].split(':').map(Number);
    const at = (h * 60 + m) * 60 + s + f / rate;
    need(Number.isFinite(at), `CSV line ${i + 2}: expected HH:MM:SS:FF.sss, found ${row[0]}`);
    const curves = new Map(header.slice(2).map((name, k) => [name, Number(row[k + 2])]));
    return { timecode: row[0], at, curves };
  });
  for (const row of rows) row.atSecs = row.at - rows[0].at;
  return { rows, rate };
}

/** The 52 weights: every curve of the CSV that is not a rotation. */
export const isRotation = (name) => /^(head|lefteye|righteye)(yaw|pitch|roll)$/.test(name);
