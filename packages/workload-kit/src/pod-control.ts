/** Creation and deletion of the Pods of a workload, with events on the workload. */
import type { Pod } from '@kruise/api/core/pod';
import {
  type CreateAction,
  create,
  type RecordAction,
  type RemoveAction,
  record,
  remove,
  withOutcomeEvents,
} from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';

/** Creates a Pod and emits an event on its workload. */
export function createPod(owner: KubernetesObject, pod: Pod): CreateAction {
  return withOutcomeEvents(create(pod), {
    about: owner,
    done: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
    failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
  });
}

/** Deletes a Pod and emits an event on its workload. */
export function deletePod(owner: KubernetesObject, pod: Pod): RemoveAction {
  return withOutcomeEvents(remove(pod), {
    about: owner,
    done: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
    failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
  });
}

/** Emits an event on a workload with an empty selector, which would select the Pods of all workloads. */
export function recordSelectingAll(owner: KubernetesObject, noun: string): RecordAction {
  const message = `This ${noun} is selecting all pods. A non-empty selector is required.`;
  return record({ about: owner, type: 'Warning', reason: 'SelectingAll', message });
}
