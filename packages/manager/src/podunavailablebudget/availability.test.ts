import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { featureGates } from '../configuration/feature-gates.ts';
import { isAvailable } from './availability.ts';

const gates = featureGates();
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const injected = [{ name: 'IS_INJECTED', value: 'true' }];
const sidecarState = (imageID: string) =>
  JSON.stringify({
    set: { revision: 'r', updateTimestamp: '2026-01-01T00:00:00Z', lastContainerStatuses: { side: { imageID } } },
  });
const inPlaceState = (imageID: string) =>
  JSON.stringify({
    revision: 'r',
    updateTimestamp: '2026-01-01T00:00:00Z',
    lastContainerStatuses: { main: { imageID } },
  });

type Traits = {
  readonly metadata?: Pod['metadata'];
  /** The containers: the image of the spec, the image of the status, and the image ID. */
  readonly runs?: readonly (readonly [name: string, specified: string, reported: string, imageID: string])[];
  readonly status?: Pod['status'];
};

const podOf = ({ metadata = {}, runs = [['main', 'app:v1', 'app:v1', 'old']], status = {} }: Traits): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', ...metadata },
  spec: {
    containers: runs.map(([name, image]) => ({ name, image, ...(name === 'side' ? { env: injected } : {}) })),
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: runs.map(([name, , image, imageID]) => ({ name, image, imageID, ready: true, restartCount: 0 })),
    ...status,
  },
});
const annotated = (annotations: { readonly [key: string]: string }) => ({ metadata: { annotations } });
const pinned = `app@${digest('a')}`;
const sided = { 'kruise.io/sidecarset-injected-list': 'set' };
const withSide = (image: string, imageID: string) =>
  [
    ['main', 'app:v1', 'app:v1', 'x'],
    ['side', 'side:v2', image, imageID],
  ] as const;

const cases: readonly (readonly [is: string, traits: Traits, isAvailable: boolean])[] = [
  ['is ready', {}, true],
  ['is not ready', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, false],
  ['has not started', { status: { phase: 'Pending' } }, false],
  ['is terminating', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, false],
  ['is labelled as unavailable', { metadata: { labels: { 'unavailable-pod.kruise.io/drained': '' } } }, false],
  ['runs the digest of its spec', { runs: [['main', pinned, 'app', `docker.io/library/app@${digest('a')}`]] }, true],
  ['has an image ID with a scheme', { runs: [['main', pinned, 'app', `docker-pullable://${pinned}`]] }, true],
  ['runs another digest', { runs: [['main', pinned, 'app', `app@${digest('b')}`]] }, false],
  ['runs an image that cannot be compared', { runs: [['main', pinned, 'app', digest('b')]] }, true],
  ['has no container status', { runs: [['main', pinned, 'app', '']], status: { containerStatuses: [] } }, false],
  [
    'runs its digests and waits to be drained',
    {
      ...annotated({ 'apps.kruise.io/inplace-update-grace': '{"revision":"r"}' }),
      runs: [['main', pinned, 'app', pinned]],
    },
    false,
  ],
  [
    'is being updated in place',
    {
      ...annotated({ 'apps.kruise.io/inplace-update-state': inPlaceState('old') }),
      runs: [['main', 'app:v2', 'app:v1', 'old']],
    },
    false,
  ],
  [
    'was updated in place',
    {
      ...annotated({ 'apps.kruise.io/inplace-update-state': inPlaceState('old') }),
      runs: [['main', 'app:v2', 'app:v2', 'new']],
    },
    true,
  ],
  ['has sidecars that were never updated', { ...annotated(sided), runs: withSide('side:v1', 'old') }, true],
  [
    'has a sidecar that is being updated',
    {
      ...annotated({ ...sided, 'kruise.io/sidecarset-inplace-update-state': sidecarState('old') }),
      runs: withSide('side:v1', 'old'),
    },
    false,
  ],
  [
    'has a sidecar that was updated',
    {
      ...annotated({ ...sided, 'kruise.io/sidecarset-inplace-update-state': sidecarState('old') }),
      runs: withSide('side:v2', 'new'),
    },
    true,
  ],
  [
    'has sidecars of which nothing can be read',
    { ...annotated({ ...sided, 'kruise.io/sidecarset-inplace-update-state': '?' }), runs: withSide('side:v2', 'new') },
    false,
  ],
];
for (const [is, traits, expected] of cases) {
  test(`a Pod that ${is} is ${expected ? '' : 'not '}available`, () => {
    assert.equal(isAvailable(podOf(traits), gates), expected);
  });
}
