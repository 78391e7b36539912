import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { decide, uninitializedKey } from './decide.ts';

function node(
  fields: {
    labels?: Record<string, string>;
    taints?: readonly string[];
    addresses?: NonNullable<Node['status']>['addresses'];
  } = {},
): Node {
  const { labels = {}, taints = [], addresses = [] } = fields;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', labels },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    status: { addresses },
  };
}
const address = (type: string, value: string) => ({ type, address: value });

test('a new node gets the metadata of its instance and becomes schedulable', () => {
  const found = node({
    labels: { own: 'yes' },
    taints: [uninitializedKey, 'other'],
    addresses: [address('Hostname', 'a')],
  });
  const metadata = {
    providerId: 'cloud://1',
    instanceType: 'large',
    zone: 'z',
    region: 'r',
    addresses: [address('InternalIP', '10.0.0.1')],
    labels: { own: 'no', rack: '7', 'x.kubernetes.io/y': 'no' },
  };
  const [update, patch, record] = decide({ node: found, metadata }).actions;
  assert.ok(update?.type === 'update' && patch?.type === 'patch' && record?.type === 'record');
  const { metadata: after, spec } = update.object as Node;
  assert.deepEqual(after.labels, {
    own: 'yes',
    rack: '7',
    'node.kubernetes.io/instance-type': 'large',
    'beta.kubernetes.io/instance-type': 'large',
    'topology.kubernetes.io/zone': 'z',
    'failure-domain.beta.kubernetes.io/zone': 'z',
    'topology.kubernetes.io/region': 'r',
    'failure-domain.beta.kubernetes.io/region': 'r',
  });
  assert.deepEqual([spec?.providerID, spec?.taints?.map(({ key }) => key)], ['cloud://1', ['other']]);
  assert.deepEqual(patch.patch, {
    status: { addresses: [address('InternalIP', '10.0.0.1'), address('Hostname', 'a')] },
  });
  assert.deepEqual([record.event.reason, record.event.message], ['Synced', 'Node synced successfully']);
});

test('a node without instance metadata stays uninitialized', () => {
  assert.deepEqual(decide({ node: node({ taints: [uninitializedKey] }), metadata: undefined }).actions, []);
});

test('the provider ID of a node never changes', () => {
  const found = node({ taints: [uninitializedKey] });
  const [update] = decide({
    node: { ...found, spec: { ...found.spec, providerID: 'cloud://0' } },
    metadata: { providerId: 'cloud://1' },
  }).actions;
  assert.equal(update?.type === 'update' && (update.object as Node).spec?.providerID, 'cloud://0');
});

const later: readonly [
  name: string,
  node: Node,
  addresses: readonly { type: string; address: string }[],
  patches: readonly unknown[],
][] = [
  [
    'deprecated labels are mirrored',
    node({ labels: { 'failure-domain.beta.kubernetes.io/zone': 'z' } }),
    [],
    [{ metadata: { labels: { 'topology.kubernetes.io/zone': 'z' } } }],
  ],
  [
    'changed addresses are written',
    node({ addresses: [address('InternalIP', '10.0.0.1')] }),
    [address('InternalIP', '10.0.0.2')],
    [{ status: { addresses: [address('InternalIP', '10.0.0.2')] } }],
  ],
  [
    'unchanged addresses are not written',
    node({ addresses: [address('InternalIP', '10.0.0.1')] }),
    [address('InternalIP', '10.0.0.1')],
    [],
  ],
  [
    'a cloud without addresses does not remove those of the node',
    node({ addresses: [address('InternalIP', '10.0.0.1')] }),
    [],
    [],
  ],
];
for (const [name, found, addresses, patches] of later) {
  test(name, () => {
    const decision = decide({ node: found, metadata: { providerId: 'cloud://1', addresses } });
    assert.deepEqual(
      decision.actions.map((action) => action.type === 'patch' && action.patch),
      patches,
    );
    assert.equal(decision.requeueAfterSeconds, 300);
  });
}
