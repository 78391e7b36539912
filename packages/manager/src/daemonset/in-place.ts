/** In-place update of DaemonSet Pods. There is no inPlaceUpdate hook and no grace period. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import type { Action } from '@kruise/client/actions';
import { revisionLabelOf } from '@kruise/machinery/controller-revision';
import { announceUpdate } from '../workload/inplace/attempt.ts';
import type { UpdateSpec } from '../workload/inplace/state.ts';
import { startUpdate } from '../workload/inplace/update.ts';
import { updateSpecOf } from '../workload/inplace/update-spec.ts';
import { hasReadinessGate } from '../workload/readiness/pod-readiness.ts';
import { shortHash } from '../workload/revision/pod-revision.ts';
import { burstOf } from './numbers.ts';
import type { State } from './state.ts';

/** Actions of in-place updates, and the Pods that must be deleted instead. */
export type InPlace = { readonly actions: readonly Action[]; readonly rest: readonly Pod[] };

export function updateInPlace(state: State, pods: readonly Pod[]): InPlace {
  const { set, current, now } = state;
  const specs = pods.map((pod) => ({ pod, spec: inPlaceSpecOf(state, pod) }));
  const how = `in-place(revision ${current.metadata.name})`;
  const actions = specs
    .flatMap(({ pod, spec }) => (spec ? [{ pod, spec }] : []))
    .slice(0, burstOf(set))
    .flatMap(({ pod, spec }) => announceUpdate(startUpdate(pod, spec, state, now), set, how, 'in-place'));
  return { actions, rest: specs.filter(({ spec }) => spec === undefined).map(({ pod }) => pod) };
}

/** Reports whether a Pod is not updated for a while, because the API server refuses to update or recreate the Pod. */
export function isUpdateRefused(state: State, pod: Pod): boolean {
  const { permissions, hash } = state;
  if (!permissions.hasRefusals()) return false;
  const spec = changesOf(state, pod);
  const way = spec ? permissions.updateTypeFor(pod, spec, 'InPlaceIfPossible') : 'ReCreate';
  return way === 'ReCreate' ? permissions.recreationFault(hash) !== undefined : way !== 'InPlace';
}

/** Returns the in-place update of a Pod; undefined if the Pod has to be recreated. */
function inPlaceSpecOf(state: State, pod: Pod): UpdateSpec | undefined {
  const spec = changesOf(state, pod);
  return spec && state.permissions.updateTypeFor(pod, spec, 'InPlaceIfPossible') === 'InPlace' ? spec : undefined;
}

function changesOf({ set, settings, current, old, hash }: State, pod: Pod): UpdateSpec | undefined {
  if (set.spec.updateStrategy?.rollingUpdate?.rollingUpdateType !== 'InPlaceIfPossible') return undefined;
  const from = hasReadinessGate(pod, inPlaceUpdateReadyCondition) ? revisionOf(pod, old) : undefined;
  return updateSpecOf(from, current, { gates: settings.gates, revisionName: hash });
}

/**
 * Finds the revision of a Pod by hash: the label may hold a full revision name or a hash, and both end with the hash.
 */
function revisionOf(pod: Pod, revisions: readonly ControllerRevision[]): ControllerRevision | undefined {
  const hash = shortHash(revisionLabelOf(pod));
  return revisions.find(({ metadata }) => shortHash(metadata.name ?? '') === hash);
}
