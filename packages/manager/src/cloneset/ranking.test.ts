import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { newRevision, podTemplateData } from '@kruise/machinery/controller-revision';
import { isAvailable } from '../workload/pod-availability.ts';
import { now, owner, podOf, templateOf } from './fixtures.ts';
import { rankForScaleIn } from './ranking.ts';
import type { State } from './state.ts';

const zones: { readonly [node: string]: string } = { n1: 'a', n2: 'a', n3: 'b' };

function orderOf(pods: readonly Pod[], keys: readonly string[] = [], minReadySeconds = 0): string {
  const template = templateOf('app:v2');
  const topologySpreadConstraints = keys.map((topologyKey) => ({
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule' as const,
  }));
  const spread = {
    ...template,
    spec: { ...template.spec!, ...(keys.length > 0 ? { topologySpreadConstraints } : {}) },
  };
  const state: Pick<State, 'update' | 'nodeLabels' | 'isAvailable'> = {
    update: newRevision(owner, { data: podTemplateData(spread) }, { revision: 1 }),
    nodeLabels: (node) => ({ zone: zones[node] ?? '', 'kubernetes.io/hostname': node }),
    isAvailable: (pod) => isAvailable(pod, minReadySeconds, now),
  };
  // The ranking uses only these fields.
  return rankForScaleIn(state as State, pods)
    .map(({ metadata }) => metadata.name)
    .join(' ');
}

const pod = (name: string, node: string, traits: Omit<Parameters<typeof podOf>[0], 'name' | 'node'> = {}) =>
  podOf({ name, node, ...traits });
const cost = (value: string) => ({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': value } });

const cases: { first: string; pods: readonly Pod[]; keys?: readonly string[]; minReady?: number; order: string }[] = [
  { first: 'Pods without a node', pods: [pod('a', 'n1'), pod('b', '')], order: 'b a' },
  { first: 'Pods that are not ready', pods: [pod('a', 'n1'), pod('b', 'n2', { isReady: false })], order: 'b a' },
  {
    first: 'Pods that are not available yet',
    pods: [pod('a', 'n1', { readyForSeconds: 90 }), pod('b', 'n2', { readyForSeconds: 9 })],
    minReady: 30,
    order: 'b a',
  },
  {
    first: 'Pods with a low deletion cost',
    pods: [pod('a', 'n1', cost('5')), pod('b', 'n2', cost('-5')), pod('c', 'n3', cost('+9'))],
    order: 'b c a',
  },
  {
    first: 'Pods on a crowded node',
    pods: [pod('a', 'n1'), pod('b', 'n2'), pod('c', 'n2', { ageSeconds: 300, readyForSeconds: 300 })],
    order: 'b a c',
  },
  {
    first: 'Pods that became ready last',
    pods: [pod('a', 'n1', { readyForSeconds: 90 }), pod('b', 'n2', { readyForSeconds: 10 })],
    order: 'b a',
  },
  {
    first: 'younger Pods',
    pods: [pod('a', 'n1', { ageSeconds: 900 }), pod('b', 'n2', { ageSeconds: 90 })],
    order: 'b a',
  },
  {
    first: 'Pods in a crowded zone',
    pods: [pod('a', 'n3'), pod('b', 'n1'), pod('c', 'n2', { readyForSeconds: 300 })],
    keys: ['zone'],
    order: 'b a c',
  },
  {
    first: 'Pods on a crowded host',
    pods: [pod('a', 'n3'), pod('b', 'n1'), pod('c', 'n1', { readyForSeconds: 300 })],
    keys: ['kubernetes.io/hostname'],
    order: 'b a c',
  },
];
for (const { first, pods, keys = [], minReady = 0, order } of cases) {
  test(`${first} are deleted first${keys.length > 0 ? `, spread by ${keys.join(' and ')}` : ''}`, () => {
    assert.equal(orderOf(pods, keys, minReady), order);
  });
}
