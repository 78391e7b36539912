/** Mutants of the other Kruise kinds and of the container statuses of kubelets. */
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
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import type { Transport } from '@kruise/client/transport';
import { scaleUp } from '@kruise/values/int-or-string';
import type { Parts } from '../run.ts';
import { convergence, distortOwnObjects, isKubelet, type Mutant, mutateDecision, mutateTransport } from './mutant.ts';
import { mutateRequests } from './transports.ts';

/** Changes the status of a decision. */
const mutateStatus = (change: (status: { readonly [name: string]: unknown }) => object) => (decision: Decision) => {
  const { status } = decision;
  if (status === undefined) return decision;
  // Statuses are objects; a function returns one for the outcome of the actions.
  const changed = (value: unknown) => ({ ...(value as object), ...change(value as { [name: string]: unknown }) });
  return {
    ...decision,
    status: typeof status === 'function' ? (outcome: Outcome) => changed(status(outcome)) : changed(status),
  };
};

const withoutActions = (decision: Decision): Decision => ({ ...decision, actions: [] });
const number = (value: unknown) => (typeof value === 'number' ? value : 0);

type ContainerStatuses = readonly { readonly image?: string; readonly restartCount?: number }[];

/** A kubelet that reports changed statuses for the containers of its Pods. */
function mutateContainerStatuses(change: (statuses: ContainerStatuses) => ContainerStatuses): Parts {
  const mutate = (inner: Transport) =>
    mutateRequests(inner, (request, send) => {
      const body = (request.body ?? {}) as { readonly status?: { readonly containerStatuses?: ContainerStatuses } };
      const { containerStatuses } = body.status ?? {};
      if (request.method !== 'PATCH' || !containerStatuses) return undefined;
      return send({
        ...request,
        body: { ...body, status: { ...body.status, containerStatuses: change(containerStatuses) } },
      });
    });
  return mutateTransport(isKubelet, mutate);
}

const podStatusMatches = 'the status of a Pod matches its containers';

export const companionMutants: readonly Mutant[] = [
  {
    name: 'a kubelet reports another image',
    parts: mutateContainerStatuses((statuses) => statuses.map((each) => ({ ...each, image: 'nginx:0.1' }))),
    caughtBy: podStatusMatches,
    seed: 'm-1',
  },
  {
    name: 'a kubelet reports a restart too many',
    parts: mutateContainerStatuses((statuses) =>
      statuses.map((each) => ({ ...each, restartCount: (each.restartCount ?? 0) + 1 })),
    ),
    caughtBy: podStatusMatches,
    seed: 'm-1',
  },
  {
    name: 'a CloneSet rounds maxUnavailable up with a surge',
    parts: distortOwnObjects(cloneSet, (set) => {
      const strategy = set.spec.updateStrategy;
      const { maxUnavailable = '20%', maxSurge = 0 } = strategy?.rollingUpdate ?? {};
      if (scaleUp(maxSurge, set.spec.replicas ?? 1) === 0) return set;
      const rounded = scaleUp(maxUnavailable, set.spec.replicas ?? 1);
      const rollingUpdate = { ...strategy?.rollingUpdate, maxUnavailable: rounded };
      return { ...set, spec: { ...set.spec, updateStrategy: { ...strategy, rollingUpdate } } };
    }),
    about: cloneSet,
    caughtBy: 'Kruise workloads respect maxUnavailable',
    seed: 'm-5',
  },
  {
    name: 'a SidecarSet updates no sidecars',
    parts: distortOwnObjects(sidecarSet, (set) => ({
      ...set,
      spec: { ...set.spec, updateStrategy: { ...set.spec?.updateStrategy, paused: true } },
    })),
    about: sidecarSet,
    caughtBy: convergence,
    seed: 'm-2',
  },
  {
    name: 'a WorkloadSpread counts a Pod too few',
    parts: mutateDecision(
      workloadSpread,
      mutateStatus(({ subsetStatuses }) => ({
        subsetStatuses: (subsetStatuses as readonly { replicas: number }[] | undefined)?.map((each) => ({
          ...each,
          replicas: Math.max(0, each.replicas - 1),
        })),
      })),
    ),
    about: workloadSpread,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a PodUnavailableBudget allows one Pod too many',
    parts: mutateDecision(
      podUnavailableBudget,
      mutateStatus(({ unavailableAllowed }) => ({ unavailableAllowed: number(unavailableAllowed) + 1 })),
    ),
    about: podUnavailableBudget,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a PersistentPodState records nothing',
    parts: mutateDecision(
      persistentPodState,
      mutateStatus(() => ({ podStates: {} })),
    ),
    about: persistentPodState,
    caughtBy: convergence,
    seed: 'm-2',
  },
  {
    name: 'a UnitedDeployment wants a Pod too many',
    parts: distortOwnObjects(unitedDeployment, (found) => ({
      ...found,
      spec: { ...found.spec!, replicas: (found.spec?.replicas ?? 1) + 1 },
    })),
    about: unitedDeployment,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a BroadcastJob runs on all nodes at once',
    parts: distortOwnObjects(broadcastJob, (found) => ({ ...found, spec: { ...found.spec!, parallelism: '100%' } })),
    about: broadcastJob,
    caughtBy: 'a BroadcastJob has at most one Pod per node and respects parallelism',
    seed: 'm-1',
  },
  {
    name: 'an AdvancedCronJob ignores concurrencyPolicy Forbid',
    parts: distortOwnObjects(advancedCronJob, (found) => ({
      ...found,
      spec: { ...found.spec!, concurrencyPolicy: 'Allow' as const },
    })),
    about: advancedCronJob,
    caughtBy: 'an AdvancedCronJob with concurrencyPolicy Forbid has at most one active Job',
    seed: 'm-5',
  },
  {
    name: 'a ResourceDistribution writes nothing',
    parts: mutateDecision(resourceDistribution, withoutActions),
    about: resourceDistribution,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'an ImagePullJob writes no NodeImage',
    parts: mutateDecision(imagePullJob, withoutActions),
    about: imagePullJob,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a ContainerRecreateRequest is never completed',
    parts: mutateDecision(containerRecreateRequest, () => ({ actions: [] })),
    about: containerRecreateRequest,
    caughtBy: convergence,
    seed: 'm-1',
  },
];
