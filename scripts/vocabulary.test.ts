import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pageViolations, sourceViolations, vocabularyViolations } from './vocabulary.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the repository keeps the vocabulary', () => {
  const found = vocabularyViolations(root, []).map(({ file, line, rule, text }) => `${file}:${line}: ${rule}: ${text}`);
  assert.deepEqual(found, []);
});

describe('sources', () => {
  const cases = [
    ['/** What a key is. */\n', 'opening of a doc comment'],
    ['// The owner is told of it.\n', 'word in a comment'],
    ['// As jobs.md §1.8 has it.\n', 'citation'],
    ["test('nobody may write', () => {});\n", 'word in a test title'],
    ["log.warn({ error }, 'the owner was told');\n", 'word in a log message'],
    ['const isTold = true;\n', 'identifier with "told"'],
    ['const podNamed = 1;\n', 'identifier that ends with "Named"'],
    [`const text = \`a \${told} b\`;\n`, 'identifier with "told"'],
  ] as const;
  for (const [source, rule] of cases) {
    test(`${JSON.stringify(source)} breaks a rule: ${rule}`, () => {
      assert.deepEqual(
        sourceViolations('a.ts', source).map((each) => each.rule),
        [rule],
      );
    });
  }

  const fields = [
    ["s.optional(1, s.string(), 'Who asked.');\n", 'opening of the documentation of a field'],
    ["s.string({ doc: 'Whether it is ready.' });\n", 'opening of the documentation of a field'],
    ["s.optional(1, s.string(), 'Name that is told to clients.');\n", 'word in the documentation of a field'],
  ] as const;
  for (const [source, rule] of fields) {
    test(`${JSON.stringify(source)} in the definition of a kind breaks a rule: ${rule}`, () => {
      assert.deepEqual(
        sourceViolations('packages/api/src/core/a.ts', source).map((each) => each.rule),
        [rule],
      );
      assert.deepEqual(sourceViolations('packages/api/src/core/a.validate.ts', source), []);
    });
  }

  test('data in strings, templates and regular expressions breaks no rule', () => {
    const source = `const a = 'told'; const b = /told|whom/; const c = \`told \${a} told\`; const d = a / b / c;\n`;
    assert.deepEqual(sourceViolations('a.ts', source), []);
  });
});

test('a page breaks a rule outside of code only', () => {
  const page = '# Title\n\nThe owner is told.\n\n```\ntold\n```\n\nThe field `told`.\n';
  assert.deepEqual(
    pageViolations('a.md', page).map(({ line }) => line),
    [3],
  );
});
