#!/usr/bin/env node
// `npm create @kruise/controller greeter`: creates a project with a controller, its test and its configuration.
//   --packages FOLDER   use the tarballs of Kruise packages in this folder (`npm run pack`), not from the registry
// Plain JavaScript, because Node.js does not strip types in node_modules.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { packages: { type: 'string' } }, allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) fail('usage: npm create @kruise/controller <folder>');
if (existsSync(folder) && readdirSync(folder).length > 0) fail(`${folder} is there, and not empty`);

cpSync(fileURLToPath(new URL('template', import.meta.url)), folder, { recursive: true });
// npm does not publish files named .gitignore.
renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'));
const file = join(folder, 'package.json');
const manifest = JSON.parse(readFileSync(file, 'utf8'));
const name = basename(resolve(folder))
  .toLowerCase()
  .replace(/[^a-z0-9-]+/g, '-');
const { devDependencies, dependencies } = manifest;
for (const [each, place] of Object.entries(tarballs())) {
  // Dependencies between the packages are also resolved from the tarballs.
  if (devDependencies[each]) devDependencies[each] = place;
  else dependencies[each] = place;
}
writeFileSync(file, `${JSON.stringify({ ...manifest, name }, undefined, 2)}\n`);

console.log(`${folder} is there. Next:

  cd ${folder}
  npm install
  npm test          # against an API server in memory
  npm start         # against the cluster kubectl would use`);

/** Returns the tarballs of Kruise's packages by name. */
function tarballs() {
  if (values.packages === undefined) return {};
  const place = resolve(values.packages);
  const found = readdirSync(place).map((each) => /^kruise-(?!create-)(.+)-\d+\.\d+\.\d+\.tgz$/.exec(each));
  return Object.fromEntries(
    found
      .filter(Boolean)
      .map(([each, part]) => [`@kruise/${part}`, `file:${relative(resolve(folder), join(place, each))}`]),
  );
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
