/**
 * Checks whether the API server lets Pods be updated in place, before a Pod is drained. Admission policies, webhooks,
 * quota and the rules of `pods/resize`, which differ between releases, are known only to the server: the first Pod of a
 * revision is preceded by a dry run of all writes of its update. The answer applies to all similar Pods, so that a
 * rollout of thousands of Pods costs one or two additional requests.
 */
import type { Pod } from '@kruise/api/core/pod';
import {
  type Action,
  afterDryRun,
  create,
  type DryRun,
  type ObjectAction,
  type PatchAction,
} from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import {
  isRefused,
  isRefusedByValidation,
  type Refusal,
  type RefusedWrites,
  refusalIdOf,
} from '@kruise/client/refusals';
import { revisionLabelOf } from '@kruise/machinery/controller-revision';
import { errorText } from '@kruise/values/error-text';
import type { ManagerSettings } from '../../configuration/settings.ts';
import { budgetNameOf } from '../../podunavailablebudget/pod-unavailable-budget.ts';
import { patchPod } from '../patch-pod.ts';
import type { RevisionLabels } from '../revision/pod-revision.ts';
import { previewFirstBatch } from './batch.ts';
import type { UpdateSpec } from './state.ts';

/** Inputs of the writes of an update besides the Pod. */
type RevisionContext = { readonly settings: ManagerSettings; readonly revisionLabels: RevisionLabels };

export type PodUpdatePolicy = 'ReCreate' | 'InPlaceIfPossible' | 'InPlaceOnly';

/** The update type for a Pod at this time, or the reason why it cannot be updated for a while. */
export type UpdateType = 'InPlace' | 'ReCreate' | { readonly fault: string };

/** Pods that are deleted in order to be recreated. */
export type Recreation = {
  /** The workload, on which a refusal is reported. */
  readonly workload: KubernetesObject;
  readonly revision: string;
  /** A Pod as it will be created. */
  readonly pod: () => Pod;
};

export type Permissions = {
  /** Reports whether any write was refused. */
  hasRefusals(): boolean;
  /** Reports whether a write is in backoff: it will not be sent now. */
  isHeld(write: ObjectAction): boolean;
  /** Returns the way to bring a Pod to the revision, for a Pod that could be updated in place by this spec. */
  updateTypeFor(pod: Pod, spec: UpdateSpec, policy: PodUpdatePolicy): UpdateType;
  /**
   * Reports whether this Pod was refused, though other Pods may not have been. Such a Pod is updated after the others.
   */
  wasRefused(pod: Pod, spec: UpdateSpec): boolean;
  /** Returns the writes of an update in place, whose refusal is recorded for this Pod. */
  withRefusalIds(writes: readonly PatchAction[], pod: Pod, spec: UpdateSpec): readonly PatchAction[];
  /** Returns the writes that drain a Pod, after a dry run of its update if none for Pods like this one was answered. */
  afterDryRun(
    actions: readonly PatchAction[],
    pod: Pod,
    spec: UpdateSpec,
    context: RevisionContext,
  ): readonly PatchAction[];
  /** Returns the refusal of the next batch of an update that has begun. */
  batchRefusal(pod: Pod): Refusal | undefined;
  /** Returns the reason why Pods cannot be recreated at a revision for a while. */
  recreationFault(revision: string): string | undefined;
  /** Returns the deletions of Pods to recreate, after a dry run of the creation if none was answered yet. */
  beforeRecreation(actions: readonly Action[], recreation: Recreation): readonly Action[];
};

/** Derives permissions from the answers so far. Made for one decision, which sends each dry run once. */
export function permissionsBy(refused: RefusedWrites): Permissions {
  const asked = new Set<string>();
  // A refusal after an accepted dry run needs another dry run.
  const isKnown = (id: string) => refused.isDryRunAccepted(id) && refused.find(id) === undefined;
  /** Returns the dry run of one action, for whose answer all later actions wait. */
  const dryRunOf = (id: string, writes: () => readonly ObjectAction[]): DryRun => {
    if (asked.has(id)) return { id, writes: [] };
    asked.add(id);
    return { id, writes: writes() };
  };
  /** Returns the refusal that holds a Pod back for longest. */
  const refusalOf = (pod: Pod, spec: UpdateSpec) => {
    if (!refused.hasAny()) return undefined;
    const alike = alikeId(pod, spec);
    const found = [refused.find(alike), refused.find(ownId(alike, pod))].filter((each) => each !== undefined);
    return found.sort((a, b) => b.retryInMs - a.retryInMs)[0];
  };

  return {
    hasRefusals: () => refused.hasAny(),
    isHeld: (write) => refused.hasAny() && (refused.find(refusalIdOf(write))?.retryInMs ?? 0) > 0,
    updateTypeFor(pod, spec, policy) {
      const refusal = refusalOf(pod, spec);
      if (!refusal) return 'InPlace';
      if (policy === 'InPlaceIfPossible' && isRefused(refusal.error)) {
        const recreation = refused.find(recreationId(spec.revision));
        const isHeld = recreation !== undefined && recreation.retryInMs > 0;
        // An invalid update stays invalid. Policies and webhooks may change, so in-place update and recreation are
        // tried alternately.
        const isNext = recreation === undefined || recreation.attempts < refusal.attempts;
        if (!isHeld && (isNext || isRefusedByValidation(refusal.error))) return 'ReCreate';
        if (isHeld && isRefusedByValidation(refusal.error)) return { fault: errorText(recreation.error) };
      }
      return refusal.retryInMs > 0 ? { fault: errorText(refusal.error) } : 'InPlace';
    },
    wasRefused: (pod, spec) => refused.hasAny() && refused.find(ownId(alikeId(pod, spec), pod)) !== undefined,
    withRefusalIds(writes, pod, spec) {
      const refusalId = ownId(alikeId(pod, spec), pod);
      return writes.map((write) => ({ ...write, refusalId }));
    },
    afterDryRun(actions, pod, spec, context) {
      const [first, ...rest] = actions;
      if (!first) return actions;
      const alike = alikeId(pod, spec);
      const own = ownId(alike, pod);
      // The decision of a budget differs between Pods, and so does a refusal of this Pod while others may be updated.
      const isAlone = budgetNameOf(pod) !== undefined || (isKnown(alike) && refused.find(own) !== undefined);
      const id = isAlone ? own : alike;
      if (!isAlone && isKnown(id)) return actions;
      const dryRun = dryRunOf(id, () => writesOf(pod, spec, context));
      return [afterDryRun(first, { ...dryRun, ownId: own }), ...rest];
    },
    batchRefusal: (pod) => (refused.hasAny() ? refused.find(batchId(pod)) : undefined),
    recreationFault(revision) {
      const refusal = refused.find(recreationId(revision));
      return refusal && refusal.retryInMs > 0 ? errorText(refusal.error) : undefined;
    },
    beforeRecreation(actions, { workload, revision, pod }) {
      const [first, ...rest] = actions;
      const id = recreationId(revision);
      if (!first || !('object' in first) || isKnown(id)) return actions;
      const message = `failed to recreate pod {name} for update(revision ${revision}): {error}`;
      const outcomeEvents = { about: workload, failed: { reason: 'FailedUpdatePodReCreate', message } };
      const dryRun = dryRunOf(id, () => [create(pod())]);
      return [afterDryRun(first, { ...dryRun, outcomeEvents }), ...rest];
    },
  };
}

/**
 * Returns the first writes of an in-place update. Later batches get no dry run: an update whose first batch never
 * becomes ready does not reach them, and users may have ordered their containers for this reason.
 */
function writesOf(pod: Pod, spec: UpdateSpec, { settings, revisionLabels }: RevisionContext): readonly PatchAction[] {
  const labels = { ...pod.metadata.labels, ...revisionLabels.labelsOf(spec.revision) };
  const relabelled: Pod = { ...pod, metadata: { ...pod.metadata, labels } };
  const { pod: changed, resize } = previewFirstBatch(relabelled, spec, settings);
  return [...(resize ? [resize] : []), patchPod(pod, changed)];
}

/**
 * Returns the id of a dry run. Pods of one revision share it, unless they are resized: then their current resources
 * count, too.
 */
function alikeId(pod: Pod, spec: UpdateSpec): string {
  const id = `in-place update of ${revisionLabelOf(pod)} to ${spec.revision}`;
  if (Object.keys(spec.resources).length === 0) return id;
  const containers = (pod.spec?.containers ?? []).map(({ name, resources, resizePolicy }) => {
    const status = pod.status?.containerStatuses?.find((each) => each.name === name);
    return { name, resources, resizePolicy, isResizable: status?.resources !== undefined };
  });
  return `${id} ${JSON.stringify(containers)}`;
}

function ownId(alike: string, { metadata }: Pod): string {
  return `${alike}: ${metadata.name} ${metadata.uid}`;
}

/** Returns the id under which a batch after the first, or after the grace period, is recorded. */
export function batchId({ metadata }: Pod): string {
  return `next batch of the in-place update of ${metadata.name} ${metadata.uid}`;
}

function recreationId(revision: string): string {
  return `recreation at ${revision}`;
}
