import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeatureGateError } from '@kruise/client/feature-gates';
import { clusterGates } from './feature-gates.ts';

test('each component takes the gates that are its own', () => {
  const { kruise, kubelet } = clusterGates('CloneSetShortHash=true,EventedPLEG=false');
  assert.deepEqual(kubelet, { EventedPLEG: false });
  assert.equal(kruise.CloneSetShortHash, true);
  assert.ok(!('EventedPLEG' in kruise));
});

test('kubelets use evented PLEG by default', () => {
  assert.equal(clusterGates('').kubelet.EventedPLEG, true);
  assert.equal(clusterGates('AllBeta=false').kubelet.EventedPLEG, false);
  assert.equal(clusterGates('AllBeta=true,EventedPLEG=false').kubelet.EventedPLEG, false);
});

test('a gate that no component has is refused', () => {
  assert.throws(() => clusterGates('EventedPleg=false'), FeatureGateError);
});
