/**
 * SidecarSet reconciler: keeps the revision history, and updates the sidecars of injected Pods to the current revision.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet, SidecarSetStatus } from '@kruise/api/kruise/sidecarset';
import { type Action, type NewEvent, parallelByKind } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { noRefusals, type RefusedWrites } from '@kruise/client/refusals';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import type { ManagerSettings } from '../configuration/settings.ts';
import { nextPods } from './next-pods.ts';
import { permissionsBy } from './permission.ts';
import { type History, planOf, pruneRevisionHistory, writeRevision } from './revisions.ts';
import { statusOf } from './status.ts';
import { emptyStandby, isMigrated, updatePod } from './update-pod.ts';
import { markNotUpgradable, markUpgraded } from './upgradable.ts';

export type Observed = History & {
  readonly sidecarSet: SidecarSet;
  /** Active Pods with the sidecars of the SidecarSet. */
  readonly pods: readonly Pod[];
};

export function decide(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites = noRefusals,
): Decision<SidecarSetStatus> {
  const { sidecarSet, pods, revisions } = observed;
  const plan = planOf(sidecarSet, observed, settings.namespace);
  const upkeep = [...writeRevision(sidecarSet, plan), ...pruneRevisionHistory(sidecarSet, revisions, plan, pods)];
  const status = statusOf(sidecarSet, pods, plan);
  // The status is written before Pods change, together with the revision that new Pods get.
  const isStatusCurrent = isSame(status, sidecarSet.status);
  if (!isStatusCurrent) return { actions: upkeep, status, requeueAfterSeconds: 0 };
  const { steps, events } = rollOut(sidecarSet, pods, refused, now);
  // A Pod may get a condition and an image: its patches are sent one after the other.
  const actions = [...upkeep, ...parallelByKind([...markUpgraded(sidecarSet, pods, now), ...steps])];
  return { actions, events, minIntervalMs: reconcileIntervalFor(pods.length) };
}

type Steps = { readonly steps: readonly Action[]; readonly events: readonly NewEvent[] };

const noSteps: Steps = { steps: [], events: [] };

/** Completes finished hot upgrades before new updates start. */
function rollOut(sidecarSet: SidecarSet, pods: readonly Pod[], refused: RefusedWrites, now: Instant): Steps {
  const { spec, status } = sidecarSet;
  if (spec.updateStrategy?.type === 'NotUpdate' || spec.updateStrategy?.paused) return noSteps;
  const migrated = pods.filter((pod) => isMigrated(pod, sidecarSet));
  if (migrated.length > 0) return { ...noSteps, steps: migrated.map((pod) => emptyStandby(pod, sidecarSet, now)) };
  if (status && status.updatedPods >= status.matchedPods) return noSteps;
  const permissions = permissionsBy(sidecarSet, refused);
  const { toUpdate, notUpgradable } = nextPods(sidecarSet, pods, permissions);
  return {
    steps: [
      ...markNotUpgradable(sidecarSet, notUpgradable, now),
      ...toUpdate.map((pod) => permissions.afterDryRun(updatePod(pod, sidecarSet, now))),
    ],
    events: notUpgradable.length > 0 ? [notUpgradableEvent(sidecarSet, notUpgradable.length)] : [],
  };
}

function notUpgradableEvent(about: SidecarSet, count: number): NewEvent {
  const message = `SidecarSet in-place update detected ${count} not upgradable pod(s) in this round, will skip them.`;
  return { about, type: 'Normal', reason: 'NotUpgradablePods', message };
}
