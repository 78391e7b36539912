import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = globSync('docs/**/*.md', { cwd: root });

/** A block that names a file, as in ```ts examples/x.ts, shows that file. */
const examples = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, file, text]) => ({
    page,
    file: file!,
    text: text!,
  })),
);

test('the docs contain examples', () => assert.notEqual(examples.length, 0));

for (const { page, file, text } of examples) {
  test(`${page} shows ${file} verbatim`, () => assert.equal(text, readFileSync(join(root, file), 'utf8')));
}
