import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOpenApiV3 } from './gnostic-v3.ts';
import { runSteps } from './steps.ts';

/** Returns the fields of a message by number, each with the bytes after its tag. */
function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const found = new Map<number, Uint8Array[]>();
  let at = 0;
  const varint = (): number => {
    let [value, shift] = [0, 1];
    for (;;) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
      shift *= 0x80;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const wire = tag % 8;
    const length = wire === 2 ? varint() : wire === 1 ? 8 : 0;
    const start = at;
    if (wire === 0) varint();
    else at += length;
    const number = Math.floor(tag / 8);
    found.set(number, [...(found.get(number) ?? []), bytes.subarray(start, at)]);
  }
  return found;
}

/** Follows field numbers from a message to a nested value. */
function inside(bytes: Uint8Array, ...path: readonly number[]): string {
  const last = path.reduce((message, number) => fieldsOf(message).get(number)![0]!, bytes);
  return Buffer.from(last).toString();
}

const document = runSteps(
  encodeOpenApiV3({
    openapi: '3.0.0',
    info: { title: 'T', version: 'V' },
    paths: {
      '/p': {
        get: {
          operationId: 'getP',
          responses: { 200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/x' } } } } },
          'x-kubernetes-action': 'get',
        },
      },
    },
    components: {
      schemas: {
        A: { type: 'object', properties: { b: { type: 'array', items: { $ref: '#/y' }, default: {} } }, 'x-k': ['v'] },
      },
    },
  }),
);

const cases: readonly [string, readonly number[], string][] = [
  ['the version of OpenAPI', [1], '3.0.0'],
  ['the version of the document', [2, 6], 'V'],
  ['a path by its name', [4, 1, 1], '/p'],
  ['an operation', [4, 1, 2, 4, 5], 'getP'],
  ['what an operation answers, as a reference', [4, 1, 2, 4, 8, 2, 2, 1, 3, 1, 2, 1, 2, 1], '#/x'],
  ['an extension, as YAML', [4, 1, 2, 4, 13, 2, 2], '"get"\n'],
  ['a schema, as itself', [5, 1, 1, 2, 1, 25], 'object'],
  ['what a list is of', [5, 1, 1, 2, 1, 31, 1, 2, 1, 30, 1, 2, 1], '#/y'],
  ['an object as a default is left empty', [5, 1, 1, 2, 1, 31, 1, 2, 1, 33], ''],
];
for (const [name, path, expected] of cases) {
  test(name, () => assert.equal(inside(document, ...path), expected));
}
