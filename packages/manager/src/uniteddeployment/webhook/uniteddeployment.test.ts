import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Subset,
  type SubsetTemplate,
  type UnitedDeployment,
  unitedDeployment,
} from '@kruise/api/kruise/uniteddeployment';
import { summary } from '@kruise/schema/field-error';
import { featureGates } from '../../configuration/feature-gates.ts';
import { typed } from '../../webhooks/typed.ts';
import { defaultUnitedDeployment } from './default.ts';
import { validateUnitedDeployment, validateUnitedDeploymentUpdate } from './validate.ts';

const gates = featureGates();
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const podTemplate = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } };

/** Returns a minimal template. */
const templateOf = (name: keyof SubsetTemplate, spec: object = {}, metadata: object = { labels }) =>
  ({ [name]: { metadata, spec: { selector, template: podTemplate, ...spec } } }) as SubsetTemplate;

type Spec = Partial<UnitedDeployment['spec']>;

function deploymentOf(spec: Spec = {}, metadata = {}): UnitedDeployment {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'UnitedDeployment',
    metadata: { name: 'web', namespace: 'default', uid: 'uid', resourceVersion: '1', ...metadata },
    spec: {
      replicas: 4,
      selector,
      template: templateOf('cloneSetTemplate'),
      topology: { subsets: [{ name: 'a' }, { name: 'b' }] },
      ...spec,
    },
  };
}

const filled = (spec: Spec = {}, old?: Spec, open = gates) =>
  defaultUnitedDeployment(
    typed(unitedDeployment, deploymentOf(spec)),
    old && typed(unitedDeployment, deploymentOf(old)),
    open,
  );

/** Returns all errors as one text; empty if there is none. */
function faults(spec: Spec, old?: Spec, open = gates): string {
  const read = (given: Spec) => typed(unitedDeployment, filled(given, undefined, open));
  const found = [
    ...validateUnitedDeployment(read(spec), open),
    ...(old ? validateUnitedDeploymentUpdate(read(spec), read(old)) : []),
  ];
  return found.length === 0 ? '' : summary(found);
}

test('a minimal UnitedDeployment has one Pod, ten revisions, and no partition', () => {
  const { replicas, revisionHistoryLimit, updateStrategy } = defaultUnitedDeployment(
    typed(unitedDeployment, { ...deploymentOf(), spec: { selector } }),
    undefined,
    gates,
  ).spec;
  assert.deepEqual([replicas, revisionHistoryLimit], [1, 10]);
  assert.deepEqual(updateStrategy, { type: 'Manual', manualUpdate: {} });
});

test('given values are kept', () => {
  const given: Spec = {
    replicas: 0,
    revisionHistoryLimit: 3,
    updateStrategy: { type: 'Manual', manualUpdate: { partitions: { a: 1 } } },
  };
  const { replicas, revisionHistoryLimit, updateStrategy } = filled(given).spec;
  assert.deepEqual({ replicas, revisionHistoryLimit, updateStrategy }, given);
});

const leasts: readonly { is: string; subsets: readonly Subset[]; result: readonly unknown[] }[] = [
  { is: 'no subset has minReplicas if none has a limit', subsets: [{ name: 'a' }], result: [undefined] },
  {
    is: 'all domains have a least where one has a most',
    subsets: [{ name: 'a', maxReplicas: 2 }, { name: 'b' }, { name: 'c', minReplicas: '10%' }],
    result: [0, 0, '10%'],
  },
  {
    is: 'no default is set if a subset has replicas',
    subsets: [
      { name: 'a', maxReplicas: 2 },
      { name: 'b', replicas: 1 },
    ],
    result: [undefined, undefined],
  },
];
for (const { is, subsets, result } of leasts) {
  test(is, () => {
    const { topology } = filled({ topology: { subsets } }).spec;
    assert.deepEqual(
      topology?.subsets?.map(({ minReplicas }) => minReplicas),
      result,
    );
  });
}

test("only new Pod templates of Kubernetes' StatefulSets get defaults", () => {
  const isFilled = (spec: Spec) =>
    Object.values(spec.template ?? {}).some((member) => member?.spec.template.spec?.restartPolicy !== undefined);
  const template = templateOf('statefulSetTemplate', {
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
  });
  const { spec } = filled({ template });
  assert.ok(isFilled(spec));
  assert.equal(spec.template?.statefulSetTemplate?.spec.volumeClaimTemplates?.[0]?.status?.phase, 'Pending');
  assert.ok(!isFilled(filled({ template, replicas: 9 }, { template }).spec));
  assert.ok(!isFilled(filled({ template }, undefined, featureGates({ TemplateNoDefaults: true })).spec));
  for (const name of ['advancedStatefulSetTemplate', 'cloneSetTemplate', 'deploymentTemplate'] as const) {
    assert.ok(!isFilled(filled({ template: templateOf(name) }).spec));
  }
});

test('a complete UnitedDeployment is unchanged', () => {
  const whole = typed(unitedDeployment, filled());
  assert.equal(defaultUnitedDeployment(whole, whole, gates), whole);
});

test('the status in a request is dropped, and the rest is written as Go writes it', () => {
  const whole = typed(unitedDeployment, filled());
  const status = { replicas: 9, updatedReplicas: 9, currentRevision: 'x' };
  const template = templateOf('deploymentTemplate');
  const { status: taken, spec } = defaultUnitedDeployment(
    { ...whole, spec: { ...whole.spec, template }, status },
    { ...whole, spec: { ...whole.spec, template } },
    gates,
  );
  assert.equal(taken, undefined);
  assert.deepEqual(spec.template?.deploymentTemplate?.spec.template.spec?.containers[0]?.resources, {});
});

const subsetsOf = (...subsets: readonly Subset[]): Spec => ({ topology: { subsets } });
const adaptive = (subsets: readonly Subset[], more = {}): Spec => ({
  topology: { subsets, scheduleStrategy: { type: 'Adaptive', ...more } },
});
const reserving = { adaptive: { reserveUnschedulablePods: true } };
const [a, b] = [{ name: 'a' }, { name: 'b' }];

const sound: readonly { is: string; spec: Spec }[] = [
  { is: 'CloneSets', spec: {} },
  { is: 'CloneSets whose labels are of no concern', spec: { template: templateOf('cloneSetTemplate', {}, {}) } },
  { is: 'StatefulSets of Kubernetes', spec: { template: templateOf('statefulSetTemplate') } },
  { is: 'StatefulSets of Kruise', spec: { template: templateOf('advancedStatefulSetTemplate') } },
  { is: 'Deployments', spec: { template: templateOf('deploymentTemplate') } },
  { is: 'no subset at all', spec: { topology: {} } },
  { is: 'shares', spec: subsetsOf({ name: 'a', replicas: '25%' }, { name: 'b', replicas: 3 }) },
  { is: 'bounds', spec: subsetsOf({ name: 'a', minReplicas: 1, maxReplicas: '50%' }, b) },
  { is: 'Pods that are given to other domains', spec: adaptive([{ name: 'a', maxReplicas: 2 }, b], reserving) },
  { is: 'partitions', spec: { updateStrategy: { type: 'Manual', manualUpdate: { partitions: { a: 9 } } } } },
];
for (const { is, spec } of sound) {
  test(`a UnitedDeployment may have ${is}`, () => assert.equal(faults(spec), ''));
}

const subsetsPath = 'spec.topology.subsets';
const unsound: readonly { spec: Spec; fault: string }[] = [
  {
    spec: { replicas: -1 },
    fault:
      '[spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.topology.subsets: Invalid value: 0: if UnitedDeployment replicas is not provided, replicas of all subsets should be provided]',
  },
  {
    spec: { selector: {} },
    fault: 'spec.selector: Invalid value: v1.LabelSelector{}: empty selector is invalid for statefulset',
  },
  {
    spec: { ...adaptive([a], reserving), template: templateOf('statefulSetTemplate') },
    fault:
      'spec.topology.scheduleStrategy: Invalid value: v1beta1.UnitedDeploymentScheduleStrategy{…}: only stateless workloads (Deployment and CloneSet) are supported by reserved rescheduling',
  },
  {
    spec: { template: {} },
    fault:
      'spec.template: Required value: should provide one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, or deploymentTemplate',
  },
  {
    spec: { template: { ...templateOf('cloneSetTemplate'), ...templateOf('deploymentTemplate') } },
    fault:
      'spec.template: Invalid value: v1beta1.SubsetTemplate{…}: should provide only one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, or deploymentTemplate',
  },
  {
    spec: { template: templateOf('statefulSetTemplate', {}, { labels: { app: 'x' } }) },
    fault:
      'spec.template.statefulSetTemplate.metadata.labels: Invalid value: map[string]string{"app":"x"}: `selector` does not match template `labels`',
  },
  {
    spec: { template: templateOf('advancedStatefulSetTemplate', {}, { labels: { app: 'x' } }) },
    fault:
      'spec.template.statefulSetTemplate.metadata.labels: Invalid value: map[string]string{"app":"x"}: `selector` does not match template `labels`',
  },
  {
    spec: { template: templateOf('deploymentTemplate', { template: { ...podTemplate, metadata: {} } }) },
    fault:
      'spec.template.deploymentTemplate.spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match template `labels`',
  },
  {
    spec: { template: templateOf('deploymentTemplate', { replicas: 2 }) },
    fault:
      'spec.template.deploymentTemplate.spec.replicas: Invalid value: 2: replicas in deploymentTemplate will not be used',
  },
  {
    spec: { template: templateOf('deploymentTemplate', { template: { ...podTemplate, spec: { containers: [] } } }) },
    fault: 'spec.template.deploymentTemplate.spec.template.spec.containers: Required value',
  },
  {
    spec: {
      template: templateOf('statefulSetTemplate', {
        replicas: 1,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
      }),
    },
    fault:
      '[spec.template.statefulSetTemplate.spec.replicas: Invalid value: 1: replicas in statefulSetTemplate will not be used, spec.template.statefulSetTemplate.spec.updateStrategy.rollingUpdate.partition: Invalid value: 1: partition in statefulSetTemplate will not be used]',
  },
  {
    spec: { template: templateOf('statefulSetTemplate', { podManagementPolicy: 'Never' }) },
    fault:
      "spec.template.statefulSetTemplate.spec.podManagementPolicy: Invalid value: \"Never\": must be 'OrderedReady' or 'Parallel'",
  },
  {
    spec: {
      template: templateOf('advancedStatefulSetTemplate', {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
      }),
    },
    fault:
      'spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate.partition: Invalid value: 1: partition in advancedStatefulSetTemplate will not be used',
  },
  {
    spec: { template: templateOf('advancedStatefulSetTemplate', { template: { metadata: { labels: { app: 'x' } } } }) },
    fault:
      'spec.template.advancedStatefulSetTemplate.spec.template.metadata.labels: Invalid value: map[string]string{"app":"x"}: `selector` does not match template `labels`',
  },
  {
    spec: subsetsOf({ name: 'a', replicas: '5' }, b),
    fault: `${subsetsPath}[0].replicas: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"5"}: subset replicas (5) only support integer value or percentage value with a suffix '%'`,
  },
  {
    spec: subsetsOf({ name: 'a', minReplicas: 3, maxReplicas: 2 }, b),
    fault: `${subsetsPath}[0].minReplicas: Invalid value: intstr.IntOrString{Type:0, IntVal:3, StrVal:""}: subset[0].minReplicas must be less than or equal to maxReplicas`,
  },
  {
    spec: subsetsOf({ name: 'a', minReplicas: 1 }, { name: 'b', replicas: 1 }),
    fault: `${subsetsPath}: Invalid value: []v1beta1.Subset{…}: subset.Replicas and subset.MinReplicas/subset.MaxReplicas are mutually exclusive in a UnitedDeployment`,
  },
  {
    spec: subsetsOf({ name: 'a', maxReplicas: 2 }, { name: 'b', maxReplicas: 2 }),
    fault: `${subsetsPath}: Invalid value: 2: at least one subset.maxReplicas must be empty`,
  },
  {
    spec: subsetsOf({ name: 'a', replicas: 9 }, b),
    fault: `${subsetsPath}: Invalid value: 9: sum of indicated subset replicas 9 should not be greater than UnitedDeployment replicas 4`,
  },
  {
    spec: subsetsOf({ name: 'a', replicas: 1 }, { name: 'b', replicas: 1 }),
    fault: `${subsetsPath}: Invalid value: 2: if replicas of all subsets are provided, the sum of indicated subset replicas 2 should equal UnitedDeployment replicas 4`,
  },
  { spec: subsetsOf(a, a), fault: `${subsetsPath}[1].name: Invalid value: "a": duplicated subset name a` },
  {
    spec: subsetsOf({ name: 'A' }),
    fault: `${subsetsPath}[0].name: Invalid value: "A": invalid subset name a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
  },
  {
    spec: subsetsOf({ name: 'a', nodeSelectorTerm: { matchExpressions: [{ key: 'k', operator: 'Is' as never }] } }),
    fault: `${subsetsPath}[0].nodeSelectorTerm.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
  },
  {
    spec: subsetsOf({ name: 'a', tolerations: [{ operator: 'Equal' }] }),
    fault: `${subsetsPath}[0].tolerations[0].operator: Invalid value: "Equal": operator must be Exists when \`key\` is empty, which means "match all values and all keys"`,
  },
  {
    spec: adaptive([{ name: 'a', replicas: 4 }]),
    fault: `${subsetsPath}[0].replicas: Forbidden: specify replicas use minReplicas/maxReplicas to enable adaptive strategy`,
  },
  {
    spec: { updateStrategy: { type: 'Auto' as never } },
    fault: 'spec.updateStrategy.type: Unsupported value: "Auto": supported values: "Manual", ""',
  },
  {
    spec: { updateStrategy: { type: 'Manual', manualUpdate: { partitions: { z: 1, a: 2 } } } },
    fault:
      'spec.updateStrategy.manualUpdate.partitions: Invalid value: map[string]int32{"a":2, "z":1}: subset z does not exist',
  },
];
for (const { spec, fault } of unsound) {
  test(`a UnitedDeployment is refused with ${fault}`, () => {
    // The printed form of a Go struct is not part of the contract.
    assert.equal(faults(spec).replace(/(v1beta1\.\w+)\{.*\}(?=: )/, '$1{…}'), fault);
  });
}

test('a missing name is reported twice', () => {
  assert.match(faults(subsetsOf({ name: '' })), /subsets\[0\]\.name: Required value, .*invalid subset name/);
});

test('Pod templates of other workloads are valid without defaulted fields', () => {
  for (const name of ['advancedStatefulSetTemplate', 'cloneSetTemplate', 'deploymentTemplate'] as const) {
    assert.equal(faults({ template: templateOf(name) }), '');
  }
});

test("with TemplateNoDefaults, Pod templates of Kubernetes' StatefulSets get no defaults and are refused", () => {
  const open = featureGates({ TemplateNoDefaults: true });
  assert.match(faults({ template: templateOf('statefulSetTemplate') }, undefined, open), /restartPolicy: Unsupported/);
});

test('a percentage of unknown replicas is refused', () => {
  const { replicas: _, ...spec } = deploymentOf(subsetsOf({ name: 'a', replicas: '50%' }, b)).spec;
  const unknown = typed(unitedDeployment, { ...deploymentOf(), spec });
  assert.match(
    summary([...validateUnitedDeployment(unknown, gates)]),
    /subsetReplicas \(50%\) should not be string when unitedDeployment replicas is empty/,
  );
});

const term = (value: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: [value] }] });
const toleration = (key: string) => [{ key, operator: 'Exists' as const }];

const updates: readonly { is: string; old: Spec; spec: Spec; fault: string }[] = [
  { is: 'other replicas', old: {}, spec: { replicas: 9 }, fault: '' },
  { is: 'another sort of workload', old: {}, spec: { template: templateOf('deploymentTemplate') }, fault: '' },
  {
    is: 'an empty term instead of none',
    old: subsetsOf(a),
    spec: subsetsOf({ ...a, nodeSelectorTerm: {} }),
    fault: '',
  },
  {
    is: 'no other nodes',
    old: subsetsOf({ ...a, nodeSelectorTerm: term('x') }),
    spec: subsetsOf({ ...a, nodeSelectorTerm: term('y') }),
    fault: `${subsetsPath}[0].nodeSelectorTerm: Forbidden: may not be changed in an update`,
  },
  {
    is: 'no other tolerations',
    old: subsetsOf({ ...a, tolerations: toleration('x') }),
    spec: subsetsOf({ ...a, tolerations: toleration('y') }),
    fault: `${subsetsPath}[0].tolerations: Forbidden: may not be changed in an update`,
  },
  {
    is: 'other Pods in a StatefulSet of Kubernetes',
    old: { template: templateOf('statefulSetTemplate') },
    spec: { template: templateOf('statefulSetTemplate', { minReadySeconds: 5, updateStrategy: { type: 'OnDelete' } }) },
    fault: '',
  },
  {
    is: 'no other Service of a StatefulSet of Kubernetes',
    old: { template: templateOf('statefulSetTemplate') },
    spec: { template: templateOf('statefulSetTemplate', { serviceName: 'x' }) },
    fault:
      "spec.template.statefulSetTemplate.spec: Forbidden: updates to statefulsetTemplate spec for fields other than 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds' and 'ordinals' are forbidden",
  },
  {
    is: 'no other Service of a StatefulSet of Kruise',
    old: { template: templateOf('advancedStatefulSetTemplate') },
    spec: { template: templateOf('advancedStatefulSetTemplate', { serviceName: 'x' }) },
    fault:
      "spec.template.advancedStatefulSetTemplate.spec: Forbidden: updates to advancedStatefulsetTemplate spec for fields other than 'template', and 'updateStrategy' are forbidden",
  },
];
for (const { is, old, spec, fault } of updates) {
  test(`a UnitedDeployment can be given ${is}`, () => assert.equal(faults(spec, old), fault));
}
