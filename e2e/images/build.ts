#!/usr/bin/env node
// Builds the images of the end-to-end tests into .cache/images, from Debian packages and Go sources.
//   node e2e/images/build.ts                        all images
//   node e2e/images/build.ts docker.io/library/busybox:latest
//   node e2e/images/build.ts --archive FILE NAME…   and an archive of them for kruise image load
//   node e2e/images/build.ts --serve PORT            and a registry of all, for kruise up --registry-mirror
// KRUISE_E2E_PROGRAMS names a folder with programs that were built before (agnhost, coredns).
import { parseArgs } from 'node:util';
import { buildImages } from './images.ts';
import { serveRegistry } from './registry.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { archive: { type: 'string' }, serve: { type: 'string' } },
});
const store = buildImages(positionals.length > 0 ? positionals : undefined);
const names = positionals.length > 0 ? positionals : store.names();
for (const name of names) console.log(`${store.digestOf(name)} ${name}`);
if (values.archive !== undefined) store.writeArchive(names, values.archive);
if (values.serve !== undefined) {
  const { url } = await serveRegistry(store, '127.0.0.1', Number(values.serve));
  console.log(`Serving at ${url}; press Ctrl-C to stop.`);
  setInterval(() => {}, 2 ** 30);
}
