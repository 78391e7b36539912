/** Has the volumes of a Pod in place before its containers start, and tells what keeps them from being so. */
import type { Pod } from '@kruise/api/core/pod';
import { createClaimWait, unmountedMessage } from './claim-wait.ts';
import type { NodeFacts } from './downward.ts';
import type { NodeContext } from './node-context.ts';
import { podDirectory, removePodDirectory } from './pod-directory.ts';
import { ClaimNotReadyError, createPodVolumes, type MountedVolume, type PodVolumes } from './volumes.ts';

type Mounted = ReadonlyMap<string, MountedVolume>;

/** The volumes of one Pod. */
export type PodMounting = {
  /** Those that are there, by their names. */
  mounted(): Mounted;
  /** Something that volumes are made of may have changed. */
  outdate(): void;
  /** Where volumes are, once all are there; undefined if some cannot be had, which is told and tried again. */
  ensure(pod: Pod, facts: NodeFacts): Promise<Mounted | undefined>;
  /** Removes all that the Pod had of the node. */
  remove(pod: Pod): Promise<void>;
};

const none: Mounted = new Map();
const firstRetryMs = 500;
const longestRetryMs = 122_000;
/** What was looked at so recently, and has not been heard of since, is as it was: a Pod that starts is passed over twice. */
const freshMs = 1000;

/** The volumes of a Pod, of which none is there yet. */
export function createPodMounting(node: NodeContext, uid: string): PodMounting {
  const { runtime, clock, settings } = node;
  const claimWait = createClaimWait();
  // Most Pods never need these.
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
      token: async (of, wish) => {
        const { text, refreshAt } = await node.tokens.get(of, wish);
        node.wakeAt(uid, refreshAt);
        return text;
      },
    });

  /** Tells what is missing; when to try again. */
  function tell(pod: Pod, causes: readonly Error[]): number {
    const now = clock.now();
    const failures = causes.filter(({ cause }) => !(cause instanceof ClaimNotReadyError));
    for (const { message } of failures) node.record(pod, 'Warning', 'FailedMount', message);
    // What failed is tried again soon, and then less and less often; what is waited for may come at any moment.
    const retryAt =
      failures.length > 0 ? now + Math.min(firstRetryMs * 2 ** failureCount++, longestRetryMs) : claimWait.next(now);
    if (claimWait.isLong(now)) {
      node.record(pod, 'Warning', 'FailedMount', unmountedMessage(pod, causes));
      claimWait.reset();
    }
    return retryAt;
  }

  return {
    mounted: () => volumes?.mounted ?? none,
    outdate() {
      changes++;
      freshUntil = Number.NEGATIVE_INFINITY;
    },
    async ensure(pod, facts) {
      if (!pod.spec?.volumes || pod.spec.volumes.length === 0) return none;
      if (volumes && clock.now() < freshUntil) return volumes.mounted;
      volumes ??= make();
      try {
        const known = changes;
        const mounted = await volumes.mount(pod, facts);
        if (known === changes) freshUntil = clock.now() + freshMs;
        claimWait.reset();
        failureCount = 0;
        return mounted;
      } catch (error) {
        const causes = error instanceof AggregateError ? (error.errors as Error[]) : [error as Error];
        node.wakeAt(uid, tell(pod, causes));
        return undefined;
      }
    },
    async remove(pod) {
      if (volumes) await volumes.unmount(pod);
      else await removePodDirectory(runtime.files, podDirectory(pod, settings.rootDirectory));
      volumes = undefined;
    },
  };
}
