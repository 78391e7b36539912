import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseScript } from './parse.ts';
import { matches, type Pattern } from './pattern.ts';
import { ShellSyntaxError } from './syntax.ts';

/** Fragments of scripts, concatenated at random. */
const pieces = fc.constantFrom(
  ...['if', 'then', 'fi', 'while', 'do', 'done', 'for', 'in', 'case', 'esac', '{', '}', '(', ')', ';', ';;', '&', '&&'],
  ...['|', '||', '<', '>', '>>', '<<', '2>&1', '$', '${', '$(', '$((', '`', '"', "'", '\\', '\n', ' ', '#', '!', '='],
  ...['x', 'a=b', '*', '[', ']', '~', '1', '-', 'EOF'],
);

test('any text is a script or a syntax error, and parsing terminates', () => {
  const text = fc.oneof(
    fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
    fc.string({ maxLength: 60 }),
  );
  fc.assert(
    fc.property(text, (script) => {
      try {
        assert.equal(parseScript(script).kind, 'list');
      } catch (error) {
        assert.ok(error instanceof ShellSyntaxError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test('a script that is nested too deeply is rejected', () => {
  assert.throws(() => parseScript('('.repeat(5000)), ShellSyntaxError);
  assert.throws(() => parseScript('$('.repeat(5000)), ShellSyntaxError);
  assert.throws(() => parseScript(`x${'y'.repeat(300_000)}`), ShellSyntaxError);
});

test('text in single quotes is literal', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes("'")),
      (text) => {
        const { command } = parseScript(`echo '${text}'`).items[0] ?? {};
        assert.ok(command?.kind === 'simple');
        assert.deepEqual(command.words[1], [{ kind: 'literal', text, isQuoted: true }]);
      },
    ),
  );
});

test('patterns match like equivalent regular expressions', () => {
  const letters = fc.constantFrom('a', 'b', '*', '?');
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 10 }),
      (parts, text) => {
        const pattern: Pattern = parts.map((character) => ({ character, isLiteral: false }));
        const expression = parts.map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part)).join('');
        assert.equal(matches(pattern, text), new RegExp(`^${expression}$`).test(text));
      },
    ),
  );
});

test('a pattern of many stars is as fast as one', () => {
  const pattern: Pattern = [...'*a'.repeat(30), 'b'].map((character) => ({ character, isLiteral: false }));
  assert.equal(matches(pattern, 'a'.repeat(5000)), false);
});
