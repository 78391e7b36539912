/**
 * DaemonSets and ordered StatefulSets of Kubernetes update Pods by deleting them, and delete the next one only when the
 * previous one is ready again. Pods that are down for other reasons do not block the update: only Pods that the
 * controller deleted are counted.
 */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { type StatefulSet, statefulSet } from '@kruise/api/apps/statefulset';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { updateBudget } from '@kruise/controlplane/controllers/daemonset/situation';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import type { Heard } from '../world.ts';
import type { Invariant } from './invariant.ts';
import { knownAfterMs } from './knowledge.ts';
import { numberOf, specsInForce } from './kruise.ts';
import { watchUnfitNodes } from './unfit-nodes.ts';

const takers: readonly string[] = ['daemon-set-controller', 'statefulset-controller'].map(
  (name) => `system:serviceaccount:kube-system:${name}`,
);

export const fewPodsAreTaken: Invariant = {
  name: 'a rolling update of a DaemonSet or ordered StatefulSet respects maxUnavailable',
  begin(scene) {
    let broken: string | undefined;
    const readyAt = new Map<string, number>();
    const taken = new Map<string, Map<string, Pod>>();
    const unfit = watchUnfitNodes();
    const knownMs = knownAfterMs(scene.faults, 'controller-manager');
    const specs = specsInForce<StatefulSet['spec']>();
    // Every stored StatefulSet has a spec.
    const specsOf = (set: StatefulSet) => specs(set as Parameters<typeof specs>[0]);

    const look = (view: View) => {
      unfit.look(view);
      for (const set of view.list(statefulSet)) specsOf(set);
      for (const each of view.list(pod)) {
        const { uid = '' } = each.metadata;
        const places = taken.get(controllerOf(each)?.uid ?? '');
        if (!isPodActive(each) || !isPodReady(each)) readyAt.delete(uid);
        else {
          if (!readyAt.has(uid)) readyAt.set(uid, view.now);
          places?.delete(placeOf(each));
        }
      }
    };

    /**
     * Returns the maximum number of unavailable slots of a workload; undefined if the slot of this Pod has no
     * guarantee.
     */
    const mostOf = (view: View, found: Pod): number | undefined => {
      const owner = controllerOf(found)?.uid;
      const daemons = view.list(daemonSet).find(({ metadata }) => metadata.uid === owner);
      if (daemons) {
        // Unreachable nodes get no new Pods, and their Pods are not counted as missing.
        const isUnfit = unfit.has(targetNodeOf(found), view.now);
        return isUnfit ? undefined : updateBudget(daemons, view.list(node).length).maxUnavailable;
      }
      const set = view.list(statefulSet).find(({ metadata }) => metadata.uid === owner);
      const isWanted = set && specsOf(set).every((spec) => numberOf(found) < (spec?.replicas ?? 1));
      return isWanted && set.spec?.podManagementPolicy !== 'Parallel' ? 1 : undefined;
    };

    scene.onRequest((heard) => {
      const before = isTaking(heard) ? scene.view() : undefined;
      const found = before?.at(pod, heard.request.path);
      if (!before || !found) return undefined;
      look(before);
      const since = readyAt.get(found.metadata.uid ?? '') ?? before.now;
      if (!isPodActive(found) || before.now - since < knownMs) return undefined;
      return () => {
        const view = scene.view();
        const most = view && mostOf(view, found);
        if (!view || most === undefined) return;
        const owner = controllerOf(found)!;
        const places = taken.get(owner.uid) ?? new Map<string, Pod>();
        taken.set(owner.uid, places.set(placeOf(found), found));
        look(view);
        const missing = [...places].filter(([, gone]) => mostOf(view, gone) !== undefined).map(([place]) => place);
        if (missing.length > most) broken ??= `${owner.name} deleted ${missing.join(', ')}, maxUnavailable is ${most}`;
      };
    });
    return (view) => {
      look(view);
      return broken;
    };
  },
};

function isTaking({ user, request }: Heard): boolean {
  return request.method === 'DELETE' && takers.includes(user.username);
}

/** Returns the slot that a Pod occupies: its node or its name. */
function placeOf(each: Pod): string {
  return controllerOf(each)?.kind === 'DaemonSet' ? (targetNodeOf(each) ?? '') : (each.metadata.name ?? '');
}
