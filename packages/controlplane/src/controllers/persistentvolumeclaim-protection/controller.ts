import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { byClaim } from '@kruise/workload-kit/pod-indexes';
import { decide, isReadyForRemoval, isUsed, type Observed } from './decide.ts';

/** PVC protection controller: prevents the deletion of PVCs that Pods use. */
export const persistentVolumeClaimProtectionController: Controller = defineController({
  name: 'persistentvolumeclaim-protection',
  component: 'pvc-protection-controller',
  for: persistentVolumeClaim,
  watches: [watch(pod, terminatingClaims)],
  observe(caches, key) {
    const claim = caches.of(persistentVolumeClaim).get(key);
    return claim && { claim, pods: isReadyForRemoval(claim) ? caches.of(pod).byIndex(byClaim, key) : [] };
  },
  fetch: listPodsLive,
  decide,
});

function terminatingClaims({ object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  const keys = new Set([object, ...(previous ? [previous] : [])].flatMap(byClaim));
  return [...keys].filter((key) => {
    const claim = caches.of(persistentVolumeClaim).get(key);
    return claim && isReadyForRemoval(claim);
  });
}

/** The cache may be stale: before the finalizer is removed, the Pods are listed live. */
async function listPodsLive(observed: Observed, client: Client): Promise<Observed> {
  const { claim, pods } = observed;
  if (!isReadyForRemoval(claim) || isUsed(claim, pods)) return observed;
  const { items } = await client.list(pod, { namespace: claim.metadata.namespace ?? '' });
  return { claim, pods: items };
}
