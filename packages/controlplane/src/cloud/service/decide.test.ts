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
const applied = (nodes: readonly Node[] = [node('a')], before: Service = service({}, kept)) => ({
  service: before,
  nodes,
});

/** Summarizes the actions. */
function summary(observed: Partial<Observed>): readonly string[] {
  const { actions } = decide({ service: service(), nodes: [node('a')], applied: undefined, ...observed });
  return actions.map((action) => {
    if (action.type === 'record') return `record ${action.event.reason}`;
    if (action.type === 'effect') return action.name;
    if (action.type !== 'patch') return action.type;
    assert.equal(action.subresource, 'status');
    return `finalizers ${(action.patch as Service).metadata.finalizers?.join() ?? ''}`;
  });
}

const cases: readonly [name: string, observed: Partial<Observed>, expected: readonly string[]][] = [
  [
    'a load balancer is provisioned after the finalizer is added',
    {},
    ['record EnsuringLoadBalancer', `finalizers ${finalizer}`, 'ensure'],
  ],
  [
    'an existing finalizer is not added again',
    { service: service({}, kept) },
    ['record EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'a Service without nodes gets a warning event',
    { service: service({}, kept), nodes: [] },
    ['record EnsuringLoadBalancer', 'record UnAvailableLoadBalancer', 'ensure'],
  ],
  ['an up-to-date load balancer is unchanged', { service: service({}, kept), applied: applied() }, []],
  [
    'changed ports update the load balancer',
    { service: service({ ports: [{ port: 81 }] }, kept), applied: applied() },
    ['record EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'changed annotations update the load balancer',
    { service: service({}, { ...kept, annotations: { size: 'large' } }), applied: applied() },
    ['record EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'changed labels do not update the load balancer',
    { service: service({}, { ...kept, labels: { size: 'large' } }), applied: applied() },
    [],
  ],
  [
    'a recreated Service gets its own load balancer',
    { service: service({}, { ...kept, uid: 'later' }), applied: applied() },
    ['record EnsuringLoadBalancer', 'ensure'],
  ],
  [
    'changed nodes are updated',
    { service: service({}, kept), nodes: [node('a'), node('b')], applied: applied() },
    ['updateNodes'],
  ],
  [
    'a node with another instance is updated',
    { service: service({}, kept), nodes: [node('a', 'new')], applied: applied() },
    ['updateNodes'],
  ],
  ['a Service with a load balancer class is ignored', { service: service({ loadBalancerClass: 'example.com/x' }) }, []],
  ['a Service of another type has no load balancer', { service: service({ type: 'ClusterIP' }) }, []],
  [
    'the load balancer of a terminating Service is deleted before the finalizer is removed',
    { service: service({}, { ...kept, deletionTimestamp: '2026-01-01T00:00:00Z' }), applied: applied() },
    ['release', 'finalizers other', 'record DeletedLoadBalancer'],
  ],
  [
    'the load balancer of a Service that changed its type is deleted',
    { service: service({ type: 'ClusterIP' }, kept) },
    ['release', 'finalizers other', 'record DeletedLoadBalancer'],
  ],
];
for (const [name, observed, expected] of cases) test(name, () => assert.deepEqual(summary(observed), expected));

test('the address is removed together with the finalizer', () => {
  const terminating = service({}, { ...kept, resourceVersion: '7', deletionTimestamp: '2026-01-01T00:00:00Z' });
  const [, action] = decide({ service: terminating, nodes: [], applied: undefined }).actions;
  assert.deepEqual(action?.type === 'patch' && action.patch, {
    metadata: { resourceVersion: '7', finalizers: ['other'] },
    status: { loadBalancer: { ingress: null } },
  });
});

test('nodes may be excluded from load balancers', () => {
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
