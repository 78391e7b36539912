import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { Decision } from '@kruise/client/controller';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
import type { ClaimStatus } from './bind.ts';
import { type ClaimObserved, decideClaim } from './decide-claim.ts';
import {
  anotherClaim,
  bindCompleted,
  boundByController,
  claimWith,
  classWith,
  named,
  theClaim,
  volumeWith,
} from './fixtures.ts';

const world = (more: Partial<ClaimObserved> = {}): ClaimObserved => ({
  claim: claimWith(),
  storageClass: classWith(),
  defaultClass: undefined,
  volume: undefined,
  kept: [],
  free: [],
  waitingPods: [],
  placedPod: undefined,
  ...more,
});
const delayed = classWith({ volumeBindingMode: 'WaitForFirstConsumer' });
const selected = { 'volume.kubernetes.io/selected-node': 'node-1' };
const asked = {
  'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disks',
  'volume.kubernetes.io/storage-provisioner': 'example.com/disks',
};
const placedPod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'default', uid: 'p1' },
  spec: { containers: [], nodeName: 'node-1' },
};
const unclassed = (() => {
  const { storageClassName: _, ...spec } = claimWith().spec ?? {};
  return { ...claimWith(), spec };
})();
const wants = claimWith({ volumeName: 'disk' });
const bound = claimWith({ volumeName: 'disk' }, bindCompleted, {
  phase: 'Bound',
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '10Gi' },
});
const small = { capacity: { storage: '1Gi' } };

const externalProvisioning =
  "Normal ExternalProvisioning Waiting for a volume to be created either by the external provisioner 'example.com/disks' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.";

const cases: readonly (readonly [name: string, observed: ClaimObserved, comes: string])[] = [
  [
    'a PVC and a matching volume are bound, the volume first',
    world({ free: [volumeWith()] }),
    'update disk, update data; Bound',
  ],
  [
    'a pre-bound volume takes precedence over an unbound one',
    world({ kept: [named(volumeWith(theClaim), 'mine')], free: [volumeWith({ capacity: { storage: '5Gi' } })] }),
    'update data; Bound',
  ],
  [
    'a pre-bound volume without the UID of the PVC gets it',
    world({ kept: [volumeWith({ claimRef: { namespace: 'default', name: 'data' } })] }),
    'update disk, update data; Bound',
  ],
  [
    'without a volume, the provisioner of the class is requested',
    world({ free: [volumeWith(small)] }),
    `update data; Pending; ${externalProvisioning}`,
  ],
  ['a requested provisioner is awaited', world({ claim: claimWith({}, asked) }), `Pending; ${externalProvisioning}`],
  [
    'a storage class that does not exist',
    world({ storageClass: undefined }),
    'Pending; Warning ProvisioningFailed storageclass.storage.k8s.io "fast" not found',
  ],
  [
    'a storage class without a provisioner',
    world({ storageClass: classWith({ provisioner: 'kubernetes.io/no-provisioner' }) }),
    'Pending; Warning ProvisioningFailed no volume plugin matched name: kubernetes.io/no-provisioner',
  ],
  [
    'no class and no volume',
    world({ claim: claimWith({ storageClassName: '' }), storageClass: undefined, defaultClass: classWith() }),
    'Pending; Normal FailedBinding no persistent volumes available for this claim and no storage class is set',
  ],
  [
    'a PVC without a class gets the default class',
    world({ claim: unclassed, storageClass: undefined, defaultClass: classWith() }),
    'update data',
  ],
  [
    'WaitForFirstConsumer waits even if a volume matches',
    world({ storageClass: delayed, free: [volumeWith()] }),
    'Pending; Normal WaitForFirstConsumer waiting for first consumer to be created before binding',
  ],
  ['the node of a scheduled Pod is selected', world({ storageClass: delayed, placedPod }), 'update data'],
  [
    'the node of a scheduled Pod is not selected without a provisioner',
    world({ storageClass: { ...delayed, provisioner: 'kubernetes.io/no-provisioner' }, placedPod }),
    'Pending; Normal WaitForFirstConsumer waiting for first consumer to be created before binding',
  ],
  [
    'a scheduled Pod does not change the selected node',
    world({ claim: claimWith({}, { ...selected, ...asked }), storageClass: delayed, placedPod }),
    `Pending; ${externalProvisioning}`,
  ],
  [
    'an unscheduled Pod is awaited by name',
    world({ storageClass: delayed, waitingPods: ['web-0'] }),
    'Pending; Normal WaitForPodScheduled waiting for pod web-0 to be scheduled',
  ],
  [
    'several unscheduled Pods are awaited',
    world({ storageClass: delayed, waitingPods: ['a', 'b'] }),
    'Pending; Normal WaitForPodScheduled waiting for pods a,b to be scheduled',
  ],
  [
    'with a selected node, the provisioner is requested',
    world({ storageClass: delayed, claim: claimWith({}, selected) }),
    `update data; Pending; ${externalProvisioning}`,
  ],
  [
    'a volume chosen by the scheduler is bound',
    world({ storageClass: delayed, kept: [volumeWith(theClaim)] }),
    'update data; Bound',
  ],
  ['a named volume that does not exist yet', world({ claim: wants }), 'Pending'],
  ['a named volume that is unbound', world({ claim: wants, volume: volumeWith() }), 'update disk, update data; Bound'],
  ['a named volume that is pre-bound', world({ claim: wants, volume: volumeWith(theClaim) }), 'update data; Bound'],
  [
    'a named volume that belongs to another PVC',
    world({ claim: wants, volume: volumeWith(anotherClaim) }),
    'Pending; Warning FailedBinding volume "disk" already bound to a different claim.',
  ],
  ...(
    [
      ['too small', small, 'requested PV is too small'],
      ['of another class', { storageClassName: 'slow' }, 'storageClassName does not match'],
      ['a device', { volumeMode: 'Block' }, 'incompatible volumeMode'],
      ['read by many', { accessModes: ['ReadOnlyMany'] }, 'incompatible accessMode'],
    ] as const
  ).map(
    ([what, spec, why]) =>
      [
        `a named volume, but ${what}`,
        world({ claim: wants, volume: volumeWith(spec) }),
        `Pending; Warning VolumeMismatch Cannot bind to requested volume "disk": ${why}`,
      ] as const,
  ),
  ['a bound PVC is unchanged', world({ claim: bound, volume: volumeWith(theClaim) }), 'Bound'],
  ['a bound PVC whose volume lost its claimRef', world({ claim: bound, volume: volumeWith() }), 'update disk; Bound'],
  [
    'a bound PVC without its volume',
    world({ claim: bound }),
    'Lost; Warning ClaimLost Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  ],
  [
    'a bound PVC without a volume name',
    world({ claim: claimWith({}, bindCompleted, { phase: 'Bound' }) }),
    'Lost; Warning ClaimLost Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
  ],
  [
    'a bound PVC whose volume belongs to another PVC',
    world({ claim: bound, volume: volumeWith(anotherClaim) }),
    'Lost; Warning ClaimMisbound Two claims are bound to the same volume, this one is bound incorrectly',
  ],
  ['a lost PVC is reported once', world({ claim: { ...bound, status: { phase: 'Lost' } } }), ''],
  [
    'a lost PVC whose volume is restored is bound again',
    world({ claim: { ...bound, status: { phase: 'Lost' } }, volume: volumeWith(theClaim) }),
    'Bound',
  ],
];
for (const [name, observed, comes] of cases) {
  test(name, () => assert.equal(describe(decideClaim(observed)), comes));
}

test('the node of a Pod is selected only if the Pod is confirmed', () => {
  const [action] = decideClaim(world({ storageClass: delayed, placedPod })).actions;
  assert.ok(action?.type === 'update');
  assert.equal(action.confirm, placedPod);
  assert.deepEqual(action.object.metadata.annotations, selected);
});

function describe({ actions, status, events = [] }: Decision<ClaimStatus>): string {
  const words = summarizeActions(actions).join(', ');
  const phase = (status as ClaimStatus)?.phase;
  const news = events.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  return [words, phase ?? '', ...news].filter(Boolean).join('; ');
}

const updated = (decision: Decision<ClaimStatus>, kind: string) =>
  decision.actions.flatMap((action) =>
    action.type === 'update' && action.object.kind === kind ? [action.object] : [],
  );

test('a chosen volume is annotated, and refers to the PVC', () => {
  const [volume] = updated(decideClaim(world({ free: [volumeWith()] })), 'PersistentVolume') as [PersistentVolume];
  assert.deepEqual(volume.metadata.annotations, boundByController);
  assert.deepEqual(volume.spec?.claimRef, {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace: 'default',
    name: 'data',
    uid: 'c1',
    resourceVersion: '7',
  });
});

test('a PVC with a named volume has no bound-by-controller annotation', () => {
  const decision = decideClaim(world({ claim: wants, volume: volumeWith() }));
  const [claim] = updated(decision, 'PersistentVolumeClaim') as [PersistentVolumeClaim];
  assert.deepEqual(claim.metadata.annotations, bindCompleted);
});

test('of two large enough volumes, the one with fewer access modes is chosen', () => {
  const many = named(
    volumeWith({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], capacity: { storage: '5Gi' } }),
    'many',
  );
  const decision = decideClaim(world({ free: [many, volumeWith()] }));
  assert.equal(updated(decision, 'PersistentVolume')[0]?.metadata.name, 'disk');
});

test('the capacity of a bound PVC is unchanged', () => {
  const grown = volumeWith({ ...theClaim, capacity: { storage: '20Gi' } });
  const { status } = decideClaim(world({ claim: bound, volume: grown }));
  assert.deepEqual((status as ClaimStatus)?.capacity, { storage: '10Gi' });
});

test('a volume with a pending filesystem expansion reports its previous size', () => {
  const growing = volumeWith({}, { 'volume.alpha.kubernetes.io/pre-resize-capacity': '8Gi' });
  const { status } = decideClaim(world({ free: [growing] }));
  assert.deepEqual((status as ClaimStatus)?.capacity, { storage: '8Gi' });
});

test('the decision is idempotent', () => {
  const sizes = fc.constantFrom('1Gi', '5Gi', '10Gi');
  const volumes = fc.array(
    fc.record({ storage: sizes, isMine: fc.boolean() }).map(({ storage, isMine }) => ({
      ...volumeWith({ capacity: { storage }, ...(isMine ? theClaim : {}) }),
    })),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(volumes, fc.constantFrom(undefined, classWith(), delayed), (all, storageClass) => {
      const there = all.map((volume, index) => named(volume, `disk-${index}`));
      const start = world({
        storageClass,
        kept: there.filter(({ spec }) => spec?.claimRef),
        free: there.filter(({ spec }) => !spec?.claimRef),
      });
      const settled = carryOut(start, decideClaim(start));
      assert.deepEqual(decideClaim(settled).actions, []);
      assert.deepEqual(decideClaim(settled).status, settled.claim.status);
    }),
  );
});

function carryOut(observed: ClaimObserved, decision: Decision<ClaimStatus>): ClaimObserved {
  const [claim = observed.claim] = updated(decision, 'PersistentVolumeClaim') as PersistentVolumeClaim[];
  const [written] = updated(decision, 'PersistentVolume') as PersistentVolume[];
  const there = [...observed.kept, ...observed.free].map((volume) =>
    volume.metadata.name === written?.metadata.name ? (written as PersistentVolume) : volume,
  );
  const volume = there.find(({ metadata }) => metadata.name === claim.spec?.volumeName);
  return {
    ...observed,
    claim: { ...claim, status: (decision.status as ClaimStatus) ?? {} },
    volume,
    kept: there.filter(({ spec }) => spec?.claimRef),
    free: there.filter(({ spec }) => !spec?.claimRef),
  };
}
