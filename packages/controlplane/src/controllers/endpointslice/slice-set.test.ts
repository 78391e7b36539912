import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, EndpointSlice } from '@kruise/api/discovery/endpointslice';
import fc from 'fast-check';
import { idOf, pack, portsId } from './slice-set.ts';

const shape = { addressType: 'IPv4', ports: [] };
const options = { maxPerSlice: 5, isOutdated: () => false };

const endpoint = (name: string, ready = true): Endpoint => ({
  addresses: [name],
  conditions: { ready },
  targetRef: { kind: 'Pod', name, namespace: 'default' },
});
const wanted = (text: string) => new Map(words(text).map((word) => entry(word)));
const words = (text: string) => text.split(' ').filter(Boolean);
function entry(word: string): [string, Endpoint] {
  const made = endpoint(word.replace('!', ''), !word.startsWith('!'));
  return [idOf(made), made];
}

function slice(name: string, text: string): EndpointSlice {
  const endpoints = words(text).map((word) => entry(word)[1]);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name },
    addressType: 'IPv4',
    endpoints,
  };
}

/** Slices as `name: a b !c`, with a star if they are to be written, and what goes. */
function summary(
  existing: readonly EndpointSlice[],
  text: string,
  outdated: readonly string[] = [],
): readonly string[] {
  const { drafts, obsolete } = pack(shape, existing, wanted(text), {
    ...options,
    isOutdated: ({ metadata }) => outdated.includes(metadata.name ?? ''),
  });
  const shown = drafts.map(({ existing: from, endpoints, isChanged }) => {
    const names = endpoints.map(({ addresses, conditions }) => `${conditions?.ready ? '' : '!'}${addresses[0]}`);
    return `${from?.metadata.name ?? 'new'}${isChanged ? '*' : ''}: ${names.join(' ')}`;
  });
  return [...shown, ...obsolete.map(({ metadata }) => `-${metadata.name}`)].sort();
}

const cases: readonly [
  name: string,
  existing: readonly EndpointSlice[],
  wanted: string,
  expected: readonly string[],
][] = [
  ['endpoints make a slice', [], 'a b', ['new*: a b']],
  ['more than fit make several', [], 'a b c d e f g', ['new*: a b c d e', 'new*: f g']],
  ['what is right is left alone', [slice('x', 'a b')], 'a b', ['x: a b']],
  ['what changed is written', [slice('x', 'a b')], 'a !b', ['x*: a !b']],
  ['what is gone is taken out', [slice('x', 'a b')], 'a', ['x*: a']],
  ['a slice without endpoints goes', [slice('x', 'a'), slice('y', 'b')], 'b', ['-x', 'y: b']],
  [
    'what is new goes into a slice that is written anyway',
    [slice('x', 'a b c'), slice('y', 'd e')],
    'a b d e f',
    ['x*: a b f', 'y: d e'],
  ],
  [
    'the fullest of those first',
    [slice('x', 'a b c'), slice('y', 'd e f g')],
    'a b d e f h i j',
    ['x*: a b j', 'y*: d e f h i'],
  ],
  [
    'else into the slice that is fullest with it',
    [slice('x', 'a'), slice('y', 'b c d')],
    'a b c d e',
    ['x: a', 'y*: b c d e'],
  ],
  [
    'else into a new one',
    [slice('x', 'a b c d'), slice('y', 'e f g h')],
    'a b c d e f g h i j',
    ['new*: i j', 'x: a b c d', 'y: e f g h'],
  ],
  ['an empty slice is filled', [slice('x', '')], 'a', ['x*: a']],
  ['an empty slice stays empty', [slice('x', '')], '', ['x: ']],
  ['an endpoint in two slices stays in the first', [slice('x', 'a'), slice('y', 'a b')], 'a b', ['x: a', 'y*: b']],
];
for (const [name, existing, text, expected] of cases) {
  test(name, () => assert.deepEqual(summary(existing, text), expected));
}

test('a slice that is out of date is written, its endpoints as they are', () => {
  assert.deepEqual(summary([slice('x', 'a'), slice('y', 'b')], 'a b', ['y']), ['x: a', 'y*: b']);
});

test('every endpoint is in one slice, none is too full, and packing again changes nothing', () => {
  const name = fc.constantFrom(...'abcdefghijklmnop');
  const someSlices = fc.array(fc.uniqueArray(name, { maxLength: 5 }), { maxLength: 5 });
  fc.assert(
    fc.property(someSlices, fc.uniqueArray(name), (present, names) => {
      const existing = present.map((each, index) => slice(`slice-${index}`, each.join(' ')));
      const { drafts } = pack(shape, existing, wanted(names.join(' ')), options);
      const packed = drafts.flatMap(({ endpoints }) => endpoints.map(({ addresses }) => addresses[0]));
      assert.deepEqual(packed.toSorted(), names.toSorted());
      assert.ok(drafts.every(({ endpoints }) => endpoints.length <= 5));
      const after = drafts.map(({ endpoints }, index) => ({
        ...slice(`after-${index}`, ''),
        endpoints: [...endpoints],
      }));
      const again = pack(shape, after, wanted(names.join(' ')), options);
      assert.ok(again.drafts.every(({ isChanged }) => !isChanged));
      assert.deepEqual(again.obsolete, []);
    }),
  );
});

test('the order of ports makes no difference to where endpoints go', () => {
  const [a, b] = [
    { name: 'a', port: 80, protocol: 'TCP' as const },
    { name: 'b', port: 81 },
  ];
  assert.equal(portsId([a, b]), portsId([b, a]));
  assert.notEqual(portsId([a]), portsId([{ ...a, appProtocol: 'kubernetes.io/h2c' }]));
  assert.equal(portsId(null), portsId([]));
});
