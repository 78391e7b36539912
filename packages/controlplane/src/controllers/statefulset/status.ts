import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { StatefulSet, StatefulSetStatus } from '@kruise/api/apps/statefulset';
import type { Pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import { nameOfRevision, revisionLabelOf } from '@kruise/machinery/controller-revision';
import { isPodAvailable, isPodRunningAndReady } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';

/** Inputs of the StatefulSet status. */
export type Report = {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly collisionCount: number;
  /** Pod that is about to be deleted for an update. */
  readonly updateVictim: Pod | undefined;
};

/** Returns the replica counts and the current revision, which becomes the update revision once every Pod is updated. */
export function statusOf(report: Report, now: Instant): StatefulSetStatus {
  const { set, pods, current, update, updateVictim } = report;
  const { replicas: wanted = 1, minReadySeconds = 0, updateStrategy } = set.spec ?? {};
  const ready = pods.filter(isPodRunningAndReady);
  const living = pods.filter((pod) => !isBeingDeleted(pod) && pod !== updateVictim);
  const countOf = (revision: ControllerRevision) =>
    living.filter((pod) => revisionLabelOf(pod) === nameOfRevision(revision)).length;
  const updatedReplicas = countOf(update);
  const isComplete =
    updateStrategy?.type === 'RollingUpdate' &&
    [updatedReplicas, ready.length, pods.length].every((count) => count === wanted);
  const { generation } = set.metadata;
  const conditions = set.status?.conditions;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas: pods.length,
    readyReplicas: ready.length,
    currentReplicas: isComplete ? updatedReplicas : countOf(current),
    updatedReplicas,
    currentRevision: nameOfRevision(isComplete ? update : current),
    updateRevision: nameOfRevision(update),
    collisionCount: report.collisionCount,
    ...(conditions ? { conditions } : {}),
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
  };
}
