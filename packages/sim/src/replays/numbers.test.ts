import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const rows = readFileSync(`${folder}README.md`, 'utf8').split('\n');

for (const file of globSync(`${folder}*.test.ts`)) {
  const name = basename(file);
  if (name === basename(import.meta.filename)) continue;
  test(`the README lists exactly the issues that ${name} replays`, () => {
    const own = rows.filter((row) => row.includes(`| \`${name}\` |`)).map((row) => row.split('|')[3] ?? '');
    const titles = [...readFileSync(file, 'utf8').matchAll(/^\s*test\(\s*['`]((?:#?[0-9a-f]+(?:, )?)+): /gm)].map(
      ([, all]) => all,
    );
    const numbersIn = (texts: readonly (string | undefined)[]) =>
      [...new Set(texts.flatMap((text) => text?.match(/[0-9a-f]{3,}/g) ?? []))].sort();
    assert.deepEqual(numbersIn(own), numbersIn(titles));
  });
}
