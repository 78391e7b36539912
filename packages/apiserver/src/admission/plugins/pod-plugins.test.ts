/** Tests of the plugins that complete Pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { runtimeClass } from '@kruise/api/node/runtimeclass';
import { priorityClass } from '@kruise/api/scheduling/priorityclass';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { priority } from './priority.ts';
import { runtimeClasses } from './runtime-class.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';

const podOf = (spec: object = {}) => ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }], ...spec } });
const specOf = (admitted: unknown): unknown =>
  typeof admitted === 'string' ? admitted : ((admitted as Pod).spec as unknown);

const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
const unreachable = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
const waits = (toleration: object) => ({ ...toleration, tolerationSeconds: 300 });

const tolerations = [
  {
    name: 'a Pod without tolerations tolerates not-ready and unreachable nodes for five minutes',
    given: [],
    expected: [waits(notReady), waits(unreachable)],
  },
  { name: 'a Pod keeps its own tolerationSeconds', given: [notReady], expected: [notReady, waits(unreachable)] },
  {
    name: 'a Pod that tolerates everything is not changed',
    given: [{ operator: 'Exists' }],
    expected: [{ operator: 'Exists' }],
  },
  {
    name: 'a toleration of another effect does not count',
    given: [{ ...notReady, effect: 'NoSchedule' }],
    expected: [{ ...notReady, effect: 'NoSchedule' }, waits(notReady), waits(unreachable)],
  },
];
for (const { name, given, expected } of tolerations) {
  test(name, async () => {
    const admitted = specOf(await admit(defaultTolerationSeconds, writeOf(pod, podOf({ tolerations: given }))));
    assert.deepEqual((admitted as { tolerations: unknown }).tolerations, expected);
  });
}

test('a new Node has the not-ready taint', async () => {
  const admitted = (await admit(taintNodesByCondition, writeOf(node, { metadata: { name: 'n' } }))) as Node;
  assert.deepEqual(admitted.spec?.taints, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
});

test('a Node that already has the not-ready taint gets no second one', async () => {
  const taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
  const admitted = (await admit(taintNodesByCondition, writeOf(node, { metadata: {}, spec: { taints } }))) as Node;
  assert.deepEqual(admitted.spec?.taints, taints);
});

const high = { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' };
const usual = { metadata: { name: 'usual' }, value: 7, globalDefault: true };
const priorities = priority(lookupOf({ kind: priorityClass, objects: [high] }));
const withDefault = priority(lookupOf({ kind: priorityClass, objects: [high, usual] }));
const computed = 'from the given PriorityClass name';

const priorityCases = [
  {
    name: 'is the value of its PriorityClass',
    spec: { priorityClassName: 'high' },
    expected: { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
  },
  {
    name: 'is zero without a PriorityClass',
    spec: {},
    expected: { priority: 0, preemptionPolicy: 'PreemptLowerPriority' },
  },
  {
    name: 'may be set to the same value',
    spec: { priorityClassName: 'high', priority: 1000 },
    expected: { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
  },
  {
    name: 'requires an existing PriorityClass',
    spec: { priorityClassName: 'absent' },
    expected: 'pods "p" is forbidden: no PriorityClass with name absent was found',
  },
  {
    name: 'may not be set to another value',
    spec: { priority: 5 },
    expected: `pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 ${computed}`,
  },
  {
    name: 'comes with the preemption policy of the class',
    spec: { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
    expected: `pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never ${computed}`,
  },
];
for (const { name, spec, expected } of priorityCases) {
  test(`the priority of a Pod ${name}`, async () => {
    const admitted = specOf(await admit(priorities, writeOf(pod, podOf(spec))));
    assert.deepEqual(admitted, typeof expected === 'string' ? expected : { containers: [{ name: 'c' }], ...expected });
  });
}

test('a Pod without a PriorityClass gets the default class', async () => {
  const admitted = specOf(await admit(withDefault, writeOf(pod, podOf()))) as {
    priorityClassName: string;
    priority: number;
  };
  assert.deepEqual([admitted.priorityClassName, admitted.priority], ['usual', 7]);
});

test('an update that omits the priority keeps it', async () => {
  const oldObject = podOf({ priority: 7, preemptionPolicy: 'Never' }) as never;
  const admitted = specOf(await admit(priorities, writeOf(pod, podOf(), { operation: 'UPDATE', oldObject })));
  assert.deepEqual(admitted, { containers: [{ name: 'c' }], priority: 7, preemptionPolicy: 'Never' });
});

test('a second default PriorityClass is denied', async () => {
  const second = { metadata: { name: 'second' }, value: 1, globalDefault: true };
  assert.equal(
    await admit(withDefault, writeOf(priorityClass, second)),
    'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
  );
  assert.deepEqual(await admit(withDefault, writeOf(priorityClass, usual, { operation: 'UPDATE' })), usual);
});

const virtual = {
  metadata: { name: 'virtual' },
  handler: 'h',
  overhead: { podFixed: { cpu: '10m' } },
  scheduling: { nodeSelector: { rt: 'yes' }, tolerations: [{ key: 'rt', operator: 'Exists' }] },
};
const classes = runtimeClasses(
  lookupOf({ kind: runtimeClass, objects: [virtual, { metadata: { name: 'plain' }, handler: 'p' }] }),
);
const paid = {
  runtimeClassName: 'virtual',
  overhead: { cpu: '10m' },
  nodeSelector: { rt: 'yes' },
  tolerations: [{ key: 'rt', operator: 'Exists' }],
};

const runtimeCases = [
  {
    name: 'gets the overhead and the scheduling constraints of its RuntimeClass',
    spec: { runtimeClassName: 'virtual' },
    expected: paid,
  },
  {
    name: 'may set the overhead of its RuntimeClass in any quantity format',
    spec: { runtimeClassName: 'virtual', overhead: { cpu: '0.01' } },
    expected: paid,
  },
  {
    name: 'keeps its own node selector',
    spec: { runtimeClassName: 'virtual', nodeSelector: { a: 'b' } },
    expected: { ...paid, nodeSelector: { a: 'b', rt: 'yes' } },
  },
  {
    name: 'does not repeat tolerations',
    spec: { runtimeClassName: 'virtual', tolerations: [{ operator: 'Exists' }] },
    expected: { ...paid, tolerations: [{ operator: 'Exists' }] },
  },
  { name: 'without a RuntimeClass has no overhead', spec: {}, expected: {} },
  {
    name: 'with a RuntimeClass without overhead has no overhead',
    spec: { runtimeClassName: 'plain' },
    expected: { runtimeClassName: 'plain' },
  },
  {
    name: 'may not set another overhead',
    spec: { runtimeClassName: 'virtual', overhead: { cpu: '20m' } },
    expected: `pods "p" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
  },
  {
    name: 'may not set an overhead without a RuntimeClass',
    spec: { overhead: { cpu: '1m' } },
    expected:
      'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  },
  {
    name: 'may not contradict the node selector of its RuntimeClass',
    spec: { runtimeClassName: 'virtual', nodeSelector: { rt: 'no' } },
    expected:
      'pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[rt] = yes; pod.spec.nodeSelector[rt] = no',
  },
  {
    name: 'requires an existing RuntimeClass',
    spec: { runtimeClassName: 'absent' },
    expected: 'pods "p" is forbidden: pod rejected: RuntimeClass "absent" not found',
  },
];
for (const { name, spec, expected } of runtimeCases) {
  test(`a Pod ${name}`, async () => {
    const admitted = specOf(await admit(classes, writeOf(pod, podOf(spec))));
    assert.deepEqual(admitted, typeof expected === 'string' ? expected : { containers: [{ name: 'c' }], ...expected });
  });
}
