import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { WorkloadSpread, WorkloadSpreadSpec, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { summary } from '@kruise/schema/field-error';
import { ParseError } from '@kruise/values/parse-error';
import { featureGates } from '../../configuration/feature-gates.ts';
import type { CustomWorkload } from '../allowlist.ts';
import { type Surroundings, validateWorkloadSpread } from './validate.ts';

const cloneSet = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', name: 'web' };
const target = (apiVersion: string, kind: string, name = 'web') => ({ targetRef: { apiVersion, kind, name } });
const limited = (
  ...limits: readonly (number | string | undefined)[]
): { subsets: readonly WorkloadSpreadSubset[] } => ({
  subsets: limits.map((maxReplicas, index) => ({
    name: `subset-${index}`,
    ...(maxReplicas === undefined ? {} : { maxReplicas }),
  })),
});
const only = (subset: object): { subsets: readonly WorkloadSpreadSubset[] } => ({
  subsets: [{ name: 'a', ...subset }],
});
const adaptive = (rescheduleCriticalSeconds: number, type = 'Adaptive') => ({
  scheduleStrategy: { type: type as 'Adaptive', adaptive: { rescheduleCriticalSeconds } },
});

const spreadOf = (spec: object = {}, name = 'ws'): WorkloadSpread => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'WorkloadSpread',
  metadata: { name, namespace: 'default', resourceVersion: '1' },
  spec: { targetRef: cloneSet, ...limited(2, undefined), ...spec } as WorkloadSpreadSpec,
});

const listed: CustomWorkload = { group: 'x.io', version: 'v1', kind: 'Fleet', intermediates: [], replicasPath: '' };
const alone: Surroundings = { customWorkloads: () => [listed], template: undefined, rivals: [] };

function faultsOf(spec: object, surroundings: Partial<Surroundings> = {}, old?: WorkloadSpread): string {
  const found = [...validateWorkloadSpread(spreadOf(spec), { ...alone, ...surroundings }, old)];
  return found.length === 0 ? '' : summary(found);
}

const taken: { is: string; spec: object }[] = [
  { is: 'for a CloneSet', spec: {} },
  { is: 'for a CloneSet of another version', spec: target('apps.kruise.io/v1alpha1', 'CloneSet') },
  { is: 'for a Deployment', spec: target('apps/v1', 'Deployment') },
  { is: 'for a ReplicaSet', spec: target('apps/v1', 'ReplicaSet') },
  { is: 'for a Job', spec: target('batch/v1', 'Job') },
  { is: 'for a StatefulSet', spec: target('apps/v1', 'StatefulSet') },
  { is: 'for an Advanced StatefulSet', spec: target('apps.kruise.io/v1beta1', 'StatefulSet') },
  { is: 'for a workload of the allowlist, in any version', spec: target('x.io/v2', 'Fleet') },
  { is: 'with a single subset', spec: limited(undefined) },
  { is: 'of limits without a last one', spec: limited(2, 3, undefined) },
  { is: 'of percentages of less than all, but for the last', spec: limited('20%', '30%', undefined) },
  { is: 'of percentages of all', spec: limited('20%', '80%') },
  { is: 'of percentages without the sign', spec: limited('20', '80') },
  { is: 'adaptive', spec: { ...limited(2, undefined), ...adaptive(295) } },
  { is: 'adaptive without limits', spec: { ...limited(undefined, undefined), ...adaptive(10) } },
  { is: 'of the type Adaptive with a single subset', spec: { ...limited(2), ...adaptive(100_000) } },
  { is: 'adaptive in name only', spec: { ...limited(2, 2), scheduleStrategy: { type: 'Adaptive' } } },
  { is: 'of some Pods', spec: { targetFilter: { selector: { matchLabels: { role: 'worker' } } } } },
  { is: 'patched before there is a workload', spec: only({ patch: { spec: { containers: 'none' } } }) },
];
for (const { is, spec } of taken) {
  test(`a WorkloadSpread ${is} is accepted`, () => {
    assert.equal(faultsOf(spec), '');
  });
}

const refused: { is: string; spec: object; expected: string | RegExp }[] = [
  {
    is: 'for nothing',
    spec: { targetRef: null },
    expected: 'spec.targetRef: Required value: no targetRef defined in WorkloadSpread',
  },
  {
    is: 'for a workload without a name',
    spec: target('apps/v1', 'Deployment', ''),
    expected:
      'spec.targetRef: Invalid value: v1beta1.TargetReference{APIVersion:"apps/v1", Kind:"Deployment", Name:""}: empty TargetReference is not valid for WorkloadSpread.',
  },
  {
    is: 'for a CloneSet of another group',
    spec: target('apps/v1', 'CloneSet'),
    expected: /: TargetReference is not valid for CloneSet\.$/,
  },
  {
    is: 'for a Job of another group',
    spec: target('apps/v1', 'Job'),
    expected: /: TargetReference is not valid for Job\.$/,
  },
  {
    is: 'for a kind that is not on the allowlist',
    spec: target('y.io/v1', 'Fleet'),
    expected: /: TargetReference's GroupKind is not permitted\.$/,
  },
  {
    is: 'without groups',
    spec: limited(),
    expected: 'spec.subsets: Required value: subsets number must >= 1 in WorkloadSpread',
  },
  { is: 'with a subset without a name', spec: only({ name: '' }), expected: 'spec.subsets[0].name: Invalid value: ""' },
  {
    is: 'of groups of one name',
    spec: { subsets: [{ name: 'a' }, { name: 'a' }] },
    expected: 'spec.subsets[1].name: Invalid value: "a": duplicated subset name a',
  },
  {
    is: 'of nodes that no selector finds',
    spec: only({ requiredNodeSelector: { matchExpressions: [{ key: 'zone', operator: 'In' }] } }),
    expected:
      "spec.subsets[0].requiredNodeSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  },
  {
    is: 'of nodes that are preferred too much',
    spec: only({ preferredNodeSelector: [{ weight: 101, preference: {} }] }),
    expected: 'spec.subsets[0].preferredNodeSelector[0].weight: Invalid value: 101: must be in the range 1-100',
  },
  {
    is: 'of tolerations of nothing',
    spec: only({ tolerations: [{ operator: 'Equal' }] }),
    expected: /^spec\.subsets\[0\]\.tolerations\[0\]\.operator: Invalid value: "Equal": operator must be Exists/,
  },
  {
    is: 'of a number and a percentage',
    spec: limited(2, '50%'),
    expected:
      'spec.subsets[1].maxReplicas: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"50%"}: the maxReplicas type of all subsets must be the same',
  },
  {
    is: 'of percentages of a StatefulSet',
    spec: { ...target('apps/v1', 'StatefulSet'), ...limited('50%', undefined) },
    expected: /: the maxReplicas type must be Int for StatefulSet$/,
  },
  ...[-1, '-1%', '0.2%', '50.2%'].map((limit) => ({
    is: `of ${limit} Pods`,
    spec: limited(limit, undefined),
    expected: /^spec\.subsets\[0\]\.maxReplicas: .*: maxReplicas is not valid for subset$/,
  })),
  {
    is: 'of more than all Pods',
    spec: limited('60%', '60%'),
    expected: /^spec\.subsets\[1\]\.maxReplicas: .*: the sum of all subset's maxReplicas exceeds 100% is no permitted$/,
  },
  {
    is: 'of less than all Pods',
    spec: limited('20%', '70%'),
    expected:
      'spec.subsets[0].maxReplicas: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"20%"}: maxReplicas sum of all subsets must equal 100% when type is specified as percent',
  },
  {
    is: 'of an unknown strategy',
    spec: { scheduleStrategy: { type: 'Best' } },
    expected: 'spec.scheduleStrategy.type: Invalid value: "Best": ScheduleStrategy\'s type is not valid',
  },
  {
    is: 'adaptive and fixed',
    spec: adaptive(10, 'Fixed'),
    expected:
      "spec.scheduleStrategy.type: Invalid value: 10: the scheduleStrategy's type must be adaptive when using adaptive scheduleStrategy",
  },
  {
    is: 'adaptive with a last limit',
    spec: { ...limited(2, 2), ...adaptive(10) },
    expected:
      "spec.scheduleStrategy.adaptive: Invalid value: 10: the last subset's maxReplicas must be not specified when using adaptive scheduleStrategy",
  },
  ...[-1, 148].map((seconds) => ({
    is: `adaptive after ${seconds} s, of three groups`,
    spec: { ...limited(2, 2, undefined), ...adaptive(seconds) },
    expected: `spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds: Invalid value: ${seconds}: rescheduleCriticalSeconds < 0 or rescheduleCriticalSeconds > 147 is not permitted`,
  })),
  {
    is: 'of Pods that no selector finds',
    spec: { targetFilter: { selector: { matchExpressions: [{ key: 'role', operator: 'In' }] } } },
    expected: /^spec\.targetFilter: Invalid value: v1beta1\.TargetFilter\{.*values set can't be empty$/,
  },
];
for (const { is, spec, expected } of refused) {
  test(`a WorkloadSpread ${is} is refused`, () => {
    const errors = faultsOf(spec);
    if (typeof expected === 'string') assert.equal(errors, expected);
    else assert.match(errors, expected);
  });
}

test('an unreadable allowlist is reported', () => {
  const customWorkloads = () => {
    throw new ParseError('no list');
  };
  assert.equal(faultsOf(target('x.io/v1', 'Fleet'), { customWorkloads }), 'spec.targetRef: Internal error: no list');
});

test('a workload has one WorkloadSpread', () => {
  assert.match(
    faultsOf({}, { rivals: [spreadOf(), spreadOf({}, 'other')] }),
    /^spec\.targetRef: .*: ws\.spec\.targetRef is in conflict with other WorkloadSpread other$/,
  );
});

test('subsets and the version of the target may change, but not the target', () => {
  const old = spreadOf();
  assert.equal(faultsOf({ ...limited(1, 1, 1), ...target('apps.kruise.io/v1alpha1', 'CloneSet') }, {}, old), '');
  const changes = [target('apps.kruise.io/v1beta1', 'CloneSet', 'other'), target('apps/v1', 'Deployment')];
  for (const change of changes) {
    assert.match(faultsOf(change, {}, old), /: change TargetReference is not permitted for WorkloadSpread$/);
  }
});

const mounted = (name: string): PodTemplateSpec => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'app', volumeMounts: [{ name, mountPath: '/data' }] }] },
});
const claims: readonly PersistentVolumeClaim[] = [
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } },
];
const patching: { is: string; patch: object; template?: PodTemplateSpec; expected: string | RegExp }[] = [
  { is: 'adds a label', patch: { metadata: { labels: { tier: 'cheap' } } }, expected: '' },
  {
    is: 'names a container badly',
    patch: { spec: { containers: [{ name: 'A', image: 'app' }] } },
    expected: /^spec\.subsets\[0\]\.patch\.containers\[0\]\.name: Invalid value: "A"/,
  },
  {
    is: 'does not say which container it is for',
    patch: { spec: { containers: [{ image: 'app' }] } },
    expected: /^spec\.subsets\[0\]\.patch: Invalid value: .*: failed to merge patch: /,
  },
  {
    is: 'makes no Pod',
    patch: { spec: { nodeSelector: 'none' } },
    expected: /^spec\.subsets\[0\]\.patch: Invalid value: .*: failed to unmarshal: /,
  },
  {
    is: 'is right, where the template is not,',
    patch: { metadata: { labels: { tier: 'cheap' } } },
    template: mounted('other'),
    expected: 'spec.subsets[0].patch.containers[0].volumeMounts[0].name: Not found: "other"',
  },
];
for (const { is, patch, template = mounted('data'), expected } of patching) {
  test(`a patch that ${is} is ${expected ? 'refused' : 'accepted'}`, () => {
    const errors = faultsOf(only({ patch }), { template: { template, claims, gates: featureGates() } });
    if (typeof expected === 'string') assert.equal(errors, expected);
    else assert.match(errors, expected);
  });
}
