/**
 * Convergence: after a while without faults, every object has reached its desired state and reports it in its status.
 */
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { node } from '@kruise/api/core/node';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { advancedCronJob } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import type { View } from '../view.ts';
import { companionErrors } from './companions.ts';
import { ordinalsOf } from './kruise.ts';
import { leftovers } from './leftovers.ts';

/** Yields the deviations from the desired state. */
export function* convergenceErrors(view: View): Generator<string> {
  const pods = view.list(pod);
  const owners = new Set<string>();
  for (const kind of [
    replicaSet,
    statefulSet,
    daemonSet,
    job,
    cloneSet,
    deployment,
    advancedStatefulSet,
    advancedDaemonSet,
    unitedDeployment,
    broadcastJob,
    advancedCronJob,
    sidecarSet,
  ]) {
    for (const { metadata } of view.list(kind)) {
      owners.add(metadata.uid ?? '');
      if (metadata.deletionTimestamp) yield `${kind.kind} ${metadata.name} is still being deleted`;
    }
  }
  for (const each of view.list(node)) {
    if (!isConditionTrue(each.status?.conditions, 'Ready')) yield `${each.metadata.name} is not ready`;
  }
  for (const each of pods) {
    const { name, deletionTimestamp } = each.metadata;
    if (deletionTimestamp) yield `Pod ${name} is still being deleted`;
    const owner = controllerOf(each);
    if (owner && !owners.has(owner.uid)) yield `Pod ${name} belongs to ${owner.kind} ${owner.name}, which is deleted`;
  }
  const ownedBy = (uid: string | undefined) => pods.filter((each) => controllerOf(each)?.uid === uid);
  const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image;

  for (const each of view.list(deployment)) {
    const { spec, status, metadata } = each;
    const wanted = spec?.replicas ?? 1;
    const sets = view.list(replicaSet).filter((set) => controllerOf(set)?.uid === metadata.uid);
    const own = sets.flatMap((set) => ownedBy(set.metadata.uid)).filter(isPodActive);
    yield* comparePods(`Deployment ${metadata.name}`, wanted, own, imageOf, spec?.template.spec?.containers[0]?.image);
    yield* compareCounts(`Deployment ${metadata.name}`, wanted, {
      replicas: status?.replicas,
      readyReplicas: status?.readyReplicas,
      updatedReplicas: status?.updatedReplicas,
      availableReplicas: status?.availableReplicas,
    });
    for (const set of sets) {
      const { replicas, readyReplicas, availableReplicas, fullyLabeledReplicas } = set.status ?? {};
      yield* compareCounts(`ReplicaSet ${set.metadata.name}`, ownedBy(set.metadata.uid).filter(isPodActive).length, {
        replicas,
        readyReplicas,
        availableReplicas,
        fullyLabeledReplicas,
      });
    }
    if (status?.observedGeneration !== metadata.generation) yield `Deployment ${metadata.name} was not observed`;
  }
  for (const { spec, status, metadata } of view.list(statefulSet)) {
    const wanted = spec?.replicas ?? 1;
    const own = ownedBy(metadata.uid).filter(isPodActive);
    yield* comparePods(`StatefulSet ${metadata.name}`, wanted, own, imageOf, spec?.template.spec?.containers[0]?.image);
    const { replicas, readyReplicas, updatedReplicas, availableReplicas } = status ?? {};
    yield* compareCounts(`StatefulSet ${metadata.name}`, wanted, {
      replicas,
      readyReplicas,
      updatedReplicas,
      availableReplicas,
    });
    if (status?.observedGeneration !== metadata.generation) yield `StatefulSet ${metadata.name} was not observed`;
  }
  for (const { spec, status, metadata } of view.list(cloneSet)) {
    const what = `CloneSet ${metadata.name}`;
    const wanted = spec.replicas ?? 1;
    const own = ownedBy(metadata.uid).filter(isPodActive);
    yield* comparePods(what, wanted, own);
    const { replicas, readyReplicas, availableReplicas } = status ?? {};
    yield* compareCounts(what, wanted, { replicas, readyReplicas, availableReplicas });
    if (status?.observedGeneration !== metadata.generation) yield `${what} was not observed`;
    const kept = scaleUp(spec.updateStrategy?.rollingUpdate?.partition ?? 0, wanted);
    const image = spec.template.spec?.containers[0]?.image;
    const updated = own.filter((each) => imageOf(each) === image).length;
    if (updated < wanted - kept) yield `${what} must update ${wanted - kept} Pods and has updated ${updated}`;
    const isHalfDone = status?.currentRevision !== status?.updateRevision;
    const newest = countOf(own, status?.updateRevision);
    if (isHalfDone && newest > Math.max(0, wanted - kept))
      yield `${what} must keep ${kept} Pods and has updated ${newest}`;
    const { updatedReplicas, updatedReadyReplicas, updatedAvailableReplicas } = status ?? {};
    yield* compareCounts(what, newest, { updatedReplicas, updatedReadyReplicas, updatedAvailableReplicas });
  }
  for (const { spec, status, metadata } of view.list(advancedStatefulSet)) {
    const what = `Advanced StatefulSet ${metadata.name}`;
    const own = ownedBy(metadata.uid).filter(isPodActive);
    const names = ordinalsOf({ spec }).map((ordinal) => `${metadata.name}-${ordinal}`);
    yield* comparePods(what, names.length, own);
    for (const name of names) {
      if (!own.some((each) => each.metadata.name === name)) yield `${what} lacks ${name}`;
    }
    const { replicas, readyReplicas, availableReplicas, updatedReplicas } = status ?? {};
    yield* compareCounts(what, names.length, { replicas, readyReplicas, availableReplicas });
    yield* compareCounts(what, countOf(own, status?.updateRevision), { updatedReplicas });
    if (status?.observedGeneration !== metadata.generation) yield `${what} was not observed`;
    const due = names.length - (spec.updateStrategy?.rollingUpdate?.partition ?? 0);
    yield* progress(what, due, own.map(imageOf), spec.template.spec?.containers[0]?.image);
  }
  for (const { spec, status, metadata } of view.list(advancedDaemonSet)) {
    const what = `Advanced DaemonSet ${metadata.name}`;
    const wanted = view.list(node).length;
    const own = ownedBy(metadata.uid).filter(isPodActive);
    yield* comparePods(what, wanted, own);
    const { desiredNumberScheduled, numberAvailable, numberReady, updatedNumberScheduled } = status ?? {};
    yield* compareCounts(what, wanted, { desiredNumberScheduled, numberAvailable, numberReady });
    yield* compareCounts(what, countOf(own, status?.updateRevision), { updatedNumberScheduled });
    if (status?.observedGeneration !== metadata.generation) yield `${what} was not observed`;
    const due = wanted - scaleDown(spec.updateStrategy?.rollingUpdate?.partition ?? 0, wanted);
    yield* progress(what, due, own.map(imageOf), spec.template.spec?.containers[0]?.image);
  }
  for (const { spec, status, metadata } of view.list(daemonSet)) {
    const wanted = view.list(node).length;
    const own = ownedBy(metadata.uid).filter(isPodActive);
    yield* comparePods(`DaemonSet ${metadata.name}`, wanted, own, imageOf, spec?.template.spec?.containers[0]?.image);
    yield* compareCounts(`DaemonSet ${metadata.name}`, wanted, {
      desiredNumberScheduled: status?.desiredNumberScheduled,
      currentNumberScheduled: status?.currentNumberScheduled,
      numberReady: status?.numberReady,
      numberAvailable: status?.numberAvailable,
      updatedNumberScheduled: status?.updatedNumberScheduled,
    });
    if (status?.observedGeneration !== metadata.generation) yield `DaemonSet ${metadata.name} was not observed`;
  }
  for (const { metadata, status } of view.list(podDisruptionBudget)) {
    const own = pods.filter((each) => each.metadata.labels?.['app'] === metadata.name && isPodActive(each));
    const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0 } = status ?? {};
    const ready = own.filter(isPodReady).length;
    const spare = Math.max(0, ready - desiredHealthy);
    if (currentHealthy !== ready)
      yield `budget ${metadata.name} has currentHealthy ${currentHealthy}, expected ${ready}`;
    if (disruptionsAllowed !== spare)
      yield `budget ${metadata.name} has disruptionsAllowed ${disruptionsAllowed}, expected ${spare}`;
  }
  yield* leftovers(view);
  yield* companionErrors(view);
  for (const kind of [replicaSet, controllerRevision, persistentVolumeClaim]) {
    for (const each of view.list(kind)) {
      const owner = controllerOf(each);
      if (owner && !owners.has(owner.uid)) yield `${kind.kind} ${each.metadata.name} is left behind by ${owner.name}`;
    }
  }
  for (const { metadata, status } of pods) {
    const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    if (isOver && metadata.finalizers?.length)
      yield `Pod ${metadata.name} is finished and has the finalizers ${metadata.finalizers.join()}`;
  }
  for (const { spec, status, metadata } of view.list(job)) {
    if (!isConditionTrue(status?.conditions, 'Complete')) yield `Job ${metadata.name} is not complete`;
    yield* compareCounts(`Job ${metadata.name}`, 0, { active: status?.active, ready: status?.ready });
    if (status?.succeeded !== spec?.completions) {
      yield `Job ${metadata.name} wants ${spec?.completions} successes and counts ${status?.succeeded}`;
    }
  }
}

/** Counts the Pods of a revision, whether their label has its name or only its hash. */
function countOf(pods: readonly Pod[], revision: string | undefined): number {
  const hash = revision?.split('-').at(-1);
  return pods.filter(({ metadata }) => metadata.labels?.[podRevisionLabel]?.split('-').at(-1) === hash).length;
}

/** Yields an error if fewer Pods are updated than the partition requires. */
function* progress(
  what: string,
  due: number,
  found: readonly (string | undefined)[],
  image: string | undefined,
): Generator<string> {
  const updated = found.filter((each) => each === image).length;
  if (updated < due) yield `${what} must update ${due} Pods and has updated ${updated}`;
}

function* comparePods(
  what: string,
  wanted: number,
  pods: readonly Pod[],
  imageOf?: (pod: Pod) => string | undefined,
  image?: string,
): Generator<string> {
  if (pods.length !== wanted) yield `${what} wants ${wanted} Pods and has ${pods.length}`;
  for (const each of pods) {
    if (!isPodReady(each)) yield `${what}: Pod ${each.metadata.name} is not ready`;
    const found = imageOf?.(each);
    if (found !== image) yield `${what}: Pod ${each.metadata.name} runs ${found}, not ${image}`;
  }
}

function* compareCounts(
  what: string,
  wanted: number,
  reported: { readonly [name: string]: number | undefined },
): Generator<string> {
  for (const [name, value = 0] of Object.entries(reported)) {
    if (value !== wanted) yield `${what} has ${name} ${value}, expected ${wanted}`;
  }
}
