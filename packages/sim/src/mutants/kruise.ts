/** Mutants of Kruise workloads, each with one plausible defect. */
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
import { convergence, distortObjects, distortOwnObjects, type Mutant, mutateDecision, without } from './mutant.ts';

const maxUnavailableRespected = 'Kruise workloads respect maxUnavailable';

/** Parts of a Kruise workload that mutants change. */
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

const withoutHooks = <W extends Rolling>({ spec: { lifecycle: _, ...spec }, ...set }: W): W => ({ ...set, spec }) as W;

const retaining =
  (whenScaled: 'Retain' | 'Delete') =>
  (set: AdvancedStatefulSet): AdvancedStatefulSet => {
    const policy = set.spec.persistentVolumeClaimRetentionPolicy;
    return { ...set, spec: { ...set.spec, persistentVolumeClaimRetentionPolicy: { ...policy, whenScaled } } };
  };

const isRemovalOf = (kind: string) => (action: Action) => action.type === 'remove' && action.object.kind === kind;

export const kruiseMutants: readonly Mutant[] = [
  {
    name: 'a CloneSet creates one Pod too many',
    parts: distortOwnObjects(cloneSet, (set) => ({
      ...set,
      spec: { ...set.spec, replicas: (set.spec.replicas ?? 1) + 1 },
    })),
    about: cloneSet,
    caughtBy: 'a CloneSet respects maxSurge',
    seed: 'm-1',
  },
  {
    name: 'a CloneSet ignores maxSurge',
    parts: distortOwnObjects(cloneSet, rolling({ maxSurge: 3 })),
    about: cloneSet,
    caughtBy: 'a CloneSet respects maxSurge',
    seed: 'm-8',
  },
  {
    name: 'a CloneSet ignores maxUnavailable',
    parts: distortOwnObjects(cloneSet, rolling({ maxUnavailable: '100%' })),
    about: cloneSet,
    caughtBy: 'in-place updates of a CloneSet respect maxUnavailable',
    seed: 'm-38',
  },
  {
    name: 'a CloneSet ignores its partition',
    parts: distortOwnObjects(cloneSet, rolling({ partition: 0 })),
    about: cloneSet,
    caughtBy: 'a CloneSet respects its partition',
    seed: 'm-5',
  },
  {
    name: 'a CloneSet ignores preDelete hooks',
    parts: distortOwnObjects(cloneSet, withoutHooks),
    about: cloneSet,
    caughtBy: 'a Pod with a pending preDelete hook is not deleted by its workload',
    seed: 'm-10',
  },
  {
    name: 'a CloneSet ignores inPlaceUpdate hooks',
    parts: distortOwnObjects(cloneSet, withoutHooks),
    about: cloneSet,
    caughtBy: 'a Pod with a pending inPlaceUpdate hook is not updated in place',
    seed: 'm-12',
  },
  {
    name: 'a CloneSet ignores minReadySeconds',
    parts: distortOwnObjects(cloneSet, (set) => ({ ...set, spec: { ...set.spec, minReadySeconds: 0 } })),
    about: cloneSet,
    caughtBy: maxUnavailableRespected,
    seed: 'm-38',
  },
  {
    name: 'a CloneSet does not delete the PVCs of deleted Pods',
    parts: mutateDecision(cloneSet, without(isRemovalOf('PersistentVolumeClaim'))),
    about: cloneSet,
    caughtBy: convergence,
    seed: 'm-20',
  },
  {
    name: 'a CloneSet treats the PVCs of its Pods as unused',
    parts: distortObjects(cloneSet, pod, (found) => {
      const { [cloneSetInstanceIdLabel]: _, ...labels } = found.metadata.labels ?? {};
      return { ...found, metadata: { ...found.metadata, labels } };
    }),
    about: cloneSet,
    caughtBy: 'a CloneSet deletes no PVC of an active Pod',
    seed: 'm-3',
  },
  {
    name: 'a CloneSet prunes no revisions',
    parts: mutateDecision(cloneSet, without(isRemovalOf('ControllerRevision'))),
    about: cloneSet,
    caughtBy: convergence,
    seed: 'm-8',
  },
  {
    name: 'a CloneSet deletes the revisions of its Pods',
    parts: mutateDecision(cloneSet, (decision, caches) => ({
      ...decision,
      actions: [...decision.actions, ...caches.of(controllerRevision).list().map(remove)],
    })),
    about: cloneSet,
    caughtBy: 'no ControllerRevision of an active Pod is deleted',
    seed: 'm-1',
  },
  {
    name: 'a CloneSet updates containers without marking the Pod not ready',
    parts: mutateDecision(
      cloneSet,
      without((action) => action.type === 'patch' && setsInPlaceGate(action.patch, 'False')),
    ),
    about: cloneSet,
    caughtBy: 'a Pod is not ready before its containers are updated in place',
    seed: 'm-6',
  },
  {
    name: 'a CloneSet leaves Pods not ready after an in-place update',
    parts: mutateDecision(
      cloneSet,
      without((action) => action.type === 'patch' && setsInPlaceGate(action.patch, 'True')),
    ),
    about: cloneSet,
    caughtBy: convergence,
    seed: 'm-20',
  },
  {
    name: 'an Advanced StatefulSet ignores reserveOrdinals',
    parts: distortOwnObjects(advancedStatefulSet, (set) => ({ ...set, spec: { ...set.spec, reserveOrdinals: [] } })),
    about: advancedStatefulSet,
    caughtBy: 'an Advanced StatefulSet creates no Pod with an ordinal that is reserved or out of range',
    seed: 'm-2',
  },
  {
    name: 'an Advanced StatefulSet ignores OrderedReady',
    parts: distortOwnObjects(advancedStatefulSet, (set) => ({
      ...set,
      spec: { ...set.spec, podManagementPolicy: 'Parallel' as const },
    })),
    about: advancedStatefulSet,
    caughtBy: 'an ordered Advanced StatefulSet creates a Pod only after its predecessors were ready',
    seed: 'm-3',
  },
  {
    name: 'an Advanced StatefulSet ignores its partition',
    parts: distortOwnObjects(advancedStatefulSet, rolling({ partition: 0 })),
    about: advancedStatefulSet,
    caughtBy: 'an Advanced StatefulSet respects its partition',
    seed: 'm-23',
  },
  {
    name: 'an Advanced StatefulSet ignores maxUnavailable of in-place updates',
    parts: distortOwnObjects(advancedStatefulSet, rolling({ maxUnavailable: '100%' })),
    about: advancedStatefulSet,
    caughtBy: 'in-place updates of an Advanced StatefulSet respect maxUnavailable',
    seed: 'm-37',
  },
  {
    name: 'an Advanced StatefulSet ignores minReadySeconds',
    parts: distortOwnObjects(advancedStatefulSet, rolling({ minReadySeconds: 0 })),
    about: advancedStatefulSet,
    caughtBy: maxUnavailableRespected,
    seed: 'm-16',
  },
  {
    name: 'an Advanced StatefulSet ignores preDelete hooks',
    parts: distortOwnObjects(advancedStatefulSet, withoutHooks),
    about: advancedStatefulSet,
    caughtBy: 'a Pod with a pending preDelete hook is not deleted by its workload',
    seed: 'm-4',
  },
  {
    name: 'an Advanced StatefulSet deletes PVCs that must be retained',
    parts: distortOwnObjects(advancedStatefulSet, retaining('Delete')),
    about: advancedStatefulSet,
    caughtBy: 'a PVC of an Advanced StatefulSet is deleted only as its retention policy allows',
    seed: 'm-43',
  },
  {
    name: 'an Advanced StatefulSet retains PVCs that must be deleted',
    parts: distortOwnObjects(advancedStatefulSet, retaining('Retain')),
    about: advancedStatefulSet,
    caughtBy: 'a scaled-in Pod of an Advanced StatefulSet owns its PVCs if whenScaled is Delete',

    seed: 'm-10',
  },
  {
    name: 'an Advanced DaemonSet ignores its partition',
    parts: distortOwnObjects(advancedDaemonSet, rolling({ partition: 0 })),
    about: advancedDaemonSet,
    caughtBy: 'an Advanced DaemonSet respects its partition',
    seed: 'm-24',
  },
  {
    name: 'an Advanced DaemonSet ignores maxSurge',
    parts: distortOwnObjects(advancedDaemonSet, (set) =>
      set.spec.updateStrategy?.rollingUpdate?.maxSurge ? rolling({ maxSurge: 3 })(set) : set,
    ),
    about: advancedDaemonSet,
    caughtBy: 'an Advanced DaemonSet respects maxSurge',
    seed: 'm-8',
  },
  {
    name: 'an Advanced DaemonSet ignores maxUnavailable',
    parts: distortOwnObjects(advancedDaemonSet, rolling({ maxUnavailable: '100%', maxSurge: 0 })),
    about: advancedDaemonSet,
    caughtBy: maxUnavailableRespected,
    seed: 'm-8',
  },
  {
    name: 'an Advanced DaemonSet ignores preDelete hooks',
    parts: distortOwnObjects(advancedDaemonSet, withoutHooks),
    about: advancedDaemonSet,
    caughtBy: 'a Pod with a pending preDelete hook is not deleted by its workload',
    seed: 'm-23',
  },
];

function setsInPlaceGate(patch: unknown, status: 'True' | 'False'): boolean {
  const text = JSON.stringify(patch);
  const gate = text.indexOf('InPlaceUpdateReady');
  return gate >= 0 && text.indexOf(`"${status}"`, gate) >= 0;
}
