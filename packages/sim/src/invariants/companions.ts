/** Convergence of the other Kruise kinds: each has reached its desired state and reports it. */

import { job } from '@kruise/api/batch/job';
import { configMap } from '@kruise/api/core/configmap';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { advancedCronJob } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { resourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import {
  matchedWorkloadSpreadAnnotation,
  sidecarSetInjectedListAnnotation,
  subsetNameLabel,
} from '@kruise/api/kruise/well-known';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { scaleUp } from '@kruise/values/int-or-string';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';
import { activeByOwner } from './limits.ts';

/** Yields the deviations of the other Kruise kinds from their desired state, and wrong statuses. */
export function* companionErrors(view: View): Generator<string> {
  const active = view.list(pod).filter(isPodActive);
  yield* sidecars(view, active);
  yield* spreads(view, active);
  yield* budgets(view, active);
  yield* states(view, active);
  yield* united(view, active);
  yield* jobs(view);
  yield* distributions(view);
}

const labelledBy = (selector: Parameters<typeof selectorOf>[0], pods: readonly Pod[]) =>
  pods.filter(({ metadata }) => selectorOf(selector).matches(metadata.labels));

/** Pods that were created with a sidecar run it as the SidecarSet specifies, and are counted. */
function* sidecars(view: View, pods: readonly Pod[]): Generator<string> {
  for (const { metadata, spec, status } of view.list(sidecarSet)) {
    const { name = '' } = metadata;
    const injected = labelledBy(spec?.selector, pods).filter((each) =>
      (each.metadata.annotations?.[sidecarSetInjectedListAnnotation] ?? '').split(',').includes(name),
    );
    for (const wanted of spec?.containers ?? []) {
      for (const each of injected) {
        const found = each.spec?.containers.find((container) => container.name === wanted.name);
        if (!found) yield `Pod ${each.metadata.name} lacks the sidecar ${wanted.name}`;
        else if (found.image !== wanted.image) {
          yield `Pod ${each.metadata.name} has the sidecar ${found.image}, not ${wanted.image}`;
        }
      }
    }
    yield* counts(`SidecarSet ${name}`, injected.length, {
      matchedPods: status?.matchedPods,
      updatedPods: status?.updatedPods,
      readyPods: status?.readyPods,
    });
  }
}

/** No subset has more Pods than its limit, and the status counts them correctly. */
function* spreads(view: View, pods: readonly Pod[]): Generator<string> {
  for (const { metadata, spec, status } of view.list(workloadSpread)) {
    const target = view.list(cloneSet).find((each) => each.metadata.name === spec?.targetRef?.name);
    if (!target) continue;
    const own = pods.filter((each) => controllerOf(each)?.uid === target.metadata.uid);
    for (const subset of spec?.subsets ?? []) {
      const placed = own.filter((each) => subsetOf(each, metadata.name) === subset.name).length;
      const limit = subset.maxReplicas == null ? undefined : scaleUp(subset.maxReplicas, target.spec.replicas ?? 1);
      const what = `WorkloadSpread ${metadata.name}: ${subset.name}`;
      // A Pod that was created before the WorkloadSpread belongs to a subset by where it runs, not by an annotation.
      const isAnnotated = own.every((each) => subsetOf(each, metadata.name) !== undefined);
      const claimed = status?.subsetStatuses?.find(({ name }) => name === subset.name);
      if (isAnnotated) yield* counts(what, placed, { replicas: claimed?.replicas });
      if (isAnnotated && limit !== undefined && claimed && claimed.missingReplicas !== Math.max(0, limit - placed)) {
        yield `${what} has missingReplicas ${claimed.missingReplicas} of ${limit}, with ${placed} Pods`;
      }
    }
  }
}

function subsetOf({ metadata }: Pod, spread: string | undefined): string | undefined {
  const text = metadata.annotations?.[matchedWorkloadSpreadAnnotation];
  if (text === undefined) return undefined;
  const { name, subset } = JSON.parse(text) as { readonly name?: string; readonly subset?: string };
  return name === spread ? subset : undefined;
}

function* budgets(view: View, pods: readonly Pod[]): Generator<string> {
  for (const { metadata, spec, status } of view.list(podUnavailableBudget)) {
    const what = `PodUnavailableBudget ${metadata.name}`;
    const own = labelledBy(spec?.selector, pods);
    const available = own.filter(isPodReady).length;
    const { currentAvailable = 0, desiredAvailable = 0, unavailableAllowed = 0 } = status ?? {};
    yield* counts(what, available, { currentAvailable });
    const spare = Math.max(0, available - desiredAvailable);
    if (unavailableAllowed !== spare) yield `${what} has unavailableAllowed ${unavailableAllowed}, expected ${spare}`;
  }
}

/** A PersistentPodState records the node of every ready Pod. */
function* states(view: View, pods: readonly Pod[]): Generator<string> {
  for (const { metadata, spec, status } of view.list(persistentPodState)) {
    for (const each of pods) {
      const owner = controllerOf(each);
      if (owner?.name !== spec?.targetRef?.name || owner?.kind !== spec?.targetRef?.kind) continue;
      const { name = '' } = each.metadata;
      const found = status?.podStates?.[name]?.nodeName;
      if (isPodReady(each) && found !== each.spec?.nodeName) {
        yield `PersistentPodState ${metadata.name} has ${name} on ${found}, and it runs on ${each.spec?.nodeName}`;
      }
    }
  }
}

function* united(view: View, pods: readonly Pod[]): Generator<string> {
  for (const { metadata, spec, status } of view.list(unitedDeployment)) {
    const what = `UnitedDeployment ${metadata.name}`;
    const wanted = spec?.replicas ?? 1;
    const own = labelledBy(spec?.selector, pods);
    if (own.length !== wanted) yield `${what} wants ${wanted} Pods and has ${own.length}`;
    yield* counts(what, wanted, { replicas: status?.replicas, readyReplicas: status?.readyReplicas });
    if (status?.observedGeneration !== metadata.generation) yield `${what} was not observed`;
    for (const subset of spec?.topology?.subsets ?? []) {
      const there = own.filter((each) => each.metadata.labels?.[subsetNameLabel] === subset.name).length;
      if (typeof subset.replicas === 'number' && there !== Math.min(wanted, subset.replicas)) {
        yield `${what} wants ${subset.replicas} Pods in ${subset.name} and has ${there}`;
      }
    }
  }
}

function* jobs(view: View): Generator<string> {
  const pods = view.list(pod);
  for (const { metadata, status } of view.list(broadcastJob)) {
    const what = `BroadcastJob ${metadata.name}`;
    const own = pods.filter((each) => controllerOf(each)?.uid === metadata.uid);
    const served = new Set(own.filter((each) => each.status?.phase === 'Succeeded').map((each) => each.spec?.nodeName));
    if (status?.completionTime == null) yield `${what} is not complete`;
    // A job completes without the nodes that were unreachable at the time and had lost their Pods.
    if (status?.phase === 'completed') yield* counts(what, status.desired ?? 0, { nodes: served.size });
  }
  for (const { metadata, status } of view.list(advancedCronJob)) {
    if (status?.active?.length) yield `AdvancedCronJob ${metadata.name} reports ${status.active.length} active Jobs`;
  }
  for (const { metadata, status } of view.list(imagePullJob)) {
    // A workload that pre-downloads images does not wait for them, and not every simulation has a kruise-daemon.
    if (metadata.ownerReferences?.length) continue;
    const { desired = 0, succeeded = 0, completionTime } = status ?? {};
    if (completionTime == null) yield `ImagePullJob ${metadata.name} is not complete`;
    yield* counts(`ImagePullJob ${metadata.name}`, desired, { succeeded });
  }
  for (const { metadata, status } of view.list(containerRecreateRequest)) {
    if (status?.phase !== 'Completed') yield `ContainerRecreateRequest ${metadata.name} is ${status?.phase}`;
  }
}

function* distributions(view: View): Generator<string> {
  for (const { metadata, spec, status } of view.list(resourceDistribution)) {
    const what = `ResourceDistribution ${metadata.name}`;
    const resource = spec?.resource as { readonly metadata: { readonly name: string }; readonly data: object };
    const targets = spec?.targets?.includedNamespaces?.list ?? [];
    for (const { name } of targets) {
      const copy = view
        .list(configMap)
        .find((each) => each.metadata.namespace === name && each.metadata.name === resource.metadata.name);
      if (JSON.stringify(copy?.data) !== JSON.stringify(resource.data)) yield `${what}: ${name} has another copy`;
    }
    yield* counts(what, targets.length, { desired: status?.desired, succeeded: status?.succeeded });
  }
}

function* counts(
  what: string,
  real: number,
  claimed: { readonly [name: string]: number | undefined },
): Generator<string> {
  for (const [name, value = 0] of Object.entries(claimed)) {
    if (value !== real) yield `${what} has ${name} ${value}, expected ${real}`;
  }
}

export const broadcastJobsRespectParallelism: Invariant = {
  name: 'a BroadcastJob has at most one Pod per node and respects parallelism',
  observe: () => (view) => {
    const active = activeByOwner(view.list(pod));
    for (const { metadata, spec } of view.list(broadcastJob)) {
      const own = active.get(metadata.uid ?? '') ?? [];
      const limit = scaleUp(spec?.parallelism ?? own.length, view.list(node).length);
      if (own.length > limit) return `${metadata.name} runs ${own.length} Pods, and may run ${limit}`;
      const nodes = own.map((each) => each.spec?.nodeName).filter((name) => name !== undefined);
      if (new Set(nodes).size < nodes.length) return `${metadata.name} has two Pods on a node`;
    }
    return undefined;
  },
};

export const forbidPolicyIsRespected: Invariant = {
  name: 'an AdvancedCronJob with concurrencyPolicy Forbid has at most one active Job',
  observe: () => (view) => {
    for (const { metadata, spec } of view.list(advancedCronJob)) {
      if (spec?.concurrencyPolicy !== 'Forbid') continue;
      const own = view.list(job).filter((each) => controllerOf(each)?.uid === metadata.uid);
      const working = own.filter(({ status }) => !status?.conditions?.some(({ status: is }) => is === 'True'));
      if (working.length > 1) return `${metadata.name} has ${working.length}`;
    }
    return undefined;
  },
};
