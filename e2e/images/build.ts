#!/usr/bin/env node
// Builds the images of the end-to-end tests into .cache/images, from Debian packages and Go sources.
//   node e2e/images/build.ts                        all images
//   node e2e/images/build.ts docker.io/library/busybox:latest
//   node e2e/images/build.ts --archive FILE NAME…   and an archive of them for kruise image load
// KRUISE_E2E_PROGRAMS names a folder with programs that were built before (agnhost, coredns).
import { parseArgs } from 'node:util';
import { buildImages } from './images.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { archive: { type: 'string' } } });
const store = buildImages(positionals.length > 0 ? positionals : undefined);
const names = positionals.length > 0 ? positionals : store.names();
for (const name of names) console.log(`${store.digestOf(name)} ${name}`);
if (values.archive !== undefined) store.writeArchive(names, values.archive);
