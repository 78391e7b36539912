/** The plugins that fill in Pods, each by a table. */
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
  { name: 'a Pod without tolerations waits five minutes', given: [], expected: [waits(notReady), waits(unreachable)] },
  { name: 'a Pod that says how long keeps to it', given: [notReady], expected: [notReady, waits(unreachable)] },
  {
    name: 'a Pod that tolerates everything is left alone',
    given: [{ operator: 'Exists' }],
    expected: [{ operator: 'Exists' }],
  },
  {
    name: 'a toleration of another effect is none of this one',
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

test('a new node is not ready', async () => {
  const admitted = (await admit(taintNodesByCondition, writeOf(node, { metadata: { name: 'n' } }))) as Node;
  assert.deepEqual(admitted.spec?.taints, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
});

test('a node that says itself that it is not ready is not told twice', async () => {
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
    name: 'takes the value of its class',
    spec: { priorityClassName: 'high' },
    expected: { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
  },
  { name: 'is zero without a class', spec: {}, expected: { priority: 0, preemptionPolicy: 'PreemptLowerPriority' } },
  {
    name: 'may be given if it is the same',
    spec: { priorityClassName: 'high', priority: 1000 },
    expected: { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
  },
  {
    name: 'needs a class that exists',
    spec: { priorityClassName: 'absent' },
    expected: 'pods "p" is forbidden: no PriorityClass with name absent was found',
  },
  {
    name: 'is not for the Pod to say',
    spec: { priority: 5 },
    expected: `pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 ${computed}`,
  },
  {
    name: 'settles whom the Pod may drive out',
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

test('a Pod without a class gets the default one', async () => {
  const admitted = specOf(await admit(withDefault, writeOf(pod, podOf()))) as {
    priorityClassName: string;
    priority: number;
  };
  assert.deepEqual([admitted.priorityClassName, admitted.priority], ['usual', 7]);
});

test('an update that leaves the priority out keeps it', async () => {
  const oldObject = podOf({ priority: 7, preemptionPolicy: 'Never' }) as never;
  const admitted = specOf(await admit(priorities, writeOf(pod, podOf(), { operation: 'UPDATE', oldObject })));
  assert.deepEqual(admitted, { containers: [{ name: 'c' }], priority: 7, preemptionPolicy: 'Never' });
});

test('there is one default class', async () => {
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
  { name: 'pays for its class and goes where it runs', spec: { runtimeClassName: 'virtual' }, expected: paid },
  {
    name: 'may say what its class costs, in any form',
    spec: { runtimeClassName: 'virtual', overhead: { cpu: '0.01' } },
    expected: paid,
  },
  {
    name: 'keeps its own selectors',
    spec: { runtimeClassName: 'virtual', nodeSelector: { a: 'b' } },
    expected: { ...paid, nodeSelector: { a: 'b', rt: 'yes' } },
  },
  {
    name: 'does not repeat what it tolerates',
    spec: { runtimeClassName: 'virtual', tolerations: [{ operator: 'Exists' }] },
    expected: { ...paid, tolerations: [{ operator: 'Exists' }] },
  },
  { name: 'without a class pays nothing', spec: {}, expected: {} },
  {
    name: 'of a class that costs nothing pays nothing',
    spec: { runtimeClassName: 'plain' },
    expected: { runtimeClassName: 'plain' },
  },
  {
    name: 'cannot say it costs something else',
    spec: { runtimeClassName: 'virtual', overhead: { cpu: '20m' } },
    expected: `pods "p" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
  },
  {
    name: 'cannot cost something without a class',
    spec: { overhead: { cpu: '1m' } },
    expected:
      'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  },
  {
    name: 'cannot go elsewhere',
    spec: { runtimeClassName: 'virtual', nodeSelector: { rt: 'no' } },
    expected:
      'pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[rt] = yes; pod.spec.nodeSelector[rt] = no',
  },
  {
    name: 'needs a class that exists',
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
