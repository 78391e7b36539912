/** The condition by which a Pod tells whether its sidecars can be updated where they are (sidecarset.md §13). */
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { sidecarSetUpgradableCondition } from '@kruise/api/kruise/well-known';
import type { Action } from '@kruise/client/actions';
import { findCondition, withCondition } from '@kruise/machinery/conditions';
import { isObject } from '@kruise/machinery/json-value';
import { stringifySorted } from '@kruise/values/go-json';
import type { Instant } from '@kruise/values/time';
import { patchPod } from '../../patch-pod.ts';
import { isUpdated, updateStatesOf } from '../../sidecarset/marks.ts';

/** Pods that were updated say that they could be, unless they were told for another SidecarSet that they cannot. */
export function tellUpgraded(sidecarSet: SidecarSet, pods: readonly Pod[], now: Instant): readonly Action[] {
  const { name = '' } = sidecarSet.metadata;
  return pods
    .filter((pod) => isUpdated(pod, sidecarSet) && updateStatesOf(pod)?.[name] !== undefined)
    .flatMap((pod) => tell(pod, name, true, now));
}

/** Pods that cannot be updated say so. */
export function tellNotUpgradable({ metadata }: SidecarSet, pods: readonly Pod[], now: Instant): readonly Action[] {
  return pods.flatMap((pod) => tell(pod, metadata.name ?? '', false, now));
}

function tell(pod: Pod, name: string, isUpgradable: boolean, now: Instant): readonly Action[] {
  const { conditions = [] } = pod.status ?? {};
  const told = { ...entriesOf(conditions), [name]: isUpgradable };
  const isWhole = Object.values(told).every((each) => each !== false);
  const condition: Omit<PodCondition, 'lastTransitionTime'> = {
    type: sidecarSetUpgradableCondition,
    status: isWhole ? 'True' : 'False',
    reason: isWhole ? 'AllSidecarsetUpgradable' : 'UpdateImmutableField',
    message: stringifySorted(told),
  };
  const after = withCondition(conditions, condition, now);
  if (after === conditions) return [];
  // The entries of others are in the same message, so none may have been added meanwhile.
  return [
    patchPod(pod, { ...pod, status: { ...pod.status, conditions: after } }, { subresource: 'status', atVersion: true }),
  ];
}

function entriesOf(conditions: readonly PodCondition[]): { readonly [sidecarSet: string]: unknown } {
  const message = findCondition(conditions, sidecarSetUpgradableCondition)?.message;
  if (!message) return {};
  try {
    const entries: unknown = JSON.parse(message);
    return isObject(entries) ? entries : {};
  } catch {
    // Whatever somebody else wrote there is written over.
    return {};
  }
}
