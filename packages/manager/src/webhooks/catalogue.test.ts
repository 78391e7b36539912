import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { webhooksFor } from './catalogue.ts';

const pathsWith = ({ podWebhook = true, isServed = true } = {}) => {
  const settings = managerSettings({ gates: featureGates({ PodWebhook: podWebhook }) });
  // Webhooks read caches only on requests, and this test sends none.
  const clock = virtualClock(0);
  const means = { settings, caches: {} as Caches, client: {} as Client, clock, now: clock.now };
  return Object.keys(webhooksFor({ ...means, random: seededRandom(1) }, () => isServed));
};

test('the Pod webhook needs its gate and the SidecarSet kind', () => {
  assert.ok(pathsWith().includes('/mutate-pod'));
  assert.ok(!pathsWith({ podWebhook: false }).includes('/mutate-pod'));
  assert.ok(!pathsWith({ isServed: false }).includes('/mutate-pod'));
});

test('a webhook is served under its path and under that of older charts', () => {
  const paths = pathsWith();
  assert.ok(paths.includes('/validate-apps-kruise-io-sidecarset'));
  assert.ok(paths.includes('/validate-apps-kruise-io-v1alpha1-sidecarset'));
});
