import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inPlaceUpdateGraceAnnotation,
  inPlaceUpdateGraceLegacyAnnotation,
  inPlaceUpdateStateAnnotation,
  inPlaceUpdateStateLegacyAnnotation,
} from '@kruise/api/kruise/well-known';
import { podOf } from './fixtures.ts';
import {
  formatGrace,
  formatState,
  type InPlaceUpdateState,
  isInGrace,
  noChanges,
  readGrace,
  readState,
  type UpdateSpec,
} from './state.ts';

const started: InPlaceUpdateState = {
  revision: 'rev_new',
  updateTimestamp: '2026-01-01T12:00:00Z',
  updatesEnv: false,
  updatesResources: false,
  updatesImages: true,
  next: noChanges,
  batches: [],
};

test('the state of a pending update is what Go writes', () => {
  assert.equal(
    formatState(started),
    '{"revision":"rev_new","updateTimestamp":"2026-01-01T12:00:00Z","lastContainerStatuses":null,"updateImages":true}',
  );
});

const full: InPlaceUpdateState = {
  ...started,
  updatesEnv: true,
  updatesResources: true,
  lastContainerStatuses: { b: { imageID: 'y' }, a: { imageID: 'x' } },
  next: {
    images: { c: 'v2', '10': 'v2' },
    refMetadata: { c: { labels: { k: 'v' } } },
    resources: { c: { limits: { cpu: '1' } } },
  },
  requiredReady: ['a', 'b'],
  batches: [{ timestamp: '2026-01-01T12:00:00Z', containers: ['a', 'b'] }],
};

test('the state of an update in progress is what Go writes', () => {
  assert.equal(
    formatState(full),
    '{"revision":"rev_new","updateTimestamp":"2026-01-01T12:00:00Z",' +
      '"lastContainerStatuses":{"a":{"imageID":"x"},"b":{"imageID":"y"}},' +
      '"updateEnvFromMetadata":true,"updateResources":true,"updateImages":true,' +
      '"nextContainerImages":{"10":"v2","c":"v2"},' +
      '"nextContainerRefMetadata":{"c":{"creationTimestamp":null,"labels":{"k":"v"}}},' +
      '"nextContainerResources":{"c":{"limits":{"cpu":"1"}}},' +
      '"preCheckBeforeNext":{"containersRequiredReady":["a","b"]},' +
      '"containerBatchesRecord":[{"timestamp":"2026-01-01T12:00:00Z","containers":["a","b"]}]}',
  );
});

for (const [name, state] of Object.entries({ started, full })) {
  for (const annotation of [inPlaceUpdateStateAnnotation, inPlaceUpdateStateLegacyAnnotation]) {
    test(`a state that is ${name} survives a round trip through ${annotation}`, () => {
      const read = readState(podOf([], { annotations: { [annotation]: formatState(state) } }));
      assert.equal(formatState(read!), formatState(state));
    });
  }
}

const spec: UpdateSpec = {
  ...noChanges,
  revision: 'rev_new',
  images: { c1: 'foo2' },
  updatesEnv: false,
  graceSeconds: 3630,
};

test('the changes after a grace period are what Go writes', () => {
  assert.equal(formatGrace(spec), '{"revision":"rev_new","containerImages":{"c1":"foo2"},"graceSeconds":3630}');
});

test('the changes after a grace period survive a round trip', () => {
  const patched = { ...spec, metadataPatch: { metadata: { labels: { a: 'b', c: null } } }, updatesEnv: true };
  for (const annotation of [inPlaceUpdateGraceAnnotation, inPlaceUpdateGraceLegacyAnnotation]) {
    const pod = podOf([], { annotations: { [annotation]: formatGrace(patched) } });
    assert.deepEqual(readGrace(pod), patched);
    assert.equal(isInGrace(pod), true);
  }
});

test('a Pod without annotations has no state and no grace period', () => {
  assert.deepEqual([readState(podOf([])), readGrace(podOf([])), isInGrace(podOf([]))], [undefined, undefined, false]);
});
