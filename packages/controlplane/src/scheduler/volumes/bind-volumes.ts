/** Binds the volumes of a Pod before the Pod is bound. */
import type { Node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Client } from '@kruise/client/client';
import { isVersionAtLeast } from '@kruise/client/object-key';
import {
  isFullyBound,
  isVolumeReachable,
  selectedNodeAnnotation,
  volumeBoundTo,
} from '@kruise/machinery/volume-binding';
import type { Clock } from '@kruise/values/clock';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { Reservation } from '../plugin.ts';
import type { VolumePlan } from './claims.ts';
import type { Storage } from './storage.ts';

export type BindingDependencies = {
  readonly client: Client;
  readonly clock: Clock;
  readonly storage: Storage;
  /** Reports whether the Pod still exists. */
  readonly exists: (pod: PodInfo) => boolean;
  readonly timeoutSeconds: number;
};

/** Assumes the whole plan, so that other Pods do not plan with the same volumes. */
export function reserveVolumes(
  pod: PodInfo,
  node: Node,
  plan: VolumePlan,
  dependencies: BindingDependencies,
): Reservation {
  const { storage } = dependencies;
  const nodeName = node.metadata.name ?? '';
  const volumes = plan.bindings.map(({ volume, claim }) => volumeBoundTo(volume, claim));
  const provisions = plan.provisions.map((claim) => withSelectedNode(claim, nodeName));
  for (const volume of volumes) storage.assumeVolume(volume);
  for (const claim of provisions) storage.assumeClaim(claim);
  return {
    preBind: (signal) => bindVolumes(pod, node, { ...plan, volumes, provisions }, dependencies, signal),
    unreserve() {
      for (const { metadata } of volumes) storage.restoreVolume(metadata.name ?? '');
      for (const claim of provisions) storage.restoreClaim(keyOfClaim(claim));
    },
  };
}

function withSelectedNode(claim: PersistentVolumeClaim, node: string): PersistentVolumeClaim {
  const annotations = { ...claim.metadata.annotations, [selectedNodeAnnotation]: node };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

function keyOfClaim({ metadata }: PersistentVolumeClaim): string {
  return `${metadata.namespace}/${metadata.name}`;
}

type Assumed = VolumePlan & { readonly volumes: readonly VolumePlan['bindings'][number]['volume'][] };

async function bindVolumes(
  pod: PodInfo,
  node: Node,
  { bindings, volumes, provisions }: Assumed,
  { client, clock, storage, exists, timeoutSeconds }: BindingDependencies,
  signal: AbortSignal,
): Promise<void> {
  const written = new Map<string, string>();
  for (const volume of volumes) {
    const { metadata } = await client.update(persistentVolume, volume);
    written.set(metadata.name ?? '', metadata.resourceVersion ?? '');
  }
  for (const claim of provisions) {
    const { metadata } = await client.update(persistentVolumeClaim, claim);
    written.set(keyOfClaim(claim), metadata.resourceVersion ?? '');
  }
  const isSeen = (key: string, version: string | undefined) => isVersionAtLeast(version, written.get(key) ?? '');

  /** Reports whether all PVCs are bound; throws if they cannot be. */
  const areBound = (): boolean => {
    if (!exists(pod)) throw new Error('pod does not exist any more');
    const { actual } = storage;
    const areMatched = bindings.every(({ claim, volume: { metadata } }) => {
      const name = metadata.name ?? '';
      const volume = actual.volume(name);
      const current = actual.claim(keyOfClaim(claim));
      if (!volume || !current) throw new Error(`failed to check binding: ${volume ? 'claim' : 'volume'} is gone`);
      if (!isSeen(name, volume.metadata.resourceVersion)) return false;
      requireReachable(volume);
      if (!volume.spec?.claimRef?.uid) throw new Error(`ClaimRef got reset for pv "${name}"`);
      return isFullyBound(current);
    });
    const areProvisioned = provisions.every((claim) => {
      const key = keyOfClaim(claim);
      const current = actual.claim(key);
      if (!current) throw new Error('failed to check provisioning pvc: claim is gone');
      if (!isSeen(key, current.metadata.resourceVersion)) return false;
      const { name, annotations } = current.metadata;
      if (!annotations) throw new Error(`selectedNode annotation reset for PVC "${name}"`);
      if (annotations[selectedNodeAnnotation] !== node.metadata.name)
        throw new Error(`provisioning failed for PVC "${name}"`);
      const volume = current.spec?.volumeName ? actual.volume(current.spec.volumeName) : undefined;
      if (current.spec?.volumeName && !volume) return false;
      if (volume) requireReachable(volume);
      return isFullyBound(current);
    });
    return areMatched && areProvisioned;
  };
  const requireReachable = (volume: Assumed['volumes'][number]) => {
    if (isVolumeReachable(volume, node)) return;
    const { name } = volume.metadata;
    throw new Error(
      `pv "${name}" node affinity doesn't match node "${node.metadata.name}": no matching NodeSelectorTerms`,
    );
  };

  const claims = [...bindings.map(({ claim }) => claim), ...provisions].map(keyOfClaim);
  try {
    await untilHolds(areBound, (callback) => storage.listen(claims, callback), clock, timeoutSeconds, signal);
  } catch (error) {
    throw new Error(`binding volumes: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Resolves when a condition holds, which is checked on every change; rejects with its error. */
function untilHolds(
  condition: () => boolean,
  listen: (callback: () => void) => () => void,
  clock: Clock,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stopListening();
      cancelTimer();
      signal.removeEventListener('abort', abort);
      settle();
    };
    const look = () => {
      try {
        if (condition()) end(resolve);
      } catch (error) {
        end(() => reject(error));
      }
    };
    const abort = () => end(() => reject(signal.reason));
    const stopListening = listen(look);
    const cancelTimer = clock.setTimer(timeoutSeconds * 1000, () => {
      end(() => reject(new Error('context deadline exceeded')));
    });
    signal.addEventListener('abort', abort);
    look();
  });
}
