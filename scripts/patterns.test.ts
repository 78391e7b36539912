import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkSync } from 'recheck';

/**
 * JavaScript regular expressions backtrack. A pattern with quadratic time on a text of one megabyte blocks a process
 * for minutes, and most patterns match user input.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('packages/*/{src,bin}/**/*.{ts,mjs}', { cwd: root }).filter(
  (file) => !/[.-]test\.ts$|\/testing\/|\/generated\//.test(file),
);

/**
 * A regular expression literal follows an operator, an opening bracket, a comma or a keyword; elsewhere a slash
 * divides.
 */
const literal =
  /(?:^|[=(,:?[!&|{;]|=>|\breturn|\byield|\.\.\.)\s*(\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*)/gm;

const patterns = new Map<string, string[]>();
for (const file of sources) {
  for (const [, found] of readFileSync(join(root, file), 'utf8').matchAll(literal)) {
    patterns.set(found!, [...(patterns.get(found!) ?? []), file]);
  }
}

test('the test finds the patterns of the sources', () => assert.ok(patterns.size > 300, `${patterns.size} found`));

test('every pattern takes linear time on every text', () => {
  const slow = [...patterns].flatMap(([pattern, files]) => {
    const end = pattern.lastIndexOf('/');
    const source = pattern.slice(1, end);
    // Only an unbounded repetition can backtrack.
    if (!/[+*]|,\}/.test(source)) return [];
    const found = checkSync(source, pattern.slice(end + 1), { randomSeed: 1, timeout: 60_000 });
    if (found.status === 'safe') return [];
    const why = found.status === 'vulnerable' ? found.complexity.summary : found.error.kind;
    return [`${pattern} in ${files.join(', ')}: ${why}`];
  });
  assert.deepEqual(slow, []);
});
