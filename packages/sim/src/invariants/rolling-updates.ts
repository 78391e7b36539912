/**
 * DaemonSets and ordered StatefulSets of Kubernetes update Pods by deleting them, and delete the next one only when the
 * previous one is ready again. Pods that are down for other reasons do not block the update: only Pods that the
 * controller deleted are counted.
 */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { type StatefulSet, statefulSet } from '@kruise/api/apps/statefulset';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import type { View } from '../view.ts';
import type { ObservedRequest } from '../world.ts';
import type { Invariant } from './invariant.ts';
import { effectiveSpecs, ordinalOf } from './kruise.ts';
import { maxStalenessMs } from './staleness.ts';
import { trackUnreachableNodes } from './unreachable-nodes.ts';

const workloadControllers: readonly string[] = ['daemon-set-controller', 'statefulset-controller'].map(
  (name) => `system:serviceaccount:kube-system:${name}`,
);

export const rollingUpdateRespectsMaxUnavailable: Invariant = {
  name: 'a rolling update of a DaemonSet or ordered StatefulSet respects maxUnavailable',
  observe(scene) {
    let broken: string | undefined;
    const readyAt = new Map<string, number>();
    const deletedPods = new Map<string, Map<string, Pod>>();
    const unfit = trackUnreachableNodes();
    const knownMs = maxStalenessMs(scene.faults, 'controller-manager');
    const specs = effectiveSpecs<StatefulSet['spec']>();
    // Every stored StatefulSet has a spec.
    const specsOf = (set: StatefulSet) => specs(set as Parameters<typeof specs>[0]);

    const update = (view: View) => {
      unfit.update(view);
      for (const set of view.list(statefulSet)) specsOf(set);
      for (const each of view.list(pod)) {
        const { uid = '' } = each.metadata;
        const places = deletedPods.get(controllerOf(each)?.uid ?? '');
        if (!isPodActive(each) || !isPodReady(each)) readyAt.delete(uid);
        else {
          if (!readyAt.has(uid)) readyAt.set(uid, view.now);
          places?.delete(slotOf(each));
        }
      }
    };

    /**
     * Returns the maximum number of unavailable slots of a workload; undefined if the slot of this Pod has no
     * guarantee.
     */
    const maxUnavailableFor = (view: View, found: Pod): number | undefined => {
      const owner = controllerOf(found)?.uid;
      const daemons = view.list(daemonSet).find(({ metadata }) => metadata.uid === owner);
      if (daemons) {
        // Unreachable nodes get no new Pods, and their Pods are not counted as missing.
        const isUnfit = unfit.has(targetNodeOf(found), view.now);
        return isUnfit ? undefined : updateBudget(daemons, view.list(node).length).maxUnavailable;
      }
      const set = view.list(statefulSet).find(({ metadata }) => metadata.uid === owner);
      const isWanted = set && specsOf(set).every((spec) => ordinalOf(found) < (spec?.replicas ?? 1));
      return isWanted && set.spec?.podManagementPolicy !== 'Parallel' ? 1 : undefined;
    };

    scene.onRequest((observed) => {
      const before = isDeletion(observed) ? scene.view() : undefined;
      const found = before?.at(pod, observed.request.path);
      if (!before || !found) return undefined;
      update(before);
      const since = readyAt.get(found.metadata.uid ?? '') ?? before.now;
      if (!isPodActive(found) || before.now - since < knownMs) return undefined;
      return () => {
        const view = scene.view();
        const most = view && maxUnavailableFor(view, found);
        if (!view || most === undefined) return;
        const owner = controllerOf(found)!;
        const places = deletedPods.get(owner.uid) ?? new Map<string, Pod>();
        deletedPods.set(owner.uid, places.set(slotOf(found), found));
        update(view);
        const missing = [...places]
          .filter(([, gone]) => maxUnavailableFor(view, gone) !== undefined)
          .map(([place]) => place);
        if (missing.length > most) broken ??= `${owner.name} deleted ${missing.join(', ')}, maxUnavailable is ${most}`;
      };
    });
    return (view) => {
      update(view);
      return broken;
    };
  },
};

function isDeletion({ user, request }: ObservedRequest): boolean {
  return request.method === 'DELETE' && workloadControllers.includes(user.username);
}

/** Returns the slot that a Pod occupies: its node or its name. */
function slotOf(each: Pod): string {
  return controllerOf(each)?.kind === 'DaemonSet' ? (targetNodeOf(each) ?? '') : (each.metadata.name ?? '');
}
