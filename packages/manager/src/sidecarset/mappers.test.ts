import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import type { Caches } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { formatTime } from '@kruise/values/time';
import { now, type PodTraits, podOf, setOf, side } from './fixtures.ts';
import { setsOfPod } from './mappers.ts';

const set = setOf();
const old = setOf({ containers: [side({ image: 'side:v1' })] });
const choosy = setOf({ updateStrategy: { selector: { matchLabels: { canary: 'yes' } } } });
const still = setOf({ updateStrategy: { type: 'NotUpdate' } });
const pod = (traits: PodTraits = {}) => podOf('a', traits);
const leaving: Pod = { ...pod(), metadata: { ...pod().metadata, deletionTimestamp: formatTime(now) } };
const newImage = {
  'kruise.io/sidecarset-inplace-update-state': JSON.stringify({
    set: { lastContainerStatuses: { side: { imageID: 'sha256:side:v1' } } },
  }),
};

const hot = setOf({
  containers: [side({ upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty:v1' } })],
});

/** Builds a Pod in the middle of a hot upgrade, which is not ready. */
function migrating({ isNewReady }: { readonly isNewReady: boolean }): Pod {
  const annotations = { 'kruise.io/sidecarset-working-hotupgrade-container': '{"side":"side-2"}' };
  const found = podOf('a', { of: hot, isReady: false, annotations });
  const containerStatuses = found.status?.containerStatuses?.map((status) => ({
    ...status,
    ready: status.name === 'main' || (status.name === 'side-2' && isNewReady),
  }));
  return { ...found, status: { ...found.status, ...(containerStatuses ? { containerStatuses } : {}) } };
}

function isEnqueued(known: SidecarSet, object: Pod, previous?: Pod | 'deleted'): boolean {
  const store = createObjectStore<SidecarSet>();
  store.set(keyOf(known), known);
  // The mapper reads only SidecarSets.
  const caches = { of: () => store } as unknown as Caches;
  const type = previous === undefined ? 'added' : previous === 'deleted' ? previous : 'updated';
  const before = typeof previous === 'object' ? { previous } : {};
  return setsOfPod({ type, object, ...before, cause: 'event' }, caches).length > 0;
}

const cases: { name: string; set?: SidecarSet; before?: Pod | 'deleted'; after?: Pod; isEnqueued: boolean }[] = [
  { name: 'a new Pod', isEnqueued: true },
  { name: 'a new Pod of a SidecarSet that only injects', set: still, isEnqueued: true },
  { name: 'a new Pod without a sidecar', set: setOf({ containers: [side({ name: 'other' })] }), isEnqueued: false },
  {
    name: 'a new Pod without injection',
    after: pod({ annotations: { 'kruise.io/sidecarset-injected-list': '' } }),
    isEnqueued: false,
  },
  { name: 'a deleted Pod', before: 'deleted', isEnqueued: true },
  { name: 'a terminating Pod', before: pod(), after: leaving, isEnqueued: true },
  { name: 'a Pod that becomes ready', before: pod({ isReady: false }), isEnqueued: true },
  {
    name: 'a Pod that becomes ready, of a SidecarSet that only injects',
    set: still,
    before: pod({ isReady: false }),
    isEnqueued: false,
  },
  {
    name: 'a sidecar whose new image runs',
    before: pod({ annotations: newImage, running: { side: 'side:v1' } }),
    after: pod({ annotations: newImage }),
    isEnqueued: true,
  },
  { name: 'a Pod with the new hash', before: pod({ of: old }), isEnqueued: true },
  { name: 'a Pod with a changed label', before: pod({ labels: { canary: 'yes' } }), isEnqueued: false },
  {
    name: 'a Pod with a changed label, with an update selector',
    set: choosy,
    before: pod({ labels: { canary: 'yes' } }),
    isEnqueued: true,
  },
  {
    name: 'a Pod whose new container is ready, though its old one is not',
    set: hot,
    before: migrating({ isNewReady: false }),
    after: migrating({ isNewReady: true }),
    isEnqueued: true,
  },
  { name: 'an unchanged Pod', before: pod(), isEnqueued: false },
];
for (const { name, set: known = set, before, after = pod(), isEnqueued: expected } of cases) {
  test(`${name} ${expected ? 'enqueues' : 'does not enqueue'} the SidecarSet`, () => {
    assert.equal(isEnqueued(known, after, before), expected);
  });
}
