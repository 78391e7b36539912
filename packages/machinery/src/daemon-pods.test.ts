import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Taint } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { compareDaemonPods, pinToNode, placementOf, targetNodeOf, withDaemonTolerations } from './daemon-pods.ts';

const containers = [{ name: 'main' }];
const nodeOf = (name: string, labels = {}, taints: readonly Taint[] = []): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  spec: { taints },
});
const taint = (key: string, effect: Taint['effect']): Taint => ({ key, effect });
const required = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' } as const] }],
    },
  },
});

type Row = { readonly name: string; readonly spec?: Partial<PodSpec>; readonly node: Node; readonly is: string };
const rows: readonly Row[] = [
  { name: 'any node', node: nodeOf('a'), is: 'run' },
  { name: 'the node of its name', spec: { nodeName: 'a' }, node: nodeOf('a'), is: 'run' },
  { name: 'no node but that of its name', spec: { nodeName: 'b' }, node: nodeOf('a'), is: 'go' },
  { name: 'a node it selects', spec: { nodeSelector: { disk: 'ssd' } }, node: nodeOf('a', { disk: 'ssd' }), is: 'run' },
  { name: 'no node it does not select', spec: { nodeSelector: { disk: 'ssd' } }, node: nodeOf('a'), is: 'go' },
  { name: 'a node it requires', spec: { affinity: required('gpu') }, node: nodeOf('a', { gpu: '' }), is: 'run' },
  { name: 'no node it does not require', spec: { affinity: required('gpu') }, node: nodeOf('a'), is: 'go' },
  { name: 'a node that takes no more', node: nodeOf('a', {}, [taint('x', 'NoSchedule')]), is: 'stay' },
  { name: 'a node that throws it out', node: nodeOf('a', {}, [taint('x', 'NoExecute')]), is: 'go' },
  { name: 'a node that would rather not', node: nodeOf('a', {}, [taint('x', 'PreferNoSchedule')]), is: 'run' },
  {
    name: 'a tolerated node',
    spec: { tolerations: [{ operator: 'Exists' }] },
    node: nodeOf('a', {}, [taint('x', 'NoExecute')]),
    is: 'run',
  },
  {
    name: 'a node that is not ready',
    node: nodeOf('a', {}, [taint('node.kubernetes.io/not-ready', 'NoExecute')]),
    is: 'run',
  },
  {
    name: 'a node that is cordoned',
    node: nodeOf('a', {}, [taint('node.kubernetes.io/unschedulable', 'NoSchedule')]),
    is: 'run',
  },
  {
    name: 'a node without network',
    node: nodeOf('a', {}, [taint('node.kubernetes.io/network-unavailable', 'NoSchedule')]),
    is: 'stay',
  },
  {
    name: 'a node without network, if it needs none',
    spec: { hostNetwork: true },
    node: nodeOf('a', {}, [taint('node.kubernetes.io/network-unavailable', 'NoSchedule')]),
    is: 'run',
  },
];
for (const { name, spec, node, is } of rows) {
  test(`on ${name} a Pod is to ${is}`, () => {
    const { shouldRun, shouldContinue } = placementOf({ containers, ...spec })(node);
    assert.equal(shouldRun ? 'run' : shouldContinue ? 'stay' : 'go', is);
    assert.ok(shouldContinue || !shouldRun);
  });
}

test('a toleration that was limited in time becomes unlimited, where it was', () => {
  const tolerations = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    { key: 'other', operator: 'Exists' },
  ] as const;
  const all = withDaemonTolerations({ containers, tolerations });
  assert.deepEqual(all[0], { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' });
  assert.equal(all.length, 7);
});

test('a Pod is pinned to a node and keeps its preferred affinity', () => {
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'x', operator: 'Exists' } as const] } }];
  const { nodeAffinity } = required('gpu');
  const podAffinity = {};
  const affinity = pinToNode('a', {
    podAffinity,
    nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: preferred },
  });
  assert.deepEqual(affinity, {
    podAffinity,
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
      },
    },
  });
  assert.equal(targetNodeOf(podOf({ affinity })), 'a');
});

function podOf(spec: Partial<PodSpec>, metadata: Pod['metadata'] = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } };
}

test('a Pod is meant for the node it is on, and for no node if it is not pinned', () => {
  assert.equal(targetNodeOf(podOf({ nodeName: 'b', affinity: pinToNode('a') })), 'b');
  assert.equal(targetNodeOf(podOf({})), undefined);
  assert.equal(targetNodeOf(podOf({ affinity: required('gpu') })), undefined);
});

test('of several Pods the one on its node comes first, then the oldest', () => {
  const old = podOf({}, { name: 'old', creationTimestamp: '2026-01-01T00:00:00Z' });
  const bound = podOf({ nodeName: 'a' }, { name: 'bound', creationTimestamp: '2026-01-03T00:00:00Z' });
  const young = podOf({}, { name: 'young', creationTimestamp: '2026-01-02T00:00:00Z' });
  const twin = podOf({}, { name: 'zz', creationTimestamp: '2026-01-02T00:00:00Z' });
  assert.deepEqual([twin, young, bound, old].sort(compareDaemonPods), [bound, old, young, twin]);
});
