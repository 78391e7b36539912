import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { defaultPersistentVolumeClaim } from './persistentvolumeclaim.default.ts';
import { preparePersistentVolumeClaimForCreate } from './persistentvolumeclaim.strategy.ts';
import { type PersistentVolumeClaim, persistentVolumeClaim } from './persistentvolumeclaim.ts';
import {
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimUpdate,
} from './persistentvolumeclaim.validate.ts';
import { formatErrors, type Json } from './pod.fixtures.ts';

const storage = (size: string) => ({ resources: { requests: { storage: size } } });

function someClaim(spec: Json = {}, status: Json = {}): PersistentVolumeClaim {
  const codec = codecOf(persistentVolumeClaim.root);
  const draft = codec.fromJson({
    metadata: { name: 'one', namespace: 'default', resourceVersion: '1' },
    spec: { accessModes: ['ReadWriteOnce'], ...storage('2Gi'), ...spec },
    status,
  }) as Draft<PersistentVolumeClaim>;
  defaultPersistentVolumeClaim(draft);
  return codec.canonical(draft as PersistentVolumeClaim);
}

const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
const specs: readonly (readonly [given: Json, faults: readonly string[]])[] = [
  [{}, []],
  [{ dataSource: snapshot, dataSourceRef: snapshot, storageClassName: '' }, []],
  [{ accessModes: [] }, ['spec.accessModes: Required value: at least 1 access mode is required']],
  [
    { accessModes: ['Sometimes'] },
    [
      'spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
  ],
  [
    { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] },
    ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
  ],
  [{ resources: {} }, ['spec.resources[storage]: Required value']],
  [storage('0'), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
  [{ volumeMode: 'x' }, ['spec.volumeMode: Unsupported value: "x": supported values: "Block", "Filesystem"']],
  [
    { dataSource: { kind: 'Pod', name: 'p' } },
    ['spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup'],
  ],
];
for (const [given, faults] of specs) {
  test(`a PVC with ${JSON.stringify(given)} is ${faults.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(formatErrors(validatePersistentVolumeClaim(someClaim(given))), faults);
  });
}

const immutable =
  'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const bound = { phase: 'Bound', capacity: { storage: '1Gi' } };
const updates: readonly {
  readonly name: string;
  readonly old: Json;
  readonly now: Json;
  readonly status: Json;
  readonly faults: readonly string[];
}[] = [
  { name: 'a bound PVC may grow', old: {}, now: storage('3Gi'), status: bound, faults: [] },
  { name: 'a PVC that is not bound may not grow', old: {}, now: storage('3Gi'), status: {}, faults: [immutable] },
  {
    name: 'growth that has not happened may be reverted',
    old: {},
    now: storage('1536Mi'),
    status: bound,
    faults: [],
  },
  {
    name: 'a volume does not shrink',
    old: {},
    now: storage('512Mi'),
    status: bound,
    faults: ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
  },
  { name: 'a PVC may be bound', old: {}, now: { volumeName: 'v' }, status: {}, faults: [] },
  {
    name: 'a PVC may not be bound again',
    old: { volumeName: 'v' },
    now: { volumeName: 'w' },
    status: bound,
    faults: [immutable],
  },
  {
    name: 'the default class may be filled in afterwards',
    old: {},
    now: { storageClassName: 'fast' },
    status: {},
    faults: [],
  },
  {
    name: 'a class may not change',
    old: { storageClassName: 'slow' },
    now: { storageClassName: 'fast' },
    status: {},
    faults: [immutable],
  },
];
for (const { name, old, now, status, faults } of updates) {
  test(name, () => {
    assert.deepEqual(
      formatErrors(validatePersistentVolumeClaimUpdate(someClaim(now, status), someClaim(old, status))),
      faults,
    );
  });
}

test('dataSource and dataSourceRef are equal', () => {
  const created = (spec: Json) => {
    const draft = structuredClone(someClaim(spec)) as Draft<PersistentVolumeClaim>;
    preparePersistentVolumeClaimForCreate(draft);
    return draft.spec!;
  };
  assert.deepEqual(created({ dataSource: snapshot }).dataSourceRef, snapshot);
  assert.deepEqual(created({ dataSourceRef: snapshot }).dataSource, snapshot);
  assert.equal(created({ dataSource: { kind: 'Pod', name: 'p' } }).dataSource, undefined);
});
