import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft } from '@kruise/schema/draft';
import { deepFreeze } from '@kruise/schema/draft';
import { type Json, somePod, withContainer } from './pod.fixtures.ts';
import {
  preparePodEphemeralContainersUpdate,
  preparePodForCreate,
  preparePodForUpdate,
  preparePodResize,
  preparePodStatusUpdate,
} from './pod.strategy.ts';
import type { Pod } from './pod.ts';
import { computeQosClass } from './pod-qos.ts';

const now = '2026-01-01T00:00:00Z';

function created(pod: Pod): { readonly pod: Pod; readonly warnings: readonly string[] } {
  const draft = structuredClone(pod) as Draft<Pod>;
  const warnings: string[] = [];
  preparePodForCreate(draft, { now, warn: (text) => warnings.push(text) });
  return { pod: draft, warnings };
}

test('a new Pod is pending, whatever status was sent', () => {
  const { pod } = created(somePod({}, { status: { phase: 'Running' } }));
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
  assert.equal(pod.metadata.generation, 1);
});

test('a gated Pod has the condition SchedulingGated', () => {
  const { pod } = created(somePod({ schedulingGates: [{ name: 'a' }] }));
  assert.partialDeepStrictEqual(pod.status!.conditions, [
    { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', lastTransitionTime: now },
  ]);
});

test("matchLabelKeys get the value of the Pod's label", () => {
  const term = {
    topologyKey: 'zone',
    labelSelector: {},
    matchLabelKeys: ['app', 'absent'],
    mismatchLabelKeys: ['tier'],
  };
  const spec = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
  const { pod } = created(somePod(spec, { metadata: { labels: { app: 'a', tier: 'b' } } }));
  const [merged] = pod.spec!.affinity!.podAffinity!.requiredDuringSchedulingIgnoredDuringExecution!;
  assert.deepEqual(merged!.labelSelector!.matchExpressions, [
    { key: 'app', operator: 'In', values: ['a'] },
    { key: 'tier', operator: 'NotIn', values: ['b'] },
  ]);
});

test('an AppArmor profile is both a field and an annotation, and the latter is deprecated', () => {
  const annotation = 'container.apparmor.security.beta.kubernetes.io/main';
  const byField = created(withContainer({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }));
  assert.equal(byField.pod.metadata.annotations![annotation], 'runtime/default');
  assert.deepEqual(byField.warnings, []);
  const byAnnotation = created(somePod({}, { metadata: { annotations: { [annotation]: 'localhost/x' } } }));
  assert.deepEqual(byAnnotation.pod.spec!.containers[0]!.securityContext, {
    appArmorProfile: { type: 'Localhost', localhostProfile: 'x' },
  });
  assert.equal(byAnnotation.warnings.length, 1);
});

test('fields of disabled features are dropped from a new Pod', () => {
  const spec = {
    resourceClaims: [{ name: 'c' }],
    resources: { limits: { cpu: '1' } },
    volumes: [{ name: 'i', image: { reference: 'x' } }],
  };
  const { pod } = created(
    withContainer({ volumeMounts: [{ name: 'i', mountPath: '/i' }], lifecycle: { stopSignal: 'SIGTERM' } }, spec),
  );
  const { resourceClaims, resources, volumes, containers } = pod.spec!;
  assert.deepEqual([resourceClaims, resources, volumes], [undefined, undefined, []]);
  assert.deepEqual([containers[0]!.volumeMounts, containers[0]!.lifecycle], [[], undefined]);
});

const classes = [
  { name: 'nothing', resources: {}, qos: 'BestEffort' },
  { name: 'a request', resources: { requests: { cpu: '1' } }, qos: 'Burstable' },
  { name: 'all it may use', resources: { limits: { cpu: '1', memory: '1Gi' } }, qos: 'Guaranteed' },
  {
    name: 'less than it may use',
    resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '1Gi' } },
    qos: 'Burstable',
  },
  { name: 'no more than CPU', resources: { limits: { cpu: '1' } }, qos: 'Burstable' },
  { name: 'other things', resources: { limits: { 'ephemeral-storage': '1Gi' } }, qos: 'BestEffort' },
];
for (const { name, resources, qos } of classes) {
  test(`a Pod that asks for ${name} is ${qos}`, () => {
    assert.equal(computeQosClass(withContainer({ resources }).spec!), qos);
  });
}

function updated(prepare: (pod: Draft<Pod>, old: Pod) => void, pod: Pod, old: Pod): Pod {
  const draft = structuredClone(pod) as Draft<Pod>;
  prepare(draft, deepFreeze(old));
  return draft;
}

const status: Json = { phase: 'Running', qosClass: 'BestEffort' };

test('a change of the spec increments the generation, a change of the status does not', () => {
  const old = somePod({}, { status });
  const pod = updated(preparePodForUpdate, somePod({ activeDeadlineSeconds: 1 }, { status: { phase: 'Failed' } }), old);
  assert.equal(pod.metadata.generation, 2);
  assert.deepEqual(pod.status, old.status);
  assert.equal(updated(preparePodForUpdate, somePod(), old).metadata.generation, 1);
});

test('a status update keeps the spec, the owners and the QoS class', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  const old = somePod({}, { metadata: { ownerReferences: [owner] }, status });
  const pod = updated(preparePodStatusUpdate, somePod({ nodeName: 'x' }, { status: { phase: 'Failed' } }), old);
  assert.deepEqual(pod.spec, old.spec);
  assert.deepEqual(pod.metadata.ownerReferences, [owner]);
  assert.partialDeepStrictEqual(pod.status, { phase: 'Failed', qosClass: 'BestEffort' });
});

test('only ephemeral containers change through their subresource', () => {
  const old = somePod({}, { metadata: { labels: { a: 'b' } } });
  const pod = updated(
    preparePodEphemeralContainersUpdate,
    somePod({ nodeName: 'x', ephemeralContainers: [{ name: 'e' }] }),
    old,
  );
  assert.equal(pod.spec!.nodeName, undefined);
  assert.equal(pod.spec!.ephemeralContainers!.length, 1);
  assert.deepEqual([pod.metadata.labels, pod.metadata.generation], [{ a: 'b' }, 2]);
});

test('only resources change through the resize subresource', () => {
  const asked = withContainer({ image: 'other', resources: { requests: { cpu: '1' } } });
  const pod = updated(preparePodResize, asked, somePod());
  const [container] = pod.spec!.containers;
  assert.deepEqual([container!.image, container!.resources], ['nginx:1', { requests: { cpu: '1' } }]);
  assert.equal(pod.metadata.generation, 2);
});
