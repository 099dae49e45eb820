#!/usr/bin/env node
// Is the file glTF 2.0? Witness: the Khronos glTF validator (npm gltf-validator 2.0.0-dev.3.10).

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { need, peer, run, usage } from './peers.mjs';

const HELP = `
usage: gltf_check.mjs FILE...

Puts each .glb or .gltf before the Khronos validator, prints its counts and messages, and exits 1
unless every file has 0 errors and 0 warnings. Infos and hints are printed and allowed.
  --json   also print each file's report as one line of JSON
`;
const SEVERITY = ['error', 'warning', 'info', 'hint'];
const SHOWN = 20; // messages printed a file

await run(HELP, async (args) => {
  const files = args.filter((arg) => !arg.startsWith('--'));
  const unknown = args.find((arg) => arg.startsWith('--') && arg !== '--json');
  if (unknown || files.length === 0) usage(HELP, unknown ? `unknown option: ${unknown}` : 'no file given');
  const validator = (await peer('gltf-validator/index.js')).default;
  let bad = 0;
  for (const file of files) {
    const report = await validator.validateBytes(new Uint8Array(await readFile(file)), {
      uri: path.basename(file),
      maxIssues: 1000,
      writeTimestamp: false,
      externalResourceFunction: async (uri) =>
        new Uint8Array(await readFile(path.join(path.dirname(file), decodeURIComponent(uri)))),
    });
    const { numErrors, numWarnings, numInfos, numHints, messages } = report.issues;
    const { animationCount = 0, morphTargetsCount, hasMorphTargets, hasSkins, totalVertexCount } = report.info ?? {};
    const passed = numErrors === 0 && numWarnings === 0;
    bad += passed ? 0 : 1;
    console.log(
      `${passed ? 'ok' : 'FAILED'} ${path.basename(file)}: expected 0 errors and 0 warnings, found ${numErrors} errors, ` +
        `${numWarnings} warnings, ${numInfos} infos, ${numHints} hints ` +
        `(${totalVertexCount} vertices, ${animationCount} animations, morph targets ${morphTargetsCount ?? hasMorphTargets}, skins ${hasSkins})`,
    );
    for (const { severity, code, message, pointer } of messages.slice(0, SHOWN))
      console.log(`  ${SEVERITY[severity]} ${code} ${message} ${pointer ?? ''}`);
    if (messages.length > SHOWN) console.log(`  and ${messages.length - SHOWN} more`);
    if (args.includes('--json')) console.log(JSON.stringify(report));
  }
  need(bad === 0, `expected 0 files with errors or warnings, found ${bad} of ${files.length}`);
});
