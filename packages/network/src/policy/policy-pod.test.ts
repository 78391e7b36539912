import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { KubernetesObject } from '@kruise/client/object-key';
import { compareOwners, isSamePolicyPod, policyPodOf, trimForNetwork } from './policy-pod.ts';

const web: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'a', name: 'web', labels: { app: 'web' } },
  spec: {
    nodeName: 'node-1',
    containers: [
      { name: 'c', ports: [{ name: 'http', containerPort: 80 }, { containerPort: 81 }] },
      { name: 'd', ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }] },
    ],
  },
  status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'FD00:0::1' }] },
};

test('a Pod has its addresses in canonical form and its named ports', () => {
  const found = policyPodOf(web);
  assert.deepEqual(found?.addresses, ['10.0.0.1', 'fd00::1']);
  assert.deepEqual(found?.ports, [
    { name: 'http', protocol: 'TCP', port: 80 },
    { name: 'dns', protocol: 'UDP', port: 53 },
  ]);
});

test('a trimmed Pod has the same facts', () => {
  const full: Pod = {
    ...web,
    metadata: { ...web.metadata, annotations: { a: 'b' }, managedFields: [{ manager: 'x' }] },
    status: { ...web.status, conditions: [{ type: 'Ready', status: 'True' }] },
  };
  for (const each of [full, { ...full, spec: { ...web.spec, hostNetwork: true, containers: [] } }]) {
    const trimmed = trimForNetwork(each as KubernetesObject);
    assert.deepEqual(policyPodOf(trimmed as Pod), policyPodOf(each));
    assert.deepEqual([trimmed.metadata.annotations, (trimmed as Pod).status?.conditions], [undefined, undefined]);
  }
});

test('Pods in the network of the node are exempt', () => {
  assert.equal(policyPodOf({ ...web, spec: { ...web.spec, hostNetwork: true, containers: [] } }), undefined);
});

test('Pods that have finished are exempt, because their address may be reused', () => {
  for (const phase of ['Succeeded', 'Failed'] as const) {
    assert.equal(policyPodOf({ ...web, status: { ...web.status, phase } }), undefined);
  }
});

test('a terminating Pod keeps its policy', () => {
  const terminating = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.equal(policyPodOf(terminating)?.addresses.length, 2);
});

test('a status update without new addresses changes nothing', () => {
  const ready: Pod = { ...web, status: { ...web.status, conditions: [{ type: 'Ready', status: 'True' }] } };
  assert.ok(isSamePolicyPod(policyPodOf(web), policyPodOf(ready)));
  assert.ok(!isSamePolicyPod(policyPodOf(web), policyPodOf({ ...web, status: { podIP: '10.0.0.2' } })));
});

test('an address belongs to the newest Pod that is not terminating', () => {
  const facts = policyPodOf(web)!;
  const old = { ...facts, createdAt: '2026-01-01T00:00:00Z' };
  const newest = { ...facts, createdAt: '2026-01-02T00:00:00Z' };
  assert.ok(compareOwners(newest, old) < 0);
  assert.ok(compareOwners({ ...newest, isTerminating: true }, old) > 0);
});
