import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import {
  type StatefulSet,
  type StatefulSetV1alpha1,
  statefulSet,
  statefulSetV1alpha1,
} from '@kruise/api/kruise/statefulset';
import { type Cause, summary } from '@kruise/schema/field-error';
import { type FeatureGates, featureGates } from '../../configuration/feature-gates.ts';
import { validateClaimTemplatesUpdate } from './claim-templates.validate.ts';
import { defaultStatefulSet } from './default.ts';
import { inPlaceOnlyFault, validateStatefulSet, validateStatefulSetUpdate } from './validate.ts';

const gates = featureGates();
const resizing = featureGates({ StatefulSetAutoResizePVCGate: true });
const readinessGates = [{ conditionType: 'InPlaceUpdateReady' }];
const templateOf = (image: string, more = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: { readinessGates, containers: [{ name: 'main', image }], ...more },
});

type Spec = Partial<StatefulSet['spec']>;

function setOf(spec: Spec = {}, metadata = {}): StatefulSet {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'set-uid', resourceVersion: '1', ...metadata },
    spec: { selector: { matchLabels: { app: 'web' } }, template: templateOf('app:v1'), ...spec },
  };
}

const filled = (spec: Spec = {}, open: FeatureGates = gates, metadata = {}) =>
  defaultStatefulSet(statefulSet, setOf(spec, metadata), undefined, open) as StatefulSet;
/** Returns all errors as one text; empty if there is none. */
const formatErrors = (causes: readonly Cause[]) => (causes.length === 0 ? '' : summary(causes));
const faults = (set: StatefulSet) => formatErrors([...validateStatefulSet(set, gates)]);

test('a template without defaulted fields is valid', () => {
  const set = filled({}, featureGates({ TemplateNoDefaults: true }));
  assert.equal(set.spec.template.spec?.restartPolicy, undefined);
  assert.equal(faults(set), '');
});

test('a minimal StatefulSet has one Pod, in order, updated one by one, and retains its PVCs', () => {
  const { template: _, selector: _selector, ...spec } = filled({}, resizing).spec;
  assert.deepEqual(spec, {
    replicas: 1,
    revisionHistoryLimit: 10,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { partition: 0, maxUnavailable: 1, podUpdatePolicy: 'ReCreate', minReadySeconds: 0 },
    },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    volumeClaimUpdateStrategy: { type: 'OnDelete' },
  });
});

test('given values are kept even if the type is missing', () => {
  const { updateStrategy } = filled({ updateStrategy: { rollingUpdate: { partition: 3 } } }).spec;
  assert.deepEqual([updateStrategy?.type, updateStrategy?.rollingUpdate?.partition], ['RollingUpdate', 3]);
});

test('in v1alpha1 fields that it lacks get no defaults', () => {
  const { apiVersion: _, ...object } = setOf();
  const older = { ...object, apiVersion: 'apps.kruise.io/v1alpha1' } as StatefulSetV1alpha1;
  const { spec } = defaultStatefulSet(statefulSetV1alpha1, older, undefined, resizing);
  assert.equal('persistentVolumeClaimRetentionPolicy' in spec, false);
  assert.equal(spec.podManagementPolicy, 'OrderedReady');
});

test('an unchanged template gets no defaults', () => {
  const stored = setOf();
  const after = defaultStatefulSet(statefulSet, setOf({ replicas: 5 }), stored, gates);
  assert.equal(after.spec.template.spec?.restartPolicy, undefined);
  const changed = defaultStatefulSet(statefulSet, setOf({ template: templateOf('app:v2') }), stored, gates);
  assert.equal(changed.spec.template.spec?.restartPolicy, 'Always');
});

const rolling = (rollingUpdate: NonNullable<NonNullable<Spec['updateStrategy']>['rollingUpdate']>): Spec => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate },
});
const parallel: Spec = { podManagementPolicy: 'Parallel' };

const accepted: { readonly name: string; readonly spec: Spec }[] = [
  { name: 'a minimal one', spec: {} },
  {
    name: 'more than all Pods unavailable, in parallel',
    spec: { ...parallel, ...rolling({ maxUnavailable: '120%' }) },
  },
  { name: 'numbers and ranges that are reserved', spec: { reserveOrdinals: [0, '2-5'] } },
  { name: 'updates in place with the gate', spec: rolling({ podUpdatePolicy: 'InPlaceIfPossible' }) },
  { name: 'five minutes until a Pod is relied on', spec: rolling({ minReadySeconds: 300 }) },
  { name: 'nothing but deletion', spec: { updateStrategy: { type: 'OnDelete' } } },
];
for (const { name, spec } of accepted) test(`${name} is accepted`, () => assert.equal(faults(filled(spec)), ''));

const refused: { readonly name: string; readonly spec: object; readonly fault: RegExp }[] = [
  { name: 'fewer than no Pods', spec: { replicas: -1 }, fault: /spec\.replicas: Invalid value: -1: must be greater/ },
  {
    name: 'an unknown policy',
    spec: { podManagementPolicy: 'Chaotic' },
    fault: /must be 'OrderedReady' or 'Parallel'/,
  },
  {
    name: 'an unknown strategy',
    spec: { updateStrategy: { type: 'Never' } },
    fault: /must be 'RollingUpdate' or 'OnDelete'/,
  },
  {
    name: 'a rolling update on deletion',
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    fault: /only allowed for updateStrategy 'RollingUpdate'/,
  },
  {
    name: 'a partition below zero',
    spec: rolling({ partition: -1 }),
    fault: /rollingUpdate\.partition: Invalid value: -1/,
  },
  { name: 'a long wait', spec: rolling({ minReadySeconds: 301 }), fault: /must be no more than 300 seconds/ },
  {
    name: 'two unavailable in order',
    spec: rolling({ maxUnavailable: 2 }),
    fault: /can only work with Parallel PodManagement/,
  },
  {
    name: 'none unavailable',
    spec: { ...parallel, ...rolling({ maxUnavailable: 0 }) },
    fault: /Invalid value: 0: should not be less than 1/,
  },
  {
    name: 'no part unavailable',
    spec: { ...parallel, ...rolling({ maxUnavailable: '0%' }) },
    fault: /should not be less than 1/,
  },
  {
    name: 'a word instead of a number',
    spec: { ...parallel, ...rolling({ maxUnavailable: 'x' }) },
    fault:
      /getValueFromIntOrPercent error: invalid value for IntOrString: invalid value "x": strconv\.Atoi: parsing "x"/,
  },
  {
    name: 'an unknown way to update',
    spec: rolling({ podUpdatePolicy: 'X' as never }),
    fault: /must be 'ReCreate', InPlaceIfPossible or/,
  },
  {
    name: 'in place without the gate',
    spec: { ...rolling({ podUpdatePolicy: 'InPlaceOnly' }), template: templateOf('app:v1', { readinessGates: [] }) },
    fault: /must contains InPlaceUpdateReady when podUpdatePolicy is InPlaceOnly/,
  },
  {
    name: 'out of order, in order',
    spec: rolling({ unorderedUpdate: {} }),
    fault: /unorderedUpdate can only work with Parallel PodManagementPolicyType/,
  },
  {
    name: 'a range backwards',
    spec: { reserveOrdinals: ['5-2'] },
    fault: /0 th reserve ordinal is invalid: 5-2, err = invalid range 5-2/,
  },
  {
    name: 'a number as text',
    spec: { reserveOrdinals: [1, '7'] },
    fault: /1 th reserve ordinal is not a valid range: 7/,
  },
  { name: 'a number below zero', spec: { reserveOrdinals: [-1] }, fault: /0 th reserve ordinal is negative: -1/ },
  {
    name: 'an unknown retention',
    spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'X', whenDeleted: 'Retain' } },
    fault: /whenScaled: Unsupported value: "X"/,
  },
  { name: 'an empty selector', spec: { selector: {} }, fault: /empty selector is invalid for statefulset/ },
  {
    name: 'a selector that does not fit',
    spec: { selector: { matchLabels: { app: 'x' } } },
    fault: /`selector` does not match template `labels`/,
  },
  {
    name: 'Pods that end',
    spec: { template: templateOf('app:v1', { restartPolicy: 'Never' }) },
    fault: /restartPolicy: Unsupported value: "Never"/,
  },
  {
    name: 'Pods with a deadline',
    spec: { template: templateOf('app:v1', { activeDeadlineSeconds: 5 }) },
    fault: /activeDeadlineSeconds in StatefulSet is not Supported/,
  },
];
for (const { name, spec, fault } of refused) {
  test(`${name} is refused`, () => assert.match(faults(filled(spec as Spec)), fault));
}

test('a StatefulSet name must be a valid host name', () => {
  assert.match(faults(filled({}, gates, { name: 'web.one' })), /metadata\.name: Invalid value: "web\.one"/);
});

test('immutable fields are reported as one error', () => {
  const old = filled();
  for (const spec of [{ serviceName: 'x' }, parallel, { selector: { matchLabels: { app: 'x' } } }]) {
    const found = [...validateStatefulSetUpdate({ ...old, spec: { ...old.spec, ...spec } }, old)];
    assert.deepEqual(
      found.map(({ field, reason }) => [field, reason]),
      [['spec', 'FieldValueForbidden']],
    );
  }
});

test('all other fields are mutable', () => {
  const old = filled();
  const spec: Spec = {
    replicas: 9,
    template: templateOf('app:v2'),
    reserveOrdinals: [1],
    ordinals: { start: 2 },
    lifecycle: {},
    revisionHistoryLimit: 1,
    scaleStrategy: { maxUnavailable: 1 },
    volumeClaimTemplates: [claimOf('data', '1Gi')],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
  };
  assert.deepEqual([...validateStatefulSetUpdate({ ...old, spec: { ...old.spec, ...spec } }, old)], []);
});

test('InPlaceOnly permits only changed images', () => {
  const spec = rolling({ podUpdatePolicy: 'InPlaceOnly' });
  const old = setOf(spec);
  assert.equal(inPlaceOnlyFault(setOf({ ...spec, template: templateOf('app:v2') }), old), undefined);
  const env = [{ name: 'A', value: '1' }];
  const changed = setOf({
    ...spec,
    template: { spec: { readinessGates, containers: [{ name: 'main', image: 'app:v1', env }] } },
  });
  assert.equal(
    inPlaceOnlyFault(changed, old),
    'invalid template modified with InPlaceOnly strategy: add /containers/0/env, currently only image update is allowed for InPlaceOnly',
  );
});

function claimOf(name: string, storage: string, storageClassName?: string): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage } },
      ...(storageClassName ? { storageClassName } : {}),
    },
  };
}

const classes = [
  { name: 'fixed', allowVolumeExpansion: false },
  { name: 'elastic', allowVolumeExpansion: true },
  { name: 'silent' },
].map(({ name, ...more }) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'x',
  ...more,
}));

const claimChanges = [
  {
    name: 'a PVC template may grow',
    before: [claimOf('a', '1Gi', 'elastic')],
    after: [claimOf('a', '2Gi', 'elastic')],
  },
  {
    name: 'a PVC template may shrink',
    before: [claimOf('a', '2Gi', 'elastic')],
    after: [claimOf('a', '1Gi', 'elastic')],
  },
  {
    name: 'a class without allowVolumeExpansion permits growth',
    before: [claimOf('a', '1Gi', 'silent')],
    after: [claimOf('a', '2Gi', 'silent')],
  },
  {
    name: 'without a default class there is no check',
    before: [claimOf('a', '1Gi')],
    after: [claimOf('a', '2Gi')],
  },
  {
    name: 'a PVC template cannot grow where storage cannot',
    before: [claimOf('a', '1Gi', 'fixed')],
    after: [claimOf('a', '2Gi', 'fixed')],
    fault: /storage class fixed does not support volume expansion/,
  },
  {
    name: 'a PVC template of an unknown class cannot grow',
    before: [claimOf('a', '1Gi', 'lost')],
    after: [claimOf('a', '2Gi', 'lost')],
    fault: /spec\.volumeClaimTemplates\[a\]\.spec\.storageClassName: Invalid value: "lost": can not get sc/,
  },
  {
    name: 'the class of a PVC template is immutable',
    before: [claimOf('a', '1Gi', 'elastic')],
    after: [claimOf('a', '1Gi', 'fixed')],
    fault: /volumeClaimTemplate can not be modified when OnRollingUpdate/,
  },
  {
    name: 'the name of a PVC template is immutable',
    before: [claimOf('a', '1Gi')],
    after: [claimOf('b', '1Gi')],
    fault: /spec\.volumeClaimTemplates\[b\]\.name: Forbidden: volumeClaimTemplate name can not be modified/,
  },
  {
    name: 'a PVC template cannot be added',
    before: [],
    after: [claimOf('a', '1Gi')],
    fault: /volumeClaimTemplate can not be added or deleted when OnRollingUpdate/,
  },
];
for (const { name, before, after, fault } of claimChanges) {
  test(name, () => {
    const setWith = (type: 'OnPodRollingUpdate' | 'OnDelete', volumeClaimTemplates: PersistentVolumeClaim[]) =>
      setOf({ volumeClaimTemplates, volumeClaimUpdateStrategy: { type } });
    const found = (oldType: 'OnPodRollingUpdate' | 'OnDelete') =>
      formatErrors([
        ...validateClaimTemplatesUpdate(setWith('OnPodRollingUpdate', after), setWith(oldType, before), classes),
      ]);
    if (fault) assert.match(found('OnPodRollingUpdate'), fault);
    else assert.equal(found('OnPodRollingUpdate'), '');
    // The previous strategy decides.
    assert.equal(found('OnDelete'), '');
  });
}
