import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet, CloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { controllerReference } from '@kruise/machinery/owner-references';
import { summary } from '@kruise/schema/field-error';
import { featureGates } from '../../configuration/feature-gates.ts';
import { workloadDeletionFault } from '../../deletion-protection/workloads.ts';
import { defaultCloneSet, defaultCloneSetV1alpha1 } from './default.ts';
import { validateCloneSet, validateCloneSetV1alpha1 } from './validate.ts';

const gates = featureGates();
type Spec = Partial<CloneSet['spec']>;
type SpecV1alpha1 = Partial<CloneSetV1alpha1['spec']>;
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } };
const selector = { matchLabels: { app: 'web' } };
const metadata = { name: 'web', namespace: 'default', uid: 'set-uid', resourceVersion: '1' };

const beta = (spec: Spec = {}): CloneSet => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'CloneSet',
  metadata,
  spec: { selector, template, ...spec },
});
const alpha = (spec: SpecV1alpha1 = {}): CloneSetV1alpha1 => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'CloneSet',
  metadata,
  spec: { selector, template, ...spec },
});
const filled = (spec: Spec = {}) => defaultCloneSet(beta(spec), undefined, gates);
const filledV1alpha1 = (spec: SpecV1alpha1 = {}) => defaultCloneSetV1alpha1(alpha(spec), undefined, gates);

test('a minimal CloneSet has one Pod, and recreates a fifth at a time', () => {
  const { spec } = filled();
  assert.deepEqual([spec.replicas, spec.revisionHistoryLimit], [1, 10]);
  assert.deepEqual(spec.updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { podUpdatePolicy: 'ReCreate', partition: 0, maxUnavailable: '20%', maxSurge: 0 },
  });
});

test('a minimal CloneSet of v1alpha1 gets the same defaults', () => {
  assert.deepEqual(filledV1alpha1().spec.updateStrategy, {
    type: 'ReCreate',
    partition: 0,
    maxUnavailable: '20%',
    maxSurge: 0,
  });
  assert.deepEqual(
    filledV1alpha1({ updateStrategy: { type: 'InPlaceOnly' } }).spec.updateStrategy?.inPlaceUpdateStrategy,
    {},
  );
});

test('OnDelete gets no rolling update defaults', () => {
  assert.deepEqual(filled({ updateStrategy: { type: 'OnDelete' } }).spec.updateStrategy, { type: 'OnDelete' });
});

test('templates get exactly the defaults that are hashed', () => {
  assert.deepEqual(filled().spec.template, {
    metadata: { creationTimestamp: null, labels: { app: 'web' } },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'app:v1',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
    },
  });
});

test('without the gate, or if the template is unchanged, templates get no defaults', () => {
  const without = featureGates({ TemplateNoDefaults: true });
  assert.equal(defaultCloneSet(beta(), undefined, without).spec.template.spec?.dnsPolicy, undefined);
  assert.equal(defaultCloneSet(beta({ replicas: 2 }), beta(), gates).spec.template.spec?.dnsPolicy, undefined);
});

test('a complete CloneSet is returned unchanged, with unknown fields', () => {
  const complete = { ...filled(), surprise: true };
  assert.equal(defaultCloneSet(complete, undefined, gates), complete);
});

test('host ports default to container ports if enabled', () => {
  const hostNetwork = {
    ...template,
    spec: {
      ...template.spec,
      hostNetwork: true,
      containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 80 }] }],
    },
  };
  const some = featureGates({ DefaultHostNetworkHostPortsInPodTemplates: true });
  const portOf = (set: CloneSet) => set.spec.template.spec?.containers[0]?.ports?.[0]?.hostPort;
  assert.equal(portOf(defaultCloneSet(beta({ template: hostNetwork }), undefined, some)), 80);
  assert.equal(portOf(defaultCloneSet(beta({ template: hostNetwork }), undefined, gates)), undefined);
});

const rolling = (rollingUpdate: NonNullable<Spec['updateStrategy']>['rollingUpdate'] & object): Spec => ({
  updateStrategy: { rollingUpdate },
});
const faults: { is: string; spec: Spec; expected?: RegExp }[] = [
  { is: 'that is complete', spec: {} },
  { is: 'with a fraction of a percent', spec: rolling({ maxUnavailable: '33.3%' }) },
  {
    is: 'with maxSurge and nothing unavailable',
    spec: { replicas: 3, ...rolling({ maxUnavailable: 0, maxSurge: 1 }) },
  },
  { is: 'with a partition beyond its replicas', spec: rolling({ partition: 9 }) },
  { is: 'without replicas and nothing unavailable', spec: { replicas: 0, ...rolling({ maxUnavailable: 0 }) } },
  {
    is: 'with less than no replicas',
    spec: { replicas: -1 },
    expected: /^spec.replicas: Invalid value: -1: must be greater than or equal to 0$/,
  },
  {
    is: 'with an empty selector',
    spec: { selector: {} },
    expected: /spec.selector: .*empty selector is invalid for cloneset/,
  },
  {
    is: 'whose selector finds other Pods',
    spec: { selector: { matchLabels: { app: 'x' } } },
    expected: /spec.template.metadata.labels: .*`selector` does not match template `labels`/,
  },
  {
    is: 'whose Pods end',
    spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
    expected: /restartPolicy: Unsupported value: "Never"/,
  },
  {
    is: 'whose Pods have a deadline',
    spec: { template: { ...template, spec: { ...template.spec, activeDeadlineSeconds: 5 } } },
    expected: /activeDeadlineSeconds in cloneset is not Supported/,
  },
  {
    is: 'that names a Pod twice',
    spec: { scaleStrategy: { podsToDelete: ['a', 'a', 'b'] } },
    expected: /duplicated items \[a\]/,
  },
  {
    is: 'with a partition that is no number',
    spec: rolling({ partition: 'some' }),
    expected:
      /^spec.updateStrategy.rollingUpdate.partition: Invalid value: "some": failed GetScaledValueFromIntOrPercent for partition: invalid type: string is not a percentage$/,
  },
  {
    is: 'with a number written as a text',
    spec: rolling({ maxUnavailable: '5' }),
    expected: /string is not a percentage/,
  },
  { is: 'with a partition below zero', spec: rolling({ partition: -1 }), expected: /partition: Invalid value: -1/ },
  {
    is: 'with nothing unavailable and no surge',
    spec: { replicas: 1, ...rolling({ maxUnavailable: 0, maxSurge: 0 }) },
    expected: /should not both be less than 1/,
  },
  {
    is: 'that surges in place only',
    spec: rolling({ podUpdatePolicy: 'InPlaceOnly', maxSurge: 1 }),
    expected: /can not use maxSurge with podUpdatePolicy InPlaceOnly/,
  },
  {
    is: 'with an unknown policy',
    spec: rolling({ podUpdatePolicy: 'Sometimes' as 'ReCreate' }),
    expected: /podUpdatePolicy: Invalid value: "Sometimes"/,
  },
  {
    is: 'of an unknown type',
    spec: { updateStrategy: { type: 'Sometimes' as 'OnDelete' } },
    expected: /must be 'RollingUpdate' or 'OnDelete'/,
  },
  {
    is: 'on deletion with half a block',
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: { podUpdatePolicy: 'ReCreate' } } },
    expected: /partition/,
  },
  {
    is: 'with two priorities',
    spec: rolling({
      priorityStrategy: {
        orderPriority: [{ orderedKey: 'a' }],
        weightPriority: [{ weight: 1, matchSelector: selector }],
      },
    }),
    expected: /only one of weightPriority and orderPriority can be used/,
  },
  {
    is: 'with a weight beyond 100',
    spec: rolling({ priorityStrategy: { weightPriority: [{ weight: 101, matchSelector: selector }] } }),
    expected: /range 1-100/,
  },
  {
    is: 'that spreads a label twice',
    spec: rolling({
      scatterStrategy: [
        { key: 'a', value: 'b' },
        { key: 'a', value: 'b' },
      ],
    }),
    expected: /duplicated key=a value=b/,
  },
  {
    is: 'with a percentage as pre-download parallelism',
    spec: rolling({ inPlaceUpdateStrategy: { imagePreDownloadParallelism: '10%' } }),
    expected: /does not support percentage value/,
  },
  {
    is: 'with a word as pre-download parallelism',
    spec: rolling({ inPlaceUpdateStrategy: { imagePreDownloadParallelism: 'x' } }),
    expected: /must be a valid integer/,
  },
];
for (const { is, spec, expected } of faults) {
  test(`a CloneSet ${is} is ${expected ? 'refused' : 'accepted'}`, () => {
    const found = [...validateCloneSet(filled(spec), gates)];
    if (expected) assert.match(summary(found), expected);
    else assert.deepEqual(found, []);
  });
}

const owned = (uid: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    ownerReferences: [
      controllerReference({ apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', metadata: { name: 'web', uid } }),
    ],
    ...more,
  },
});
const named: { is: string; pod: Pod | undefined; expected?: RegExp; old?: readonly string[] }[] = [
  { is: 'its own', pod: owned('set-uid') },
  { is: 'gone', pod: undefined, expected: /find pod a failed: Pod "a" not found/ },
  { is: 'gone, but was named before', pod: undefined, old: ['a'] },
  {
    is: 'on its way out',
    pod: owned('set-uid', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    expected: /find pod a already terminating/,
  },
  { is: "another's", pod: owned('other'), expected: /find pod a owner is not this CloneSet/ },
  { is: "nobody's", pod: owned('x', { ownerReferences: [] }), expected: /find pod a owner is not this CloneSet/ },
];
for (const { is, pod, expected, old } of named) {
  test(`in v1alpha1 a Pod to delete that is ${is} is ${expected ? 'refused' : 'accepted'}`, () => {
    const set = filledV1alpha1({ scaleStrategy: { podsToDelete: ['a'] } });
    const before = old && filledV1alpha1({ scaleStrategy: { podsToDelete: old } });
    const found = [...validateCloneSetV1alpha1(set, gates, () => pod, before)];
    if (expected) assert.match(summary(found), expected);
    else assert.deepEqual(found, []);
  });
}

const deadlines: { deadline: number; minReady: number; expected?: RegExp }[] = [
  { deadline: 11, minReady: 10 },
  { deadline: 2147483647, minReady: 2147483647 },
  { deadline: 10, minReady: 10, expected: /must be greater than minReadySeconds/ },
  { deadline: -1, minReady: 0, expected: /must be greater than or equal to 0/ },
];
for (const { deadline, minReady, expected } of deadlines) {
  test(`in v1alpha1 a deadline of ${deadline}s over ${minReady}s is ${expected ? 'refused' : 'accepted'}`, () => {
    const set = filledV1alpha1({ progressDeadlineSeconds: deadline, minReadySeconds: minReady });
    const found = [...validateCloneSetV1alpha1(set, gates, () => undefined)];
    if (expected) assert.match(summary(found), expected);
    else assert.deepEqual(found, []);
  });
}

test('in v1alpha1, InPlaceOnly permits only changed images', () => {
  const of = (container: object) =>
    filledV1alpha1({
      updateStrategy: { type: 'InPlaceOnly' },
      template: { ...template, spec: { containers: [{ name: 'main', image: 'app:v1', ...container }] } },
    });
  const found = (changed: CloneSetV1alpha1) => [...validateCloneSetV1alpha1(changed, gates, () => undefined, of({}))];
  assert.deepEqual(found(of({ image: 'app:v2' })), []);
  assert.match(
    summary(found(of({ command: ['x'] }))),
    /only allowed to update images in spec for InPlaceOnly, but found add \/containers\/0\/command/,
  );
});

test('a template without defaulted fields is valid', () => {
  const open = featureGates({ TemplateNoDefaults: true });
  assert.deepEqual([...validateCloneSet(defaultCloneSet(beta({}), undefined, open), open)], []);
  const alone = defaultCloneSetV1alpha1(alpha({}), undefined, open);
  assert.deepEqual([...validateCloneSetV1alpha1(alone, open, () => undefined)], []);
});

test('only the selector of a CloneSet is immutable', () => {
  const changed = filled({
    replicas: 9,
    minReadySeconds: 3,
    revisionHistoryLimit: 1,
    progressDeadlineSeconds: 7,
    scaleStrategy: { maxUnavailable: 1 },
    ...rolling({ partition: 1 }),
  });
  assert.deepEqual([...validateCloneSet(changed, gates, filled())], []);
  const other = filled({ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } });
  assert.match(
    summary([...validateCloneSet(other, gates, filled())]),
    /^spec: Forbidden: updates to cloneset spec for fields other than 'replicas'/,
  );
});

const protection: { label?: string; replicas: number; isOn?: boolean; expected?: string }[] = [
  { replicas: 3 },
  {
    label: 'Always',
    replicas: 0,
    expected: 'forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always',
  },
  {
    label: 'Cascading',
    replicas: 3,
    expected:
      'forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0',
  },
  { label: 'Cascading', replicas: 0 },
  { label: 'Sometimes', replicas: 3 },
  { label: 'Always', replicas: 3, isOn: false },
];
for (const { label, replicas, isOn = true, expected } of protection) {
  test(`a workload of ${replicas} with protection ${label ?? 'unset'}${isOn ? '' : ', without the gate,'} ${expected ? 'cannot' : 'can'} be deleted`, () => {
    const labels = label ? { labels: { 'policy.kruise.io/delete-protection': label } } : {};
    const workload = { metadata: { name: 'web', ...labels }, spec: { replicas } };
    assert.equal(workloadDeletionFault(workload, featureGates({ ResourcesDeletionProtection: isOn })), expected);
  });
}
