import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { withSubsetFields } from './inject.ts';

const term = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' as const }] });
const preference = (key: string) => ({ weight: 1, preference: term(key) });
const toleration = (key: string) => ({ key, operator: 'Exists' as const });
const required = (...keys: readonly string[]) => ({ nodeSelectorTerms: keys.map(term) });

const podOf = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'web-' },
  spec: { containers: [{ name: 'main', image: 'app' }], ...spec },
});
const spreadOf = (subset: Partial<WorkloadSpreadSubset>): WorkloadSpread => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'WorkloadSpread',
  metadata: { name: 'ws' },
  spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, subsets: [{ name: 'a', ...subset }] },
});
const inject = (pod: Pod, subset: Partial<WorkloadSpreadSubset>) =>
  withSubsetFields(pod, spreadOf(subset), { subset: 'a', uid: 'id' });

const nodes: { is: string; subset: Partial<WorkloadSpreadSubset>; pod?: Partial<PodSpec>; made: Partial<PodSpec> }[] = [
  { is: 'nothing', subset: {}, made: {} },
  {
    is: 'tolerations',
    subset: { tolerations: [toleration('b')] },
    pod: { tolerations: [toleration('a')] },
    made: { tolerations: [toleration('a'), toleration('b')] },
  },
  {
    is: 'preferences',
    subset: { preferredNodeSelector: [preference('b')] },
    pod: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference('a')] } } },
    made: {
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference('a'), preference('b')] },
      },
    },
  },
  {
    is: 'nodes',
    subset: { requiredNodeSelector: term('b') },
    made: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required('b') } } },
  },
  {
    is: 'a conjunction with its own node terms',
    subset: { requiredNodeSelector: term('c') },
    pod: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required('a', 'b') } } },
    made: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: ['a', 'b'].map((key) => ({
              matchExpressions: [...term(key).matchExpressions, ...term('c').matchExpressions],
            })),
          },
        },
      },
    },
  },
];
for (const { is, subset, pod, made } of nodes) {
  test(`a Pod gets ${is} from its subset`, () => {
    assert.deepEqual(inject(podOf(pod), subset).spec, podOf({ ...pod, ...made }).spec);
  });
}

test('a Pod has the annotation of its subset, whatever the patch sets', () => {
  const { metadata } = inject(podOf(), {
    patch: { metadata: { annotations: { note: 'x' }, labels: { tier: 'cheap' } } },
  });
  assert.deepEqual(metadata, {
    generateName: 'web-',
    labels: { tier: 'cheap' },
    annotations: { note: 'x', 'apps.kruise.io/matched-workloadspread': '{"name":"ws","subset":"a","uid":"id"}' },
  });
});

test('containers are patched by name', () => {
  const patch = { spec: { containers: [{ name: 'main', image: 'other' }] } };
  assert.deepEqual(inject(podOf(), { patch }).spec?.containers, [{ name: 'main', image: 'other' }]);
});

test('the priority of another class is computed again', () => {
  const pod = podOf({ priorityClassName: 'low', priority: 1 });
  const patched = (name: string) => inject(pod, { patch: { spec: { priorityClassName: name, containers: [] } } }).spec;
  assert.equal(patched('high')?.priority, undefined);
  assert.equal(patched('low')?.priority, 1);
});

test('a patch that does not apply is an error', () => {
  // The patch of a user is not validated.
  const patch = { spec: { containers: [{ image: 'nameless' }] } } as unknown as WorkloadSpreadSubset['patch'] & object;
  assert.throws(() => inject(podOf(), { patch }), StrategicMergeError);
});

test('a Pod whose subset is gone is unchanged', () => {
  const pod = podOf();
  assert.equal(withSubsetFields(pod, spreadOf({}), { subset: 'b', uid: '' }), pod);
});
