import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { kruiseGates } from '@kruise/manager/configuration/feature-gates';
import { kubeletGates } from '@kruise/node/kubelet/feature-gates';
import MiniSearch from 'minisearch';
import { deadLinks, parsePage, readPages, resolveLink } from './docs/pages.ts';
import { referencePages } from './docs/reference.ts';
import { buildSite, urlOf } from './docs/site.ts';
import { pageViolations } from './vocabulary.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = readPages(root);
const files = globSync('docs/**/*.md', { cwd: root }).sort();

/** Code blocks that name a file, as in ```ts examples/x.ts, show that file. */
const examples = files.flatMap((page) =>
  [...read(page).matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, file, text]) => ({
    page,
    file: file!,
    text: text!,
  })),
);

describe('examples', () => {
  test('the pages have examples', () => assert.notEqual(examples.length, 0));

  for (const { page, file, text } of examples) {
    test(`${page} shows ${file} as it is run`, () => assert.equal(text, read(file)));
  }
});

describe('links', () => {
  test('every link of every page leads to a file and a heading', () => assert.deepEqual(deadLinks(root, pages), []));

  test('a link to a missing file or heading is found', () => {
    const page = parsePage(
      'docs/x.md',
      '# One\n\n[a](#one) [b](#two) [c](missing.md) [d](../README.md) [e](https://x.y/)',
    );
    assert.deepEqual(deadLinks(root, [page]), ['docs/x.md: #two', 'docs/x.md: missing.md']);
  });

  test('headings have the anchors of code hosts', () => {
    const { headings } = parsePage('x.md', '# `kruise up`: one, two\n## A\n## A\n');
    assert.deepEqual(
      headings.map(({ anchor }) => anchor),
      ['kruise-up-one-two', 'a', 'a-1'],
    );
  });

  test('the contents list every page', () => {
    const listed = pages
      .filter(({ file }) => file === 'docs/README.md' || file === 'docs/contributing/decisions/README.md')
      .flatMap((page) => page.links.map((link) => resolveLink(page, link)?.file));
    assert.deepEqual(
      files.filter((file) => file !== 'docs/README.md' && !listed.includes(file)),
      [],
    );
  });
});

const generated = await referencePages(root);

test("the pages use Kubernetes' vocabulary", () => {
  // Generated pages quote the sources, which are checked themselves.
  const written = pages.filter(({ file }) => !generated.has(file));
  assert.deepEqual(
    written.flatMap(({ file }) => pageViolations(file, read(file)).map(({ line, text }) => `${file}:${line}: ${text}`)),
    [],
  );
});

describe('reference', () => {
  for (const [file, text] of generated) {
    test(`${file} is up to date (npm run docs:reference)`, () =>
      assert.equal(existsSync(join(root, file)) && read(file), text));
  }

  test('every feature gate is listed with its stage and default', () => {
    const page = read('docs/reference/feature-gates.md');
    const missing = Object.entries({ ...kruiseGates, ...kubeletGates }).filter(
      ([name, gate]) => !page.includes(`| \`${name}\` | ${gate.stage} | ${gate.default} |`),
    );
    assert.deepEqual(missing, []);
  });

  test('every event reason of the reference is in the sources', () => {
    const sources = globSync('packages/{manager,daemon,controlplane,network}/src/**/*.ts', { cwd: root })
      .map(read)
      .join('\n');
    const reasons = [...read('docs/reference/events.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, reason]) => reason!);
    assert.ok(reasons.length > 20);
    assert.deepEqual(
      reasons.filter((reason) => !sources.includes(reason)),
      [],
    );
  });
});

describe('code tour', () => {
  const page = pages.find(({ file }) => file === 'docs/contributing/code-tour.md')!;
  /** A step is a link to a source file, followed by the symbols to read there. */
  const steps = [...read(page.file).matchAll(/\[`[^`]+`\]\(([^)]+\.ts)\)((?:,? `\w+`)*)/g)].map(
    ([, link, symbols]) => ({
      file: posix.normalize(posix.join('docs/contributing', link!)),
      symbols: [...symbols!.matchAll(/`(\w+)`/g)].map(([, symbol]) => symbol!),
    }),
  );

  test('the tour has steps', () => assert.ok(steps.filter(({ symbols }) => symbols.length > 0).length > 20));

  for (const { file, symbols } of steps) {
    for (const symbol of symbols) {
      test(`${file} declares ${symbol}`, () => {
        const declaration = new RegExp(
          `\\b(?:function\\*?|const|let|class|type|interface)\\s+${symbol}\\b|^\\s*(?:async )?${symbol}(?:\\(|: )|\\breadonly ${symbol}\\b`,
          'm',
        );
        assert.match(read(file), declaration);
      });
    }
  }
});

test('the site has every page, and its search finds them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-docs-'));
  try {
    assert.equal(buildSite(root, folder), pages.length);
    for (const file of files) assert.match(readFileSync(join(folder, urlOf(file)), 'utf8'), /<h1 id=/, file);
    const script = readFileSync(join(folder, 'assets/search-index.js'), 'utf8');
    const json = JSON.parse(/^window\.searchIndex = (.*);$/m.exec(script)![1]!) as string;
    const index = MiniSearch.loadJSON(json, { fields: ['heading', 'page', 'text'], storeFields: ['page', 'heading'] });
    const found = index.search('maxUnavailable partition', { combineWith: 'AND' }).map(({ id }) => String(id));
    assert.ok(found.some((id) => id.startsWith('concepts/cloneset.html')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
