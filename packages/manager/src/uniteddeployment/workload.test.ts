import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Subset } from '@kruise/api/kruise/uniteddeployment';
import { deploymentOf, findWorkloadType, podTemplate, templateFor, workloadOf } from './fixtures.ts';
import { workloadFor } from './workload.ts';
import { type Workload, type WorkloadType, workloadTypes } from './workload-types.ts';

const cloneSets = findWorkloadType('CloneSet');

function made(
  subset: Partial<Subset> = {},
  { workloadType = cloneSets, spec = {}, present, maxUnavailable }: Options = {},
): Workload {
  const owner = deploymentOf({ template: templateFor(workloadType, spec) });
  const whole: Subset = { name: 'a', ...subset };
  const target = { subset: whole, revision: 'web-1', replicas: 3, partition: 2 };
  return workloadFor(
    owner,
    workloadType,
    maxUnavailable === undefined ? target : { ...target, maxUnavailable },
    present,
  );
}

type Options = {
  readonly workloadType?: WorkloadType;
  readonly spec?: object;
  readonly present?: Workload;
  readonly maxUnavailable?: number;
};

const podSpecOf = ({ spec }: Workload) => spec?.template?.spec;
const expression = { key: 'zone', operator: 'In', values: ['a'] } as const;
const other = { key: 'disk', operator: 'Exists' } as const;
const required = (...terms: readonly object[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
});

for (const workloadType of workloadTypes) {
  test(`a ${workloadType.name} of a subset has the labels of its owner and subset, and so do its Pods`, () => {
    const workload = made({}, { workloadType });
    const { metadata, spec } = workload;
    const marks = {
      app: 'web',
      'apps.kruise.io/subset-name': 'a',
      'apps.kruise.io/controller-revision-hash': 'web-1',
    };
    assert.equal(workload.kind, workloadType.kind.kind);
    assert.deepEqual([metadata.generateName, metadata.namespace], ['web-a-', 'default']);
    assert.deepEqual([metadata.labels, metadata.annotations], [marks, { 'apps.kruise.io/subset-patch': '' }]);
    assert.deepEqual(metadata.ownerReferences, [
      {
        apiVersion: 'apps.kruise.io/v1beta1',
        kind: 'UnitedDeployment',
        name: 'web',
        uid: 'web-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    assert.equal(spec?.replicas, 3);
    assert.deepEqual(spec?.selector, { matchLabels: { app: 'web', 'apps.kruise.io/subset-name': 'a' } });
    assert.deepEqual(spec?.template?.metadata?.labels, marks);
  });
}

test('a partition is set where the type has one, and an OnDelete strategy stays', () => {
  const strategies = workloadTypes.map((workloadType) => made({}, { workloadType }).spec?.[workloadType.strategy]);
  const rollingUpdate = { partition: 2 };
  assert.deepEqual(strategies, [{ type: 'RollingUpdate', rollingUpdate }, { rollingUpdate }, { rollingUpdate }, {}]);
  const onDelete = { updateStrategy: { type: 'OnDelete' } };
  const numbered = [findWorkloadType('StatefulSet'), findWorkloadType('AdvancedStatefulSet')];
  for (const workloadType of numbered) {
    assert.deepEqual(made({}, { workloadType, spec: onDelete }).spec?.updateStrategy, { type: 'OnDelete' });
  }
});

test('maxUnavailable is overridden during an update, but not with the strategy Recreate', () => {
  const rolling = made({}, { maxUnavailable: 3 }).spec?.updateStrategy?.rollingUpdate;
  assert.deepEqual(rolling, { partition: 2, maxUnavailable: 3 });
  const workloadType = findWorkloadType('Deployment');
  const recreated = made({}, { workloadType, spec: { strategy: { type: 'Recreate' } }, maxUnavailable: 3 });
  assert.deepEqual(recreated.spec?.strategy, { type: 'Recreate' });
});

const terms: readonly { is: string; given: object | undefined; subset: Partial<Subset>; result: object | undefined }[] =
  [
    {
      is: 'a subset without a node selector term selects all nodes',
      given: undefined,
      subset: {},
      result: undefined,
    },
    {
      is: 'a term without expressions is ignored',
      given: undefined,
      subset: { nodeSelectorTerm: { matchExpressions: [] } },
      result: undefined,
    },
    {
      is: 'Pods run on the nodes of their subset',
      given: undefined,
      subset: { nodeSelectorTerm: { matchExpressions: [expression] } },
      result: required({ matchExpressions: [expression] }),
    },
    {
      is: 'every term of the template is narrowed',
      given: required({ matchExpressions: [other] }, { matchFields: [other] }),
      subset: { nodeSelectorTerm: { matchExpressions: [expression] } },
      result: required(
        { matchExpressions: [other, expression] },
        { matchFields: [other], matchExpressions: [expression] },
      ),
    },
  ];
for (const { is, given, subset, result } of terms) {
  test(is, () => {
    const template = { ...podTemplate, spec: { ...podTemplate.spec, ...(given ? { affinity: given } : {}) } };
    assert.deepEqual(podSpecOf(made(subset, { spec: { template } }))?.affinity, result);
  });
}

test('Pods tolerate the taints of their subset in addition to those of the template', () => {
  const [first, second] = [
    { key: 'a', operator: 'Exists' },
    { key: 'b', operator: 'Exists' },
  ] as const;
  const template = { ...podTemplate, spec: { ...podTemplate.spec, tolerations: [first] } };
  assert.deepEqual(podSpecOf(made({ tolerations: [second] }, { spec: { template } }))?.tolerations, [first, second]);
});

test('the patch of a subset is applied last, merges by name, and is recorded in an annotation', () => {
  const patch = {
    metadata: { labels: { tier: 'a' } },
    spec: { containers: [{ name: 'main', env: [{ name: 'ZONE', value: 'a' }] }], affinity: null },
  };
  const workload = made({ nodeSelectorTerm: { matchExpressions: [expression] }, patch: patch as never });
  assert.deepEqual(podSpecOf(workload)?.containers[0]?.image, 'app:v1');
  assert.deepEqual(podSpecOf(workload)?.containers[0]?.env, [{ name: 'ZONE', value: 'a' }]);
  assert.equal(podSpecOf(workload)?.affinity, undefined);
  assert.equal(workload.spec?.template?.metadata?.labels?.['tier'], 'a');
  assert.equal(
    workload.metadata.annotations?.['apps.kruise.io/subset-patch'],
    '{"metadata":{"labels":{"tier":"a"}},"spec":{"affinity":null,"containers":[{"env":[{"name":"ZONE","value":"a"}],"name":"main"}]}}',
  );
});

test('an existing workload keeps its name and the annotations of others', () => {
  const former = workloadOf(cloneSets, 'a');
  const annotations = { note: 'x' };
  const present = { ...former, metadata: { ...former.metadata, annotations, labels: { note: 'y' } } };
  const { metadata } = made({}, { present });
  assert.deepEqual([metadata.name, metadata.annotations?.['note'], metadata.labels?.['note']], ['web-a-x', 'x', 'y']);
  assert.equal(metadata.ownerReferences?.length, 1);
});

test('all fields of a template reach the workloads', () => {
  const { spec } = made({}, { spec: { scaleStrategy: { maxUnavailable: 1 }, minReadySeconds: 5 } });
  const { scaleStrategy, minReadySeconds } = spec as { scaleStrategy?: object; minReadySeconds?: number };
  assert.deepEqual([scaleStrategy, minReadySeconds], [{ maxUnavailable: 1 }, 5]);
});

test('a selector of expressions alone is narrowed, too', () => {
  const selector = { matchExpressions: [{ key: 'app', operator: 'Exists' as const }] };
  const owner = deploymentOf({ selector });
  const target = { subset: { name: 'a' }, revision: 'web-1', replicas: 1, partition: 0 };
  assert.deepEqual(workloadFor(owner, cloneSets, target).spec?.selector, {
    ...selector,
    matchLabels: { 'apps.kruise.io/subset-name': 'a' },
  });
});

test('a workload is named after its owner alone where the subset would make the name invalid', () => {
  const owner = deploymentOf();
  const long = { ...owner, metadata: { ...owner.metadata, name: 'w'.repeat(250) } };
  const target = { subset: { name: 'a-long-name' }, revision: 'r', replicas: 1, partition: 0 };
  assert.equal(workloadFor(long, cloneSets, target).metadata.generateName, `${'w'.repeat(250)}-`);
});
