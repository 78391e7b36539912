import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { findMatchingVolume, isFullyBound, type MatchOptions, volumeBoundTo } from './volume-binding.ts';

type Spec = NonNullable<PersistentVolume['spec']>;
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;

const volume = (name: string, storage: string, spec: Partial<Spec> = {}, more: Partial<PersistentVolume> = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], storageClassName: 'local', ...spec },
    status: { phase: 'Available' },
    ...more,
  }) as PersistentVolume;
const claim = (storage: string, spec: Partial<ClaimSpec> = {}, annotations = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', uid: 'u1', resourceVersion: '7', annotations },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'local', resources: { requests: { storage } }, ...spec },
});
const kept = { claimRef: { name: 'data', namespace: 'default' } };
const onNode = (name: string): Partial<Spec> => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }],
    },
  },
});
const node = { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } } };

type Row = readonly [
  name: string,
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  options: MatchOptions,
  found: string | undefined,
];
const rows: Row[] = [
  [
    'the smallest that is large enough',
    claim('5Gi'),
    [volume('a', '10Gi'), volume('b', '6Gi'), volume('c', '1Gi')],
    { node },
    'b',
  ],
  ['none that is too small', claim('5Gi'), [volume('a', '4Gi')], { node }, undefined],
  [
    'one that is kept for it, even if it is larger',
    claim('1Gi'),
    [volume('a', '1Gi'), volume('b', '9Gi', kept)],
    { node },
    'b',
  ],
  [
    'none that is kept for another',
    claim('1Gi'),
    [volume('a', '1Gi', { claimRef: { name: 'other', namespace: 'default' } })],
    { node },
    undefined,
  ],
  [
    'none that was kept for an earlier claim of its name',
    claim('1Gi'),
    [volume('a', '1Gi', { claimRef: { ...kept.claimRef, uid: 'u0' } })],
    { node },
    undefined,
  ],
  ['none of another class', claim('1Gi'), [volume('a', '1Gi', { storageClassName: 'fast' })], { node }, undefined],
  ['none of another mode', claim('1Gi', { volumeMode: 'Block' }), [volume('a', '1Gi')], { node }, undefined],
  [
    'none without its access modes',
    claim('1Gi', { accessModes: ['ReadWriteMany'] }),
    [volume('a', '1Gi')],
    { node },
    undefined,
  ],
  [
    'none that is not available',
    claim('1Gi'),
    [volume('a', '1Gi', {}, { status: { phase: 'Released' } })],
    { node },
    undefined,
  ],
  [
    'none that its selector does not match',
    claim('1Gi', { selector: { matchLabels: { disk: 'ssd' } } }),
    [volume('a', '1Gi')],
    { node },
    undefined,
  ],
  [
    'one that the node can reach',
    claim('1Gi'),
    [volume('a', '1Gi', onNode('n2')), volume('b', '1Gi', onNode('n1'))],
    { node },
    'b',
  ],
  [
    'none, if the one kept for it is elsewhere',
    claim('1Gi'),
    [volume('a', '1Gi', { ...kept, ...onNode('n2') }), volume('b', '1Gi')],
    { node },
    undefined,
  ],
  ['none that is spoken for', claim('1Gi'), [volume('a', '1Gi')], { node, excluded: new Set(['a']) }, undefined],
  ['none, while it waits for a Pod', claim('1Gi'), [volume('a', '1Gi')], { isDelayed: true }, undefined],
  [
    'the one kept for it, even while it waits for a Pod',
    claim('1Gi'),
    [volume('a', '1Gi', kept)],
    { isDelayed: true },
    'a',
  ],
];
for (const [name, wanted, volumes, options, found] of rows) {
  test(`a claim gets ${name}`, () => {
    assert.equal(findMatchingVolume(wanted, volumes, options)?.metadata.name, found);
  });
}

test('a volume that a program binds refers to the claim, and says so', () => {
  const { metadata, spec } = volumeBoundTo(volume('a', '1Gi'), claim('1Gi'));
  assert.deepEqual(metadata.annotations, { 'pv.kubernetes.io/bound-by-controller': 'yes' });
  assert.deepEqual(spec?.claimRef, {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace: 'default',
    name: 'data',
    uid: 'u1',
    resourceVersion: '7',
  });
});

test('a volume that a person kept for the claim is only given its uid', () => {
  const { metadata, spec } = volumeBoundTo(volume('a', '1Gi', kept), claim('1Gi'));
  assert.equal(metadata.annotations, undefined);
  assert.equal(spec?.claimRef?.uid, 'u1');
});

test('a volume that is bound to the claim stays as it is', () => {
  const bound = volumeBoundTo(volume('a', '1Gi'), claim('1Gi'));
  assert.equal(volumeBoundTo(bound, claim('1Gi')), bound);
});

test('a claim is bound once its binding is complete', () => {
  assert.equal(isFullyBound(claim('1Gi', { volumeName: 'a' })), false);
  assert.equal(isFullyBound(claim('1Gi', { volumeName: 'a' }, { 'pv.kubernetes.io/bind-completed': 'yes' })), true);
});
