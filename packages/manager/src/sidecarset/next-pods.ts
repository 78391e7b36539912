/** Selection of the Pods whose sidecars are updated next, and of the Pods that cannot be updated in place. */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet, SidecarSetUpdateStrategy } from '@kruise/api/kruise/sidecarset';
import type { UpdateScatterStrategy } from '@kruise/api/kruise/update-order';
import { selects } from '@kruise/api/meta/label-selector.validate';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { partitionReplicas, wholePercentValue } from '../workload/percent.ts';
import { byPriority } from '../workload/update-order/priority.ts';
import { scattered } from '../workload/update-order/scatter.ts';
import { differsInImagesAlone, isUpdated } from './marks.ts';
import type { Permissions } from './permission.ts';
import { isConsistent, isReady, sidecarNames } from './pod-state.ts';

export type NextPods = {
  readonly toUpdate: readonly Pod[];
  /** Pods that differ in more than images, which only a new Pod can have. */
  readonly notUpgradable: readonly Pod[];
};

/** Selects the next Pods. `open` filters out Pods that the API server currently refuses to update. */
export function nextPods(
  sidecarSet: SidecarSet,
  pods: readonly Pod[],
  { open }: Pick<Permissions, 'open'> = { open: (all) => all },
): NextPods {
  const { updateStrategy = {} } = sidecarSet.spec;
  const { selector } = updateStrategy;
  const outdated = pods.filter(
    (pod) => !isUpdated(pod, sidecarSet) && (!selector || selects(selector, pod.metadata.labels)),
  );
  const upgradable = outdated.filter((pod) => differsInImagesAlone(pod, sidecarSet));
  const candidates = upgradable.filter((pod) => !isBeingUpdated(pod, sidecarSet));
  const ordered = open(orderCandidates(candidates, updateStrategy, pods));
  return {
    toUpdate: ordered.slice(0, batchSize(sidecarSet, ordered, pods)),
    notUpgradable: outdated.filter((pod) => !differsInImagesAlone(pod, sidecarSet)),
  };
}

/** Reports whether an update is in progress: a sidecar is ready, but does not run the image in the spec yet. */
function isBeingUpdated(pod: Pod, sidecarSet: SidecarSet): boolean {
  const names = sidecarNames(sidecarSet);
  return (pod.status?.containerStatuses ?? []).some(
    ({ name, ready }) => ready && names.has(name) && !isConsistent(pod, sidecarSet, new Set([name])),
  );
}

function orderCandidates(
  candidates: readonly Pod[],
  { priorityStrategy, scatterStrategy }: SidecarSetUpdateStrategy,
  pods: readonly Pod[],
): readonly Pod[] {
  const ranked = byPriority(rankForDeletion(candidates, { usesDeletionCost: false }), priorityStrategy);
  return scatterStrategy ? scattered(ranked, expanded(scatterStrategy, pods), pods) : ranked;
}

/** Expands the value `*` to each value that occurs. */
function expanded(strategy: UpdateScatterStrategy, pods: readonly Pod[]): UpdateScatterStrategy {
  const terms = strategy.flatMap(({ key, value }) => {
    if (value !== '*') return [{ key, value }];
    const values = pods.map(({ metadata }) => metadata.labels?.[key]).filter((each) => each !== undefined);
    return [...new Set(values)].map((each) => ({ key, value: each }));
  });
  return terms.filter(
    ({ key, value }, index) => index === terms.findIndex((each) => each.key === key && each.value === value),
  );
}

/** Returns how many candidates are updated now. Pods that are already unavailable do not count. */
function batchSize(sidecarSet: SidecarSet, candidates: readonly Pod[], pods: readonly Pod[]): number {
  const { partition, maxUnavailable = 1 } = sidecarSet.spec.updateStrategy ?? {};
  const due = candidates.slice(0, Math.max(0, candidates.length - partitionReplicas(partition, pods.length)));
  const isDown = (pod: Pod) => !isConsistent(pod, sidecarSet) || !isReady(pod, sidecarSet);
  const unavailable = pods.filter((pod) => isUpdated(pod, sidecarSet) && isDown(pod)).length;
  let room = wholePercentValue(maxUnavailable, pods.length, Math.ceil) - unavailable;
  for (const [index, pod] of due.entries()) {
    if (!isReady(pod, sidecarSet)) continue;
    if (room <= 0) return index;
    room--;
  }
  return due.length;
}
