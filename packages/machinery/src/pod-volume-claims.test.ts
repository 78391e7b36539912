import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { podVolumeClaims, validateEphemeralVolumeClaim } from './pod-volume-claims.ts';

const template = { spec: { resources: { requests: { storage: '1Gi' } } } };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: {
    containers: [],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'orders' } },
      { name: 'tmp', emptyDir: {} },
      { name: 'scratch', ephemeral: { volumeClaimTemplate: template } },
    ],
  },
};
const claimOf = (uid: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: 'web-scratch',
    namespace: 'shop',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller: true }],
  },
});

test('a Pod has the claims it names and those made for it', () => {
  assert.deepEqual(podVolumeClaims(pod), [
    { name: 'orders', isEphemeral: false },
    { name: 'web-scratch', isEphemeral: true },
  ]);
});

test('a claim is made for the Pod that controls it, and for no other of its name', () => {
  assert.equal(validateEphemeralVolumeClaim(pod, claimOf('u1')), undefined);
  assert.equal(
    validateEphemeralVolumeClaim(pod, claimOf('u0')),
    'PVC shop/web-scratch was not created for pod shop/web (pod is not owner)',
  );
});
