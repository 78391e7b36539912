import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { seededRandom } from '@kruise/values/random';
import { featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { withoutLivenessProbes } from './pod-webhook.ts';

const livenessProbe = { httpGet: { path: '/live', port: 80 } };

const podOf = (apiVersion: string, annotation?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    ownerReferences: [{ apiVersion, kind: 'X', name: 'x', uid: 'u', controller: true }],
    ...(annotation ? { annotations: { 'apps.kruise.io/using-enhanced-liveness': annotation } } : {}),
  },
  spec: {
    containers: [
      { name: 'main', image: 'app', livenessProbe },
      { name: 'other', image: 'app' },
    ],
  },
});

function made(pod: Pod, EnhancedLivenessProbe = true): Pod {
  const settings = managerSettings({ gates: featureGates({ EnhancedLivenessProbe }) });
  // This step reads neither caches nor the server.
  const context = { settings, caches: {} as Caches, client: {} as Client, now: () => 0, random: seededRandom(1) };
  return withoutLivenessProbes(pod, context);
}

test("liveness probes of Kruise's Pods are moved to an annotation on request", () => {
  const { metadata, spec } = made(podOf('apps.kruise.io/v1beta1', 'true'));
  assert.deepEqual(
    spec?.containers.map((container) => container.livenessProbe),
    [undefined, undefined],
  );
  assert.deepEqual(JSON.parse(metadata.annotations?.['apps.kruise.io/container-probe-context'] ?? ''), [
    { name: 'main', livenessProbe },
  ]);
});

test('other Pods keep their liveness probes', () => {
  for (const pod of [
    podOf('apps/v1', 'true'),
    podOf('apps.kruise.io/v1beta1'),
    podOf('apps.kruise.io/v1beta1', 'no'),
  ]) {
    assert.equal(made(pod), pod);
  }
  const closed = podOf('apps.kruise.io/v1beta1', 'true');
  assert.equal(made(closed, false), closed);
});
