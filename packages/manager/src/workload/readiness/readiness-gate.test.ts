import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { seededRandom } from '@kruise/values/random';
import { featureGates } from '../../configuration/feature-gates.ts';
import { managerSettings } from '../../configuration/settings.ts';
import { withReadinessGate } from './readiness-gate.ts';

const ownedBy = (apiVersion: string | undefined, gates: readonly string[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    ...(apiVersion ? { ownerReferences: [{ apiVersion, kind: 'X', name: 'x', uid: 'u', controller: true }] } : {}),
  },
  spec: { containers: [], readinessGates: gates.map((conditionType) => ({ conditionType })) },
});
const gatesOf = (pod: Pod, all = false) => {
  const settings = managerSettings({ gates: featureGates({ KruisePodReadinessGate: all }) });
  // This step reads no caches.
  const context = { settings, caches: {} as Caches, client: {} as Client, now: () => 0, random: seededRandom(1) };
  return withReadinessGate(pod, context).spec?.readinessGates?.map(({ conditionType }) => conditionType);
};

const cases: { is: string; pod: Pod; all?: boolean; gates: readonly string[] }[] = [
  {
    is: 'of a CloneSet',
    pod: ownedBy('apps.kruise.io/v1beta1', ['InPlaceUpdateReady']),
    gates: ['InPlaceUpdateReady', 'KruisePodReady'],
  },
  { is: 'that has the gate', pod: ownedBy('apps.kruise.io/v1alpha1', ['KruisePodReady']), gates: ['KruisePodReady'] },
  { is: 'of a ReplicaSet', pod: ownedBy('apps/v1'), gates: [] },
  { is: 'without an owner', pod: ownedBy(undefined), gates: [] },
  {
    is: 'without an owner, with the gate for all Pods,',
    pod: ownedBy(undefined),
    all: true,
    gates: ['KruisePodReady'],
  },
];
for (const { is, pod, all = false, gates } of cases) {
  test(`a Pod ${is} has gates [${gates.join(' ')}]`, () => {
    assert.deepEqual(gatesOf(pod, all), gates);
  });
}
