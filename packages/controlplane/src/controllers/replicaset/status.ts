import type { ReplicaSet, ReplicaSetStatus } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { isNamespaceTerminating, type Outcome } from '@kruise/client/execute';
import { findCondition, withCondition, withoutCondition } from '@kruise/machinery/conditions';
import { selectorOfLabels } from '@kruise/machinery/label-selector';
import { isPodAvailable, isPodReady } from '@kruise/machinery/pods';
import { errorText } from '@kruise/values/error-text';
import type { Instant } from '@kruise/values/time';

/** Returns the status of the Pods as counted before scaling. */
export function statusOf(
  set: ReplicaSet,
  pods: readonly Pod[],
  failures: Outcome['failures'],
  now: Instant,
): ReplicaSetStatus {
  const { template, minReadySeconds = 0 } = set.spec ?? {};
  const labels = selectorOfLabels(template?.metadata?.labels);
  const ready = pods.filter(isPodReady);
  const conditions = conditionsOf(set, failures, now);
  const { conditions: _, ...others } = set.status ?? {};
  return {
    ...others,
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter(({ metadata }) => labels.matches(metadata.labels)).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    ...(set.metadata.generation === undefined ? {} : { observedGeneration: set.metadata.generation }),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

type Conditions = NonNullable<ReplicaSetStatus['conditions']>;

/** Sets the ReplicaFailure condition. The first cause is kept until the failure is resolved. */
function conditionsOf({ status }: ReplicaSet, failures: Outcome['failures'], now: Instant): Conditions {
  const failure = failures.find(({ error }) => !isNamespaceTerminating(error));
  if (!failure) return withoutCondition(status?.conditions, 'ReplicaFailure');
  const present = status?.conditions ?? [];
  if (findCondition(present, 'ReplicaFailure')) return present;
  const reason = failure.action.type === 'create' ? 'FailedCreate' : 'FailedDelete';
  const message = errorText(failure.error);
  return withCondition(present, { type: 'ReplicaFailure', status: 'True', reason, message }, now);
}
