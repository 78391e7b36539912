/** Parts of Kruise's workloads that are broken on purpose, each in one way that someone could break it by mistake. */
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import {
  type StatefulSet as AdvancedStatefulSet,
  statefulSet as advancedStatefulSet,
} from '@kruise/api/kruise/statefulset';
import { cloneSetInstanceIdLabel } from '@kruise/api/kruise/well-known';
import { type Action, remove } from '@kruise/client/actions';
import { deciding, type Mutant, misled, rest, seeing, without } from './mutant.ts';

const spared = 'no workload of Kruise takes a Pod that it cannot spare';

/** A workload of Kruise's, as far as mutants change it. */
type Rolling = {
  readonly spec: { readonly updateStrategy?: { readonly rollingUpdate?: object }; readonly lifecycle?: object };
};

const rolling =
  (change: object) =>
  <W extends Rolling>(set: W): W => {
    const strategy = set.spec.updateStrategy;
    const updateStrategy = { ...strategy, rollingUpdate: { ...strategy?.rollingUpdate, ...change } };
    return { ...set, spec: { ...set.spec, updateStrategy } };
  };

const unhooked = <W extends Rolling>({ spec: { lifecycle: _, ...spec }, ...set }: W): W => ({ ...set, spec }) as W;

const retaining =
  (whenScaled: 'Retain' | 'Delete') =>
  (set: AdvancedStatefulSet): AdvancedStatefulSet => {
    const policy = set.spec.persistentVolumeClaimRetentionPolicy;
    return { ...set, spec: { ...set.spec, persistentVolumeClaimRetentionPolicy: { ...policy, whenScaled } } };
  };

const isRemovalOf = (kind: string) => (action: Action) => action.type === 'remove' && action.object.kind === kind;

export const kruiseMutants: readonly Mutant[] = [
  {
    name: 'a CloneSet makes one Pod too many',
    parts: seeing(cloneSet, (set) => ({
      ...set,
      spec: { ...set.spec, replicas: (set.spec.replicas ?? 1) + 1 },
    })),
    about: cloneSet,
    caughtBy: 'a CloneSet has no more active Pods than it wants and may surge',
    seed: 'm-1',
  },
  {
    name: 'a CloneSet surges further than it may',
    parts: seeing(cloneSet, rolling({ maxSurge: 3 })),
    about: cloneSet,
    caughtBy: 'a CloneSet has no more active Pods than it wants and may surge',
    seed: 'm-8',
  },
  {
    name: 'a CloneSet takes all Pods down at once to update them',
    parts: seeing(cloneSet, rolling({ maxUnavailable: '100%' })),
    about: cloneSet,
    caughtBy: 'a CloneSet takes no more ready Pods down to update them in place than may be unavailable',
    seed: 'm-38',
  },
  {
    name: 'a CloneSet does not keep to its partition',
    parts: seeing(cloneSet, rolling({ partition: 0 })),
    about: cloneSet,
    caughtBy: 'a CloneSet updates no more Pods than its partition leaves',
    seed: 'm-5',
  },
  {
    name: 'a CloneSet does not wait for those who hold its Pods back',
    parts: seeing(cloneSet, unhooked),
    about: cloneSet,
    caughtBy: 'a Pod that is held back is not deleted by its workload',
    seed: 'm-10',
  },
  {
    name: 'a CloneSet updates Pods that are held back',
    parts: seeing(cloneSet, unhooked),
    about: cloneSet,
    caughtBy: 'a Pod that is held back is not updated in place',
    seed: 'm-12',
  },
  {
    name: 'a CloneSet takes Pods for available as soon as they are ready',
    parts: seeing(cloneSet, (set) => ({ ...set, spec: { ...set.spec, minReadySeconds: 0 } })),
    about: cloneSet,
    caughtBy: spared,
    seed: 'm-38',
  },
  {
    name: 'a CloneSet leaves the claims of Pods that are gone',
    parts: deciding(cloneSet, without(isRemovalOf('PersistentVolumeClaim'))),
    about: cloneSet,
    caughtBy: rest,
    seed: 'm-20',
  },
  {
    name: 'a CloneSet takes the claims of its Pods for those of nobody',
    parts: misled(cloneSet, pod, (found) => {
      const { [cloneSetInstanceIdLabel]: _, ...labels } = found.metadata.labels ?? {};
      return { ...found, metadata: { ...found.metadata, labels } };
    }),
    about: cloneSet,
    caughtBy: 'a CloneSet deletes no claim of a Pod that stays',
    seed: 'm-3',
  },
  {
    name: 'a CloneSet keeps every revision there ever was',
    parts: deciding(cloneSet, without(isRemovalOf('ControllerRevision'))),
    about: cloneSet,
    caughtBy: rest,
    seed: 'm-8',
  },
  {
    name: 'a CloneSet deletes revisions that its Pods are of',
    parts: deciding(cloneSet, (decision, caches) => ({
      ...decision,
      actions: [...decision.actions, ...caches.of(controllerRevision).list().map(remove)],
    })),
    about: cloneSet,
    caughtBy: 'no revision is deleted that a Pod is of',
    seed: 'm-1',
  },
  {
    name: 'a CloneSet changes containers without stopping traffic first',
    parts: deciding(
      cloneSet,
      without((action) => action.type === 'patch' && setsInPlaceGate(action.patch, 'False')),
    ),
    about: cloneSet,
    caughtBy: 'no container is changed of a Pod that still gets traffic',
    seed: 'm-6',
  },
  {
    name: 'a CloneSet leaves Pods unready after it has updated them in place',
    parts: deciding(
      cloneSet,
      without((action) => action.type === 'patch' && setsInPlaceGate(action.patch, 'True')),
    ),
    about: cloneSet,
    caughtBy: rest,
    seed: 'm-20',
  },
  {
    name: "a StatefulSet of Kruise's gives away numbers that are reserved",
    parts: seeing(advancedStatefulSet, (set) => ({ ...set, spec: { ...set.spec, reserveOrdinals: [] } })),
    about: advancedStatefulSet,
    caughtBy: "a StatefulSet of Kruise's makes no Pod with a number it does not want",
    seed: 'm-2',
  },
  {
    name: "a StatefulSet of Kruise's starts its Pods in no order",
    parts: seeing(advancedStatefulSet, (set) => ({
      ...set,
      spec: { ...set.spec, podManagementPolicy: 'Parallel' as const },
    })),
    about: advancedStatefulSet,
    caughtBy: "a Pod of an ordered StatefulSet of Kruise's is made only after those before it were ready",
    seed: 'm-3',
  },
  {
    name: "a StatefulSet of Kruise's does not keep to its partition",
    parts: seeing(advancedStatefulSet, rolling({ partition: 0 })),
    about: advancedStatefulSet,
    caughtBy: "a StatefulSet of Kruise's brings no Pod to a revision that its partition keeps from it",
    seed: 'm-23',
  },
  {
    name: "a StatefulSet of Kruise's takes all Pods down at once to update them in place",
    parts: seeing(advancedStatefulSet, rolling({ maxUnavailable: '100%' })),
    about: advancedStatefulSet,
    caughtBy: "a StatefulSet of Kruise's takes no more ready Pods down to update them in place than may be unavailable",
    seed: 'm-37',
  },
  {
    name: "a StatefulSet of Kruise's takes Pods for available as soon as they are ready",
    parts: seeing(advancedStatefulSet, rolling({ minReadySeconds: 0 })),
    about: advancedStatefulSet,
    caughtBy: spared,
    seed: 'm-16',
  },
  {
    name: "a StatefulSet of Kruise's does not wait for those who hold its Pods back",
    parts: seeing(advancedStatefulSet, unhooked),
    about: advancedStatefulSet,
    caughtBy: 'a Pod that is held back is not deleted by its workload',
    seed: 'm-4',
  },
  {
    name: "a StatefulSet of Kruise's has claims go that are to stay",
    parts: seeing(advancedStatefulSet, retaining('Delete')),
    about: advancedStatefulSet,
    caughtBy: "a claim of a StatefulSet of Kruise's goes only as its policy says",
    seed: 'm-43',
  },
  {
    name: "a StatefulSet of Kruise's has claims stay that are to go",
    parts: seeing(advancedStatefulSet, retaining('Retain')),
    about: advancedStatefulSet,
    caughtBy:
      "a Pod that a StatefulSet of Kruise's does not want any more takes its claims with it, where they are to go",

    seed: 'm-10',
  },
  {
    name: "a DaemonSet of Kruise's does not keep to its partition",
    parts: seeing(advancedDaemonSet, rolling({ partition: 0 })),
    about: advancedDaemonSet,
    caughtBy: "a DaemonSet of Kruise's takes no Pod for an update that its partition keeps from it",
    seed: 'm-24',
  },
  {
    name: "a DaemonSet of Kruise's surges further than it may",
    parts: seeing(advancedDaemonSet, (set) =>
      set.spec.updateStrategy?.rollingUpdate?.maxSurge ? rolling({ maxSurge: 3 })(set) : set,
    ),
    about: advancedDaemonSet,
    caughtBy: "a DaemonSet of Kruise's has two Pods on no more nodes than may surge",
    seed: 'm-8',
  },
  {
    name: "a DaemonSet of Kruise's takes all Pods down at once",
    parts: seeing(advancedDaemonSet, rolling({ maxUnavailable: '100%', maxSurge: 0 })),
    about: advancedDaemonSet,
    caughtBy: spared,
    seed: 'm-8',
  },
  {
    name: "a DaemonSet of Kruise's does not wait for those who hold its Pods back",
    parts: seeing(advancedDaemonSet, unhooked),
    about: advancedDaemonSet,
    caughtBy: 'a Pod that is held back is not deleted by its workload',
    seed: 'm-23',
  },
];

function setsInPlaceGate(patch: unknown, status: 'True' | 'False'): boolean {
  const text = JSON.stringify(patch);
  const gate = text.indexOf('InPlaceUpdateReady');
  return gate >= 0 && text.indexOf(`"${status}"`, gate) >= 0;
}
