import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Service } from '@kruise/api/core/service';
import { decide, finalizer, isBalanced, type Observed } from './decide.ts';

const service = (spec: Service['spec'] = {}, metadata: Service['metadata'] = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
});
const node = (name: string, providerID = name): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec: { providerID },
});
const kept = { finalizers: ['other', finalizer] };
const told = (nodes: readonly Node[] = [node('a')], before: Service = service({}, kept)) => ({
  service: before,
  nodes,
});

/** Actions as a person would say them. */
function summary(observed: Partial<Observed>): readonly string[] {
  const { actions } = decide({ service: service(), nodes: [node('a')], told: undefined, ...observed });
  return actions.map((action) => {
    if (action.type === 'record') return `tell ${action.event.reason}`;
    if (action.type === 'effect') return action.name;
    if (action.type !== 'patch') return action.type;
    assert.equal(action.subresource, 'status');
    return `finalizers ${(action.patch as Service).metadata.finalizers?.join() ?? ''}`;
  });
}

const cases: readonly [name: string, observed: Partial<Observed>, expected: readonly string[]][] = [
  [
    'a load balancer is made after the finalizer is there',
    {},
    ['tell EnsuringLoadBalancer', `finalizers ${finalizer}`, 'ensure'],
  ],
  [
    'a finalizer that is there is not added again',
    { service: service({}, kept) },
    ['tell EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'without nodes it is told',
    { service: service({}, kept), nodes: [] },
    ['tell EnsuringLoadBalancer', 'tell UnAvailableLoadBalancer', 'ensure'],
  ],
  ['one that is as it should be is left alone', { service: service({}, kept), told: told() }, []],
  [
    'other ports change it',
    { service: service({ ports: [{ port: 81 }] }, kept), told: told() },
    ['tell EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'other annotations change it',
    { service: service({}, { ...kept, annotations: { size: 'large' } }), told: told() },
    ['tell EnsuringLoadBalancer', 'ensure'],
  ],
  ['other labels do not', { service: service({}, { ...kept, labels: { size: 'large' } }), told: told() }, []],
  [
    'a later Service of the name has its own',
    { service: service({}, { ...kept, uid: 'later' }), told: told() },
    ['tell EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'other nodes are told',
    { service: service({}, kept), nodes: [node('a'), node('b')], told: told() },
    ['updateNodes'],
  ],
  [
    'so is another machine of a name',
    { service: service({}, kept), nodes: [node('a', 'new')], told: told() },
    ['updateNodes'],
  ],
  ['one of another class is none of ours', { service: service({ loadBalancerClass: 'example.com/x' }) }, []],
  ['a Service of another type has none', { service: service({ type: 'ClusterIP' }) }, []],
  [
    'one whose Service goes is given back before the finalizer goes',
    { service: service({}, { ...kept, deletionTimestamp: '2026-01-01T00:00:00Z' }), told: told() },
    ['release', 'finalizers other', 'tell DeletedLoadBalancer'],
  ],
  [
    'one whose Service has another type is given back',
    { service: service({ type: 'ClusterIP' }, kept) },
    ['release', 'finalizers other', 'tell DeletedLoadBalancer'],
  ],
];
for (const [name, observed, expected] of cases) test(name, () => assert.deepEqual(summary(observed), expected));

test('with the finalizer goes the address', () => {
  const leaving = service({}, { ...kept, resourceVersion: '7', deletionTimestamp: '2026-01-01T00:00:00Z' });
  const [, action] = decide({ service: leaving, nodes: [], told: undefined }).actions;
  assert.deepEqual(action?.type === 'patch' && action.patch, {
    metadata: { resourceVersion: '7', finalizers: ['other'] },
    status: { loadBalancer: { ingress: null } },
  });
});

test('nodes may be left out', () => {
  assert.equal(isBalanced(node('a')), true);
  assert.equal(
    isBalanced({
      ...node('a'),
      metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } },
    }),
    false,
  );
  assert.equal(
    isBalanced({ ...node('a'), spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] } }),
    false,
  );
});
