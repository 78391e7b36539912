import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generate, generatedFolder, hasProtoc, protoFiles } from './protobuf.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const file of protoFiles()) {
  test(`the code generated from ${file} is up to date`, (context) => {
    if (!hasProtoc()) {
      assert(!process.env['CI'], 'protoc is not installed');
      return context.diagnostic('LEFT OUT: protoc is not installed, so this was not compared');
    }
    const folder = mkdtempSync(join(tmpdir(), 'kruise-protobuf-'));
    context.after(() => rmSync(folder, { recursive: true }));
    generate(file, folder);
    for (const name of readdirSync(folder)) {
      const kept = readFileSync(join(root, generatedFolder(file), name), 'utf8');
      assert.equal(kept, readFileSync(join(folder, name), 'utf8'), `run: node scripts/protobuf.ts`);
    }
  });
}
