import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kruiseKinds } from '@kruise/api/kruise/crds';
import type { JsonObject } from '@kruise/machinery/json-value';
import { conversionFor, conversions, convertObject } from './catalogue.ts';

const alpha = 'apps.kruise.io/v1alpha1';
const beta = 'apps.kruise.io/v1beta1';
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } };
const selector = { matchLabels: { app: 'web' } };

type Made = { metadata: { labels?: object; annotations?: object }; spec: JsonObject; status: JsonObject };
const made = (
  kind: string,
  apiVersion: string,
  to: string,
  { metadata = {}, ...rest }: { metadata?: object; spec: object; status?: object },
) => convertObject({ apiVersion, kind, metadata: { name: 'web', ...metadata }, ...rest } as JsonObject, to) as Made;
const up = (kind: string, object: { metadata?: object; spec: object; status?: object }, group = 'apps.kruise.io') =>
  made(kind, `${group}/v1alpha1`, `${group}/v1beta1`, object);
const down = (kind: string, object: { metadata?: object; spec: object; status?: object }, group = 'apps.kruise.io') =>
  made(kind, `${group}/v1beta1`, `${group}/v1alpha1`, object);

test('exactly the kinds whose CRD has the webhook have a conversion', () => {
  const named = kruiseKinds.filter(({ conversion }) => conversion === 'Webhook').map(({ stored }) => stored.kind);
  assert.deepEqual(conversions.map(({ stored }) => stored.kind).sort(), named.sort());
});

test('kinds whose versions are alike change only their apiVersion', () => {
  const job = { apiVersion: alpha, kind: 'BroadcastJob', metadata: { name: 'job' }, spec: { anything: [1] } };
  assert.equal(conversionFor({ group: 'apps.kruise.io', kind: 'BroadcastJob' }), undefined);
  assert.deepEqual(convertObject(job, beta), { ...job, apiVersion: beta });
});

test('an object of another group is not converted', () => {
  assert.throws(() => convertObject({ apiVersion: 'v1', kind: 'Pod' }, beta), /cannot convert v1 Pod/);
});

const set = (spec: object, metadata: object = {}) => ({ metadata, spec: { selector, template, ...spec } });

const policies: { alpha: object; beta: object }[] = [
  { alpha: {}, beta: { type: 'RollingUpdate', rollingUpdate: { podUpdatePolicy: 'ReCreate' } } },
  {
    alpha: { type: 'InPlaceOnly', partition: 1 },
    beta: { type: 'RollingUpdate', rollingUpdate: { podUpdatePolicy: 'InPlaceOnly', partition: 1 } },
  },
  { alpha: { type: 'Sometimes' }, beta: { type: 'RollingUpdate', rollingUpdate: { podUpdatePolicy: 'ReCreate' } } },
  { alpha: { type: 'OnDelete', partition: 1 }, beta: { type: 'OnDelete' } },
  {
    alpha: {
      type: 'InPlaceIfPossible',
      paused: true,
      inPlaceUpdateStrategy: { gracePeriodSeconds: 3, imagePreDownloadTimeoutSeconds: 9 },
    },
    beta: {
      type: 'RollingUpdate',
      rollingUpdate: {
        podUpdatePolicy: 'InPlaceIfPossible',
        paused: true,
        inPlaceUpdateStrategy: { gracePeriodSeconds: 3 },
      },
    },
  },
];
for (const { alpha: strategy, beta: expected } of policies) {
  test(`a CloneSet's strategy ${JSON.stringify(strategy)} becomes ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(up('CloneSet', set({ updateStrategy: strategy })).spec['updateStrategy'], expected);
  });
}

const olderPolicies: { beta: object; alpha: object }[] = [
  { beta: {}, alpha: { type: 'ReCreate' } },
  { beta: { type: 'RollingUpdate' }, alpha: { type: 'ReCreate' } },
  { beta: { type: 'OnDelete', rollingUpdate: { partition: 1 } }, alpha: { type: 'OnDelete', partition: 1 } },
  {
    beta: { type: 'RollingUpdate', rollingUpdate: { podUpdatePolicy: 'InPlaceOnly', inPlaceUpdateStrategy: {} } },
    alpha: { type: 'InPlaceOnly' },
  },
];
for (const { beta: strategy, alpha: expected } of olderPolicies) {
  test(`a CloneSet's strategy ${JSON.stringify(strategy)} is ${JSON.stringify(expected)} in v1alpha1`, () => {
    assert.deepEqual(down('CloneSet', set({ updateStrategy: strategy })).spec['updateStrategy'], expected);
  });
}

test('the PVC setting is inverted, also if it is missing', () => {
  assert.deepEqual(up('CloneSet', set({})).spec['scaleStrategy'], { enablePVCReuse: true });
  assert.deepEqual(down('CloneSet', set({})).spec['scaleStrategy'], { disablePVCReuse: true });
  assert.deepEqual(up('CloneSet', set({ scaleStrategy: { disablePVCReuse: true } })).spec['scaleStrategy'], {
    enablePVCReuse: false,
  });
});

test('a label of a CloneSet becomes a field and stays; the field does not become the label', () => {
  const labels = { 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete': 'true' };
  const converted = up('CloneSet', set({}, { labels }));
  assert.deepEqual(
    [converted.metadata.labels, converted.spec['scaleStrategy']],
    [labels, { enablePVCReuse: true, excludePreparingDelete: true }],
  );
  assert.equal(down('CloneSet', set({ scaleStrategy: { excludePreparingDelete: true } })).metadata.labels, undefined);
});

test('pre-download annotations become fields, and fields become annotations', () => {
  const annotations = {
    'apps.kruise.io/image-predownload-parallelism': '33%',
    'apps.kruise.io/image-predownload-timeout-seconds': '60',
    'apps.kruise.io/image-predownload-min-updated-ready-pods': '10%',
  };
  const { spec, metadata } = up('CloneSet', set({}, { annotations }));
  const inPlaceUpdateStrategy = { imagePreDownloadParallelism: '33%', imagePreDownloadTimeoutSeconds: 60 };
  const rollingUpdate = { podUpdatePolicy: 'ReCreate', inPlaceUpdateStrategy };
  assert.deepEqual(spec['updateStrategy'], { type: 'RollingUpdate', rollingUpdate });
  assert.deepEqual(metadata.annotations, annotations);
  const back = down(
    'CloneSet',
    set({
      updateStrategy: {
        rollingUpdate: { inPlaceUpdateStrategy: { ...inPlaceUpdateStrategy, imagePreDownloadMinUpdatedReadyPods: 2 } },
      },
    }),
  );
  assert.deepEqual(back.metadata.annotations, {
    ...annotations,
    'apps.kruise.io/image-predownload-min-updated-ready-pods': '2',
  });
});

test('a UnitedDeployment of v1alpha1 has enablePVCReuse only if it is true, not by default', () => {
  const united = (scaleStrategy: object) => ({
    spec: { selector, template: { cloneSetTemplate: { spec: { selector, template, scaleStrategy } } } },
  });
  const shown = (scaleStrategy: object) => {
    const { spec } = down('UnitedDeployment', up('UnitedDeployment', united(scaleStrategy)));
    return (spec as unknown as ReturnType<typeof united>['spec']).template.cloneSetTemplate.spec.scaleStrategy;
  };
  assert.deepEqual(shown({ podsToDelete: ['a'] }), { podsToDelete: ['a'] });
  assert.deepEqual(shown({ enablePVCReuse: false }), {});
  assert.deepEqual(shown({ enablePVCReuse: true }), { enablePVCReuse: true });
});

test('a missing list of topology keys stays missing, and an empty one empty', () => {
  const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
  for (const keys of [{}, { nodeTopologyKeys: [] }, { nodeTopologyKeys: ['zone'] }]) {
    const spec = {
      targetRef,
      requiredPersistentTopology: keys,
      preferredPersistentTopology: [{ weight: 1, preference: keys }],
    };
    assert.deepEqual(down('PersistentPodState', up('PersistentPodState', { spec })).spec, spec);
  }
  const { spec } = up('PersistentPodState', { spec: { targetRef, requiredPersistentTopology: {} } });
  assert.deepEqual(spec['requiredPersistentTopology'], {});
});

test('a new PodUnavailableBudget of v1alpha1 reports generation 0, one of v1beta1 none', () => {
  const budget = { spec: { selector, maxUnavailable: 1 } };
  const figures = { unavailableAllowed: 0, currentAvailable: 0, desiredAvailable: 0, totalReplicas: 0 };
  assert.deepEqual(down('PodUnavailableBudget', budget, 'policy.kruise.io').status, {
    observedGeneration: 0,
    ...figures,
  });
  assert.deepEqual(up('PodUnavailableBudget', budget, 'policy.kruise.io').status, figures);
});

test('unknown fields are dropped', () => {
  const { spec } = up(
    'CloneSet',
    set({ surprise: true, template: { ...template, spec: { ...template.spec, surprise: true } } }),
  );
  assert.equal(JSON.stringify(spec).includes('surprise'), false);
});

test('a StatefulSet loses the fields that v1alpha1 lacks', () => {
  const { spec, status } = down('StatefulSet', {
    ...set({ reserveOrdinals: [1], ordinals: { start: 2 }, serviceName: 's' }),
    status: { replicas: 1, updatedReadyReplicas: 1 },
  });
  assert.deepEqual(
    [spec['reserveOrdinals'], spec['ordinals'], spec['serviceName'], status['updatedReadyReplicas']],
    [undefined, undefined, 's', undefined],
  );
});

test('a DaemonSet of type Surging becomes Standard, its annotation a field, its hash a revision', () => {
  const annotations = { 'daemonset.kruise.io/progressive-create-pod': 'true' };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { rollingUpdateType: 'Surging', maxSurge: 1 } };
  const { spec, status } = up('DaemonSet', {
    ...set({ updateStrategy }, { annotations }),
    status: { daemonSetHash: 'h' },
  });
  assert.deepEqual(spec['updateStrategy'], {
    type: 'RollingUpdate',
    rollingUpdate: { rollingUpdateType: 'Standard', maxSurge: 1 },
  });
  assert.deepEqual([spec['scaleStrategy'], status['updateRevision']], [{ partitionedScaling: true }, 'h']);
  const back = down('DaemonSet', {
    ...set({ scaleStrategy: { partitionedScaling: true } }),
    status: { updateRevision: 'h' },
  });
  assert.deepEqual([back.metadata.annotations, back.status['daemonSetHash']], [annotations, 'h']);
});

test("a SidecarSet's namespace becomes a selector and its label a field, and back", () => {
  const labels = { 'apps.kruise.io/sidecarset-custom-version': '1', other: 'x' };
  const { metadata, spec } = up('SidecarSet', {
    metadata: { labels },
    spec: { selector, namespace: 'prod', namespaceSelector: selector },
  });
  assert.deepEqual(
    [metadata.labels, spec['customVersion'], spec['namespaceSelector']],
    [{ other: 'x' }, '1', { matchLabels: { 'kubernetes.io/metadata.name': 'prod' } }],
  );
  const back = down('SidecarSet', { metadata: { labels: { other: 'x' } }, spec: { selector, customVersion: '1' } });
  assert.deepEqual([back.metadata.labels, back.spec['customVersion']], [labels, undefined]);
});

test("a UnitedDeployment's maps by subset become subset statuses, and back", () => {
  const older = { subsetReplicas: { a: 2 }, updateStatus: { updatedRevision: 'r', currentPartitions: { a: 1, b: 0 } } };
  const { status } = up('UnitedDeployment', { spec: { selector, template: {} }, status: older });
  assert.equal(status['updatedRevision'], 'r');
  assert.deepEqual(
    (status['subsetStatuses'] as { name: string; replicas?: number; partition?: number }[]).map(
      ({ name, replicas, partition }) => [name, replicas ?? 0, partition ?? 0],
    ),
    [
      ['a', 2, 1],
      ['b', 0, 0],
    ],
  );
  const back = down('UnitedDeployment', { spec: { selector, template: {} }, status });
  assert.deepEqual([back.status['subsetReplicas'], back.status['updateStatus']], [{ a: 2, b: 0 }, older.updateStatus]);
});

test('the maps of a UnitedDeployment contain only subsets with a name', () => {
  const subsetStatuses = [{ replicas: 1 }, { replicas: 2 }, { name: 'a', replicas: 3 }];
  const spec = { selector, template: {} };
  const { status } = down('UnitedDeployment', { spec, status: { subsetStatuses } });
  assert.deepEqual([status['subsetReplicas'], status['subsetStatuses']], [{ a: 3 }, subsetStatuses]);
  const unnamed = down('UnitedDeployment', { spec, status: { subsetStatuses: subsetStatuses.slice(0, 1) } });
  assert.equal(unnamed.status['subsetReplicas'], undefined);
  const back = up('UnitedDeployment', { spec, status: { subsetStatuses, subsetReplicas: { a: 4, b: 5 } } });
  assert.deepEqual(back.status['subsetStatuses'], [
    { replicas: 1 },
    { replicas: 2 },
    { name: 'a', replicas: 4 },
    { name: 'b', replicas: 5 },
  ]);
});

test("a WorkloadSpread's terms and conditions are renamed and converted", () => {
  const terms = { requiredNodeSelectorTerm: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } };
  const { spec, status } = up('WorkloadSpread', {
    spec: { targetRef: { apiVersion: 'v1', kind: 'K', name: 'n' }, subsets: [{ name: 's', ...terms }] },
    status: {
      subsetStatuses: [
        {
          name: 's',
          conditions: [{ type: 'Schedulable', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        },
      ],
    },
  });
  assert.deepEqual((spec['subsets'] as JsonObject[])[0]?.['requiredNodeSelector'], terms.requiredNodeSelectorTerm);
  const [subset] = status['subsetStatuses'] as { conditions: { reason: string }[] }[];
  assert.equal(subset?.conditions[0]?.reason, 'Unknown');
});

test("a PersistentPodState's keys are renamed", () => {
  const topology = {
    requiredPersistentTopology: { nodeTopologyKeys: ['zone'] },
    preferredPersistentTopology: [{ weight: 3, preference: { nodeTopologyKeys: ['rack'] } }],
  };
  const { spec } = up('PersistentPodState', {
    spec: { targetRef: { apiVersion: 'v1', kind: 'K', name: 'n' }, ...topology },
  });
  assert.deepEqual(
    [spec['requiredPersistentTopology'], spec['preferredPersistentTopology']],
    [{ keys: ['zone'] }, [{ weight: 3, preference: { keys: ['rack'] } }]],
  );
});

test("a ResourceDistribution's selector and failed namespaces are renamed", () => {
  const { spec, status } = up('ResourceDistribution', {
    spec: { resource: { kind: 'Secret' }, targets: { namespaceLabelSelector: selector } },
    status: {
      conditions: [
        { type: 'GetConflict', status: 'True', failedNamespace: ['a'] },
        { type: 'X', status: 'False', failedNamespace: [] },
      ],
    },
  });
  assert.deepEqual((spec['targets'] as JsonObject)['namespaceSelector'], selector);
  assert.deepEqual(
    (status['conditions'] as JsonObject[]).map((each) => each['failedNamespaces']),
    [['a'], undefined],
  );
});

test("a ContainerRecreateRequest's annotations become its status, and back", () => {
  const annotations = {
    'crr.apps.kruise.io/sync-container-statuses': '[{"name":"a","ready":true,"restartCount":1,"containerID":"x"}]',
    'crr.apps.kruise.io/unready-acquired': '2026-01-01T02:00:00+02:00',
  };
  const converted = up('ContainerRecreateRequest', {
    metadata: { annotations },
    spec: { podName: 'p', containers: [] },
    status: { phase: 'Recreating' },
  });
  const { containerStatusSnapshot, conditions } = converted.status as {
    containerStatusSnapshot: unknown;
    conditions: JsonObject[];
  };
  assert.deepEqual(containerStatusSnapshot, JSON.parse(annotations['crr.apps.kruise.io/sync-container-statuses']));
  assert.deepEqual(
    [conditions[0]?.['type'], conditions[0]?.['lastTransitionTime']],
    ['PreRecreateGrace', '2026-01-01T00:00:00Z'],
  );
  const back = down('ContainerRecreateRequest', { spec: converted.spec, status: converted.status });
  assert.deepEqual(back.metadata.annotations, {
    ...annotations,
    'crr.apps.kruise.io/unready-acquired': '2026-01-01T00:00:00Z',
  });
});

test('unreadable annotations of a ContainerRecreateRequest are ignored', () => {
  const annotations = {
    'crr.apps.kruise.io/sync-container-statuses': '{',
    'crr.apps.kruise.io/unready-acquired': 'soon',
  };
  const { metadata, status } = up('ContainerRecreateRequest', {
    metadata: { annotations },
    spec: { podName: 'p', containers: [] },
  });
  assert.deepEqual([metadata.annotations, status['conditions']], [annotations, undefined]);
});

const budget = (annotations: object) => ({ metadata: { annotations }, spec: { selector } });
test("a PodUnavailableBudget's annotations become fields, and back", () => {
  const annotations = {
    'kruise.io/pub-protect-operations': 'DELETE,EVICT',
    'pub.kruise.io/protect-total-replicas': '15',
  };
  const { spec } = up('PodUnavailableBudget', budget(annotations), 'policy.kruise.io');
  assert.deepEqual([spec['protectOperations'], spec['protectTotalReplicas']], [['DELETE', 'EVICT'], 15]);
  const back = down('PodUnavailableBudget', { spec }, 'policy.kruise.io');
  assert.deepEqual(back.metadata.annotations, annotations);
  const none = down('PodUnavailableBudget', budget({ ...annotations, other: 'x' }), 'policy.kruise.io');
  assert.deepEqual(none.metadata.annotations, { other: 'x' });
});

for (const [annotations, why] of [
  [{ 'kruise.io/pub-protect-operations': 'DELETE, X' }, /^invalid kruise.io\/pub-protect-operations value "X"$/],
  [
    { 'pub.kruise.io/protect-total-replicas': 'many' },
    /^failed to parse pub.kruise.io\/protect-total-replicas: strconv.ParseInt: parsing "many": invalid syntax$/,
  ],
  [{ 'pub.kruise.io/protect-total-replicas': '3000000000' }, /parsing "3000000000": value out of range$/],
] as const) {
  test(`a PodUnavailableBudget with ${JSON.stringify(annotations)} cannot be converted`, () => {
    assert.throws(() => up('PodUnavailableBudget', budget(annotations), 'policy.kruise.io'), { message: why });
  });
}
