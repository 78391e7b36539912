import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeatureGateError } from '@kruise/client/feature-gates';
import { type FeatureGate, featureGates, parseFeatureGates } from './feature-gates.ts';

const off: { given: string; gate: FeatureGate }[] = [
  { given: 'PodWebhook=false,WorkloadSpread=true', gate: 'WorkloadSpread' },
  { given: 'PodWebhook=false,AllAlpha=true', gate: 'KruisePodReadinessGate' },
  { given: 'KruiseDaemon=false,PreDownloadImageForInPlaceUpdate=true', gate: 'PreDownloadImageForInPlaceUpdate' },
  { given: 'KruiseDaemon=false', gate: 'InPlaceUpdateEnvFromMetadata' },
  { given: 'KruiseDaemon=false,ImagePullJobGate=true', gate: 'ImagePullJobGate' },
  { given: 'DeletionProtectionForCRDCascadingGate=true', gate: 'DeletionProtectionForCRDCascadingGate' },
  { given: 'AllAlpha=true,CloneSetShortHash=false', gate: 'CloneSetShortHash' },
  { given: 'AllBeta=false', gate: 'PodWebhook' },
  { given: '', gate: 'CloneSetShortHash' },
];
for (const { given, gate } of off) {
  test(`with ${given || 'defaults'}, ${gate} is disabled`, () => {
    assert.equal(featureGates(parseFeatureGates(given))[gate], false);
  });
}

const on: { given: string; gate: FeatureGate }[] = [
  { given: '', gate: 'PodWebhook' },
  { given: 'AllAlpha=true', gate: 'CloneSetShortHash' },
  { given: 'AllBeta=true', gate: 'ResourcesDeletionProtection' },
  { given: 'PreDownloadImageForDaemonSetUpdate=true', gate: 'ImagePullJobGate' },
  { given: ' CloneSetShortHash = T ', gate: 'CloneSetShortHash' },
];
for (const { given, gate } of on) {
  test(`with ${given || 'defaults'}, ${gate} is enabled`, () => {
    assert.equal(featureGates(parseFeatureGates(given))[gate], true);
  });
}

for (const text of ['ForceDeleteTimeoutExpectationFeatureGate=true', 'CloneSetShortHash', 'CloneSetShortHash=maybe']) {
  test(`${text} is refused`, () => {
    assert.throws(() => parseFeatureGates(text), FeatureGateError);
  });
}
