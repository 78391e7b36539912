/** Pod condition that reports whether the sidecars of a Pod can be updated in place. */
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { sidecarSetUpgradableCondition } from '@kruise/api/kruise/well-known';
import type { Action } from '@kruise/client/actions';
import { findCondition, withCondition } from '@kruise/machinery/conditions';
import { isObject } from '@kruise/machinery/json-value';
import { stringifySorted } from '@kruise/values/go-json';
import type { Instant } from '@kruise/values/time';
import { patchPod } from '../workload/patch-pod.ts';
import { isUpdated, updateStatesOf } from './marks.ts';

/** Sets the condition of updated Pods to upgradable, unless another SidecarSet cannot update them. */
export function markUpgraded(sidecarSet: SidecarSet, pods: readonly Pod[], now: Instant): readonly Action[] {
  const { name = '' } = sidecarSet.metadata;
  return pods
    .filter((pod) => isUpdated(pod, sidecarSet) && updateStatesOf(pod)?.[name] !== undefined)
    .flatMap((pod) => setUpgradable(pod, name, true, now));
}

/** Sets the condition of Pods that cannot be updated in place. */
export function markNotUpgradable({ metadata }: SidecarSet, pods: readonly Pod[], now: Instant): readonly Action[] {
  return pods.flatMap((pod) => setUpgradable(pod, metadata.name ?? '', false, now));
}

function setUpgradable(pod: Pod, name: string, isUpgradable: boolean, now: Instant): readonly Action[] {
  const { conditions = [] } = pod.status ?? {};
  const entries = { ...entriesOf(conditions), [name]: isUpgradable };
  const isWhole = Object.values(entries).every((each) => each !== false);
  const condition: Omit<PodCondition, 'lastTransitionTime'> = {
    type: sidecarSetUpgradableCondition,
    status: isWhole ? 'True' : 'False',
    reason: isWhole ? 'AllSidecarsetUpgradable' : 'UpdateImmutableField',
    message: stringifySorted(entries),
  };
  const after = withCondition(conditions, condition, now);
  if (after === conditions) return [];
  // The message also holds the entries of other SidecarSets, so a concurrent change must result in a conflict.
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
    // An invalid message of another writer is replaced.
    return {};
  }
}
