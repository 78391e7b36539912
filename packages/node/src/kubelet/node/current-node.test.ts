import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { silentLog } from '@kruise/client/log';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createSimulatedRuntime } from '../../cri/simulated/simulated-runtime.ts';
import { createCurrentNode } from './current-node.ts';

const makeNode = (resourceVersion: string, spec: NonNullable<Node['spec']> = {}, uid = 'uid-1'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', uid, resourceVersion },
  spec,
});

/** Node object with a record of its events and of the Pod CIDRs that the runtime gets. */
function makeCurrent() {
  const clock = virtualClock(0);
  const runtime = createSimulatedRuntime({
    clock,
    random: seededRandom('node'),
    nodeAddress: '172.18.0.2',
    podCidr: '10.244.0.0/24',
  });
  const history: string[] = [];
  const node = createCurrentNode(
    {
      runtime: {
        ...runtime,
        async updateRuntimeConfig({ runtimeConfig }) {
          history.push(`CIDR ${runtimeConfig?.networkConfig?.podCidr}`);
        },
      },
      log: silentLog,
      nodeName: 'node-1',
      record: (_type, reason) => history.push(reason),
      onNetworkChange: async () => void history.push('checked'),
    },
    new AbortController().signal,
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { node, history, settled };
}

test('an older version of the same Node is ignored', () => {
  const { node } = makeCurrent();
  node.set(makeNode('5'));
  node.set(makeNode('4'));
  assert.equal(node.get()?.metadata.resourceVersion, '5');
  node.set(makeNode('3', {}, 'uid-2'));
  assert.equal(node.get()?.metadata.uid, 'uid-2');
  node.set(undefined);
  assert.equal(node.get(), undefined);
});

test('a cordon is recorded once', () => {
  const { node, history } = makeCurrent();
  node.set(makeNode('1'));
  node.set(makeNode('2', { unschedulable: true }));
  node.set(makeNode('3', { unschedulable: true }));
  node.set(makeNode('4'));
  assert.deepEqual(history, ['NodeNotSchedulable', 'NodeSchedulable']);
});

test('a new Pod CIDR is passed to the runtime, which is then checked', async () => {
  const { node, history, settled } = makeCurrent();
  node.set(makeNode('1'));
  node.set(makeNode('2', { podCIDR: '10.1.0.0/24' }));
  node.set(makeNode('3', { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] }));
  await settled();
  node.set(makeNode('4', { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }));
  await settled();
  assert.deepEqual(history, ['CIDR 10.1.0.0/24', 'checked', 'CIDR 10.1.0.0/24,fd00::/64', 'checked']);
});
