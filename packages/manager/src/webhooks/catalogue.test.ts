import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { featureGates } from '../feature-gates.ts';
import { managerSettings } from '../settings.ts';
import { webhooksFor } from './catalogue.ts';

const pathsWith = ({ podWebhook = true, isServed = true } = {}) => {
  const settings = managerSettings({ gates: featureGates({ PodWebhook: podWebhook }) });
  // Webhooks read from caches when they are asked, and none is.
  const clock = virtualClock(0);
  const means = { settings, caches: {} as Caches, client: {} as Client, clock, now: clock.now };
  return Object.keys(webhooksFor({ ...means, random: seededRandom(1) }, () => isServed));
};

test('Pods are looked at where the gate is open and SidecarSets are served', () => {
  assert.ok(pathsWith().includes('/mutate-pod'));
  assert.ok(!pathsWith({ podWebhook: false }).includes('/mutate-pod'));
  assert.ok(!pathsWith({ isServed: false }).includes('/mutate-pod'));
});

test('a kind is looked at under its path and under that of older charts', () => {
  const paths = pathsWith();
  assert.ok(paths.includes('/validate-apps-kruise-io-sidecarset'));
  assert.ok(paths.includes('/validate-apps-kruise-io-v1alpha1-sidecarset'));
});
