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

/** Formats slices as `name: a b !c`, with a star if they are written, and the deleted ones. */
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
  ['endpoints are packed into a slice', [], 'a b', ['new*: a b']],
  ['endpoints above the limit need several slices', [], 'a b c d e f g', ['new*: a b c d e', 'new*: f g']],
  ['an up-to-date slice is unchanged', [slice('x', 'a b')], 'a b', ['x: a b']],
  ['a changed endpoint is written', [slice('x', 'a b')], 'a !b', ['x*: a !b']],
  ['a removed endpoint is removed from its slice', [slice('x', 'a b')], 'a', ['x*: a']],
  ['a slice without endpoints is obsolete', [slice('x', 'a'), slice('y', 'b')], 'b', ['-x', 'y: b']],
  [
    'a new endpoint is added to a slice that changes anyway',
    [slice('x', 'a b c'), slice('y', 'd e')],
    'a b d e f',
    ['x*: a b f', 'y: d e'],
  ],
  [
    'the fullest changed slice is filled first',
    [slice('x', 'a b c'), slice('y', 'd e f g')],
    'a b d e f h i j',
    ['x*: a b j', 'y*: d e f h i'],
  ],
  [
    'otherwise the slice with the best fit is used',
    [slice('x', 'a'), slice('y', 'b c d')],
    'a b c d e',
    ['x: a', 'y*: b c d e'],
  ],
  [
    'otherwise a new slice is created',
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

test('a slice with stale labels is written with unchanged endpoints', () => {
  assert.deepEqual(summary([slice('x', 'a'), slice('y', 'b')], 'a b', ['y']), ['x: a', 'y*: b']);
});

test('every endpoint is in one slice, no slice exceeds the limit, and packing is idempotent', () => {
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

test('the order of ports does not matter', () => {
  const [a, b] = [
    { name: 'a', port: 80, protocol: 'TCP' as const },
    { name: 'b', port: 81 },
  ];
  assert.equal(portsId([a, b]), portsId([b, a]));
  assert.notEqual(portsId([a]), portsId([{ ...a, appProtocol: 'kubernetes.io/h2c' }]));
  assert.equal(portsId(null), portsId([]));
});
