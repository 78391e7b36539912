import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { type PodTraits, podOf, revisionOf, setOf, side } from './fixtures.ts';
import { statusOf } from './status.ts';

const set = setOf();
const old = setOf({ containers: [side({ image: 'side:v1' })] });
const hot = setOf({
  containers: [side({ upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty:v1' } })],
});
/** Matched, updated, ready, updated and ready Pods. */
function figuresOf(sidecarSet: SidecarSet, pods: readonly Pod[]): readonly number[] {
  const plan = { update: revisionOf(sidecarSet, 1), change: 'none', collisionCount: 0 } as const;
  const { matchedPods, updatedPods, readyPods, updatedReadyPods = 0 } = statusOf(sidecarSet, pods, plan);
  return [matchedPods, updatedPods, readyPods, updatedReadyPods];
}
const updating = (imageID: string) => ({
  'kruise.io/sidecarset-inplace-update-state': JSON.stringify({
    set: { revision: 'r', updateTimestamp: '2026-01-01T00:00:00Z', lastContainerStatuses: { side: { imageID } } },
  }),
});
const digest = (letter: string) => `docker.io/team/side@sha256:${letter.repeat(64)}`;
const byDigest = setOf({ containers: [side({ image: digest('a') })] });

const cases: { name: string; set?: SidecarSet; pods: readonly PodTraits[]; figures: readonly number[] }[] = [
  { name: 'no Pods', pods: [], figures: [0, 0, 0, 0] },
  { name: 'an updated and ready Pod', pods: [{}], figures: [1, 1, 1, 1] },
  { name: 'a Pod that is not ready', pods: [{ isReady: false }], figures: [1, 1, 0, 0] },
  { name: 'an outdated Pod', pods: [{ of: old }, {}], figures: [2, 1, 2, 1] },
  {
    name: 'a Pod with a hash in an old format',
    pods: [{ annotations: { 'kruise.io/sidecarset-hash': JSON.stringify({ set: hashIn(set) }) } }],
    figures: [1, 1, 1, 1],
  },
  {
    name: 'a Pod with an invalid hash',
    pods: [{ annotations: { 'kruise.io/sidecarset-hash': 'what?' } }],
    figures: [1, 0, 1, 0],
  },
  {
    name: 'a sidecar that still runs its old image',
    pods: [{ annotations: updating('sha256:side:v1'), running: { side: 'side:v1' } }],
    figures: [1, 1, 0, 0],
  },
  {
    name: 'a sidecar that runs its new image',
    pods: [{ annotations: updating('sha256:side:v1') }],
    figures: [1, 1, 1, 1],
  },
  {
    name: 'a new name for the same image, once the runtime reports it',
    pods: [{ annotations: updating('sha256:side:v2') }],
    figures: [1, 1, 1, 1],
  },
  {
    name: 'an invalid update state',
    pods: [{ annotations: { 'kruise.io/sidecarset-inplace-update-state': '[' } }],
    figures: [1, 1, 0, 0],
  },
  {
    name: 'an image by digest',
    set: byDigest,
    pods: [{ of: byDigest }, { of: byDigest, running: { side: `docker-pullable://${digest('b')}` } }],
    figures: [2, 2, 0, 0],
  },
  { name: 'a pair with an empty container', set: hot, pods: [{ of: hot }], figures: [1, 1, 1, 1] },
  {
    name: 'a pair with the wrong container empty',
    set: hot,
    pods: [{ of: hot, annotations: { 'kruise.io/sidecarset-working-hotupgrade-container': '{"side":"side-2"}' } }],
    figures: [1, 1, 0, 0],
  },
];
for (const { name, set: sidecarSet = set, pods, figures } of cases) {
  test(`${name}: ${figures}`, () => {
    assert.deepEqual(
      figuresOf(
        sidecarSet,
        pods.map((traits, index) => podOf(`pod-${index}`, traits)),
      ),
      figures,
    );
  });
}

test('an image by digest is running once the runtime reports the same digest', () => {
  const found = podOf('a', { of: byDigest });
  const [main, sidecar] = found.status?.containerStatuses ?? [];
  const containerStatuses = [main!, { ...sidecar!, imageID: `docker-pullable://${digest('a')}` }];
  assert.deepEqual(figuresOf(byDigest, [{ ...found, status: { ...found.status, containerStatuses } }]), [1, 1, 1, 1]);
});

test('a Pod with a missing container status is not ready', () => {
  const found = podOf('a');
  const containerStatuses = found.status?.containerStatuses?.slice(1) ?? [];
  assert.deepEqual(figuresOf(set, [{ ...found, status: { ...found.status, containerStatuses } }]), [1, 1, 0, 0]);
});

function hashIn({ metadata }: SidecarSet): string {
  return metadata.annotations?.['kruise.io/sidecarset-hash'] ?? '';
}
