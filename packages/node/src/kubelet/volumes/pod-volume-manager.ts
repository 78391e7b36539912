/** Mounts the volumes of a Pod before its containers start, and records events for mount failures. */
import type { Pod } from '@kruise/api/core/pod';
import { parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { DownwardContext } from '../containers/downward-api.ts';
import type { NodeContext } from '../node/node-context.ts';
import { podDirectory, removePodDirectory } from './pod-directory.ts';
import { PersistentVolumeClaimNotReadyError } from './volume-errors.ts';
import { createVolumeRetry, unmountedMessage } from './volume-retry.ts';
import { createPodVolumes, type MountedVolume, type PodVolumes } from './volumes.ts';

type MountedVolumes = ReadonlyMap<string, MountedVolume>;

/** Volumes of one Pod. */
export type PodVolumeManager = {
  /** Returns the mounted volumes by name. */
  mounted(): MountedVolumes;
  /** Marks the volumes as stale: an object that volumes depend on may have changed. */
  markStale(): void;
  /** Mounts all volumes and returns them; undefined if some cannot be mounted. A failure is recorded and retried. */
  ensureMounted(pod: Pod, context: DownwardContext): Promise<MountedVolumes | undefined>;
  /** Unmounts all volumes and removes the Pod directory. */
  remove(pod: Pod): Promise<void>;
};

const none: MountedVolumes = new Map();
const firstRetryMs = 500;
const longestRetryMs = 122_000;
/** Volumes mounted within this time and not marked stale are reused: a starting Pod is synced twice. */
const freshMs = 1000;

/** Creates the volume manager of a Pod. */
export function createPodVolumeManager(node: NodeContext, uid: string): PodVolumeManager {
  const { runtime, clock, settings } = node;
  const volumeRetry = createVolumeRetry();
  // Created lazily, because most Pods do not need it.
  let volumes: PodVolumes | undefined;
  let failureCount = 0;
  let changes = 0;
  let freshUntil = Number.NEGATIVE_INFINITY;

  const make = () =>
    createPodVolumes({
      files: runtime.files,
      clock,
      random: node.random,
      sources: node.sources,
      rootDirectory: settings.rootDirectory,
      csi: node.csi,
      allocatableMemory: () => {
        const { memory } = node.allocatable();
        return memory === undefined ? node.memoryCapacity() : quantityValue(parseQuantity(memory));
      },
      token: async (of, request) => {
        const { text, refreshAt } = await node.tokens.get(of, request);
        node.syncAt(uid, refreshAt);
        return text;
      },
    });

  /** Records events for volumes that are not mounted; returns the time of the next retry. */
  function recordMountFailures(pod: Pod, causes: readonly Error[]): number {
    const now = clock.now();
    const failures = causes.filter(({ cause }) => !(cause instanceof PersistentVolumeClaimNotReadyError));
    for (const { message } of failures) node.record(pod, 'Warning', 'FailedMount', message);
    // Failures are retried with exponential backoff. A PVC can be bound at any moment, so it is polled more often.
    const retryAt =
      failures.length > 0
        ? now + Math.min(firstRetryMs * 2 ** failureCount++, longestRetryMs)
        : volumeRetry.nextRetry(now);
    if (volumeRetry.isLong(now)) {
      node.record(pod, 'Warning', 'FailedMount', unmountedMessage(pod, causes));
      volumeRetry.reset();
    }
    return retryAt;
  }

  return {
    mounted: () => volumes?.mounted ?? none,
    markStale() {
      changes++;
      freshUntil = Number.NEGATIVE_INFINITY;
    },
    async ensureMounted(pod, context) {
      if (!pod.spec?.volumes || pod.spec.volumes.length === 0) return none;
      if (volumes && clock.now() < freshUntil) return volumes.mounted;
      volumes ??= make();
      try {
        const changesBefore = changes;
        const mounted = await volumes.mount(pod, context);
        if (changesBefore === changes) freshUntil = clock.now() + freshMs;
        volumeRetry.reset();
        failureCount = 0;
        return mounted;
      } catch (error) {
        const causes = error instanceof AggregateError ? (error.errors as Error[]) : [error as Error];
        node.syncAt(uid, recordMountFailures(pod, causes));
        return undefined;
      }
    },
    async remove(pod) {
      if (volumes) await volumes.unmount(pod);
      else await removePodDirectory(runtime.files, podDirectory(pod, settings.rootDirectory), node.csi);
      volumes = undefined;
    },
  };
}
