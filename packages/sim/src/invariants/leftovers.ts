/**
 * Objects that Kruise workloads must not leave behind after convergence: Pods with pending hooks, unused PVCs and old
 * revisions.
 */
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { cloneSetInstanceIdLabel, lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { shortHash } from '@kruise/manager/workload/revision/pod-revision';
import type { View } from '../view.ts';
import { type KruiseWorkload, kruiseWorkloads } from './kruise.ts';

export function* leftovers(view: View): Generator<string> {
  const pods = view.list(pod).filter(isPodActive);
  const ofKruise = new Set(kruiseWorkloads(view).map(({ metadata }) => metadata.uid));
  for (const each of pods) {
    if (ofKruise.has(controllerOf(each)?.uid)) yield* waiting(each);
  }
  for (const workload of kruiseWorkloads(view)) yield* history(view, workload, pods);
  yield* claims(view, pods);
}

/** Yields closed readiness gates and pending lifecycle hooks. */
function* waiting({ metadata, spec, status }: Pod): Generator<string> {
  for (const { conditionType } of spec?.readinessGates ?? []) {
    if (!isConditionTrue(status?.conditions, conditionType))
      yield `Pod ${metadata.name} has the closed readiness gate ${conditionType}`;
  }
  const state = metadata.labels?.[lifecycleStateLabel] ?? 'Normal';
  if (state !== 'Normal') yield `Pod ${metadata.name} is left in lifecycle state ${state}`;
}

/** Yields an error if more unused revisions exist than revisionHistoryLimit allows. */
function* history(view: View, workload: KruiseWorkload, pods: readonly Pod[]): Generator<string> {
  const { metadata, spec, status = {} } = workload;
  const own = pods.filter((each) => controllerOf(each)?.uid === metadata.uid);
  const { currentRevision, updateRevision } = status as { readonly [name: string]: string | undefined };
  const used = [currentRevision, updateRevision, ...own.map((each) => each.metadata.labels?.[podRevisionLabel])];
  const inUse = new Set(used.map((name) => shortHash(name ?? '')));
  const idle = view
    .list(controllerRevision)
    .filter((each) => controllerOf(each)?.uid === metadata.uid && !inUse.has(shortHash(each.metadata.name ?? '')));
  const limit = spec.revisionHistoryLimit ?? 10;
  if (idle.length > limit) yield `${workload.kind} ${metadata.name} keeps ${idle.length} old revisions, limit ${limit}`;
}

/** Yields missing and terminating PVCs, and PVCs of CloneSets that no Pod uses and that are not reused. */
function* claims(view: View, pods: readonly Pod[]): Generator<string> {
  const present = view.list(persistentVolumeClaim);
  const names = new Set(present.map(({ metadata }) => metadata.name));
  for (const { metadata, spec } of pods) {
    for (const { persistentVolumeClaim: claimed } of spec?.volumes ?? []) {
      if (claimed && !names.has(claimed.claimName)) yield `Pod ${metadata.name} lacks its PVC ${claimed.claimName}`;
    }
  }
  for (const { metadata } of present) {
    if (metadata.deletionTimestamp != null) yield `PVC ${metadata.name} is still terminating`;
  }
  for (const { metadata, spec } of view.list(cloneSet)) {
    if (spec.scaleStrategy?.enablePVCReuse) continue;
    const ids = new Set(pods.map(instanceOf));
    const idle = present.find((each) => controllerOf(each)?.uid === metadata.uid && !ids.has(instanceOf(each)));
    if (idle) yield `PVC ${idle.metadata.name} belongs to no Pod`;
  }
}

function instanceOf({ metadata }: Pod | PersistentVolumeClaim): string | undefined {
  return metadata.labels?.[cloneSetInstanceIdLabel];
}
