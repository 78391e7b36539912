/** Mutants of controllers and components, each with one plausible defect. */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { type Deployment, deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { pod } from '@kruise/api/core/pod';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { flattenSteps, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import type { ApiRequest, WatchEvent } from '@kruise/client/transport';
import { companionMutants } from './companions.ts';
import { earlyAcknowledgingDisk, lossyDisk, restoringDisk } from './disks.ts';
import { kruiseMutants } from './kruise.ts';
import {
  convergence,
  distortOwnObjects,
  isKubelet,
  type Mutant,
  mutateDecision,
  mutateRunnableTransport,
  mutateTransport,
  without,
} from './mutant.ts';
import { shellMutants } from './runtime.ts';
import { fakeNotFound, fakeSuccess, mutateRequests, mutateWatches } from './transports.ts';

/** Parts of an object with a status that mutants read. */
type Body = {
  readonly spec?: { readonly containers?: readonly object[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
  readonly metadata?: { readonly deletionTimestamp?: string; readonly uid?: string };
};
type Condition = { readonly type: string; readonly status: 'True' | 'False' | 'Unknown' };

const bodyOf = ({ body }: ApiRequest) => (body ?? {}) as Body;

/** Changes the status of a decision. */
function mutateStatus(change: (status: { readonly [name: string]: number }) => object) {
  return (decision: Decision): Decision => {
    const { status } = decision;
    if (status === undefined) return decision;
    // Mutants change only numbers of workload statuses.
    const changed = (value: unknown) => ({ ...(value as object), ...change(value as { [name: string]: number }) });
    return {
      ...decision,
      status: typeof status === 'function' ? (outcome: Outcome) => changed(status(outcome)) : changed(status),
    };
  };
}

/** Repeats the first creation of a decision. */
function repeatCreation(decision: Decision): Decision {
  const made = flattenSteps(decision.actions).find(({ type }) => type === 'create');
  return made ? { ...decision, actions: [...decision.actions, made] } : decision;
}

const strategic =
  (change: object) =>
  (found: Deployment): Deployment => {
    const { spec } = found;
    if (!spec?.strategy?.rollingUpdate) return found;
    const strategy = { ...spec.strategy, rollingUpdate: { ...spec.strategy.rollingUpdate, ...change } };
    return { ...found, spec: { ...spec, strategy } };
  };

/** Replaces every nth MODIFIED event. */
async function* replaceEveryNth(
  events: AsyncIterable<WatchEvent>,
  count: number,
  instead: (event: WatchEvent, earlier: WatchEvent | undefined) => readonly WatchEvent[],
): AsyncGenerator<WatchEvent> {
  let number = 0;
  let earlier: WatchEvent | undefined;
  for await (const event of events) {
    if (event.type !== 'MODIFIED' || ++number % count !== 0) yield event;
    else yield* instead(event, earlier);
    if (event.type === 'MODIFIED') earlier = event;
  }
}

const isControllerManager = ({ name }: { readonly name: string }) => name.startsWith('controller-manager');
const isScheduler = ({ name }: { readonly name: string }) => name.startsWith('scheduler');

export const mutants: readonly Mutant[] = [
  {
    name: 'a ReplicaSet creates one Pod too many',
    parts: mutateDecision(replicaSet, repeatCreation),
    about: deployment,
    caughtBy: 'a ReplicaSet has no more active Pods than replicas',
    seed: 'm-1',
  },
  {
    name: 'controllers ignore their expectations',
    parts: { control: { expectationTimeoutMs: 0 } },
    about: deployment,
    caughtBy: 'a ReplicaSet has no more active Pods than replicas',
    seed: 'spare-52',
  },
  {
    name: 'a ReplicaSet does not delete surplus Pods',
    parts: mutateDecision(
      replicaSet,
      without(({ type }) => type === 'remove'),
    ),
    about: deployment,
    caughtBy: convergence,
    seed: 'm-4',
  },
  {
    name: 'a ReplicaSet does not requeue for minReadySeconds',
    parts: mutateDecision(replicaSet, ({ requeueAfterSeconds: _, ...decision }) => decision),
    about: deployment,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a Deployment ignores maxUnavailable',
    parts: distortOwnObjects(deployment, strategic({ maxUnavailable: '100%' })),
    about: deployment,
    caughtBy: 'the ReplicaSets of a Deployment respect maxUnavailable',
    seed: 'm-3',
  },
  {
    name: 'a Deployment ignores maxSurge',
    parts: distortOwnObjects(deployment, strategic({ maxSurge: 3 })),
    about: deployment,
    caughtBy: 'the ReplicaSets of a Deployment respect maxSurge',
    seed: 'm-3',
  },
  {
    name: 'a StatefulSet ignores OrderedReady',
    parts: distortOwnObjects(statefulSet, (set) => ({
      ...set,
      spec: { ...set.spec!, podManagementPolicy: 'Parallel' as const },
    })),
    about: statefulSet,
    caughtBy: 'an ordered StatefulSet creates a Pod only after its predecessors were ready',
    seed: 'm-2',
  },
  {
    name: 'a StatefulSet counts one Pod too many',
    parts: mutateDecision(
      statefulSet,
      mutateStatus(({ replicas = 0 }) => ({ replicas: replicas + 1 })),
    ),
    about: statefulSet,
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a DaemonSet creates two Pods on a node',
    parts: mutateDecision(daemonSet, repeatCreation),
    about: daemonSet,
    caughtBy: 'a DaemonSet has at most one active Pod on a node',
    seed: 'm-1',
  },
  {
    name: 'a DaemonSet ignores maxUnavailable',
    parts: distortOwnObjects(daemonSet, (set) => ({
      ...set,
      spec: {
        ...set.spec!,
        updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxUnavailable: '100%' } },
      },
    })),
    about: daemonSet,
    caughtBy: 'a rolling update of a DaemonSet or ordered StatefulSet respects maxUnavailable',
    seed: 'm-1',
  },
  {
    name: 'an ordered StatefulSet deletes its first Pod together with the updated Pod',
    parts: mutateDecision(statefulSet, (decision, caches) => {
      const isTaking = flattenSteps(decision.actions).some(({ type }) => type === 'remove');
      const first = caches.of(pod).get({ namespace: 'default', name: 'db-0' });
      return isTaking && first ? { ...decision, actions: [...decision.actions, remove(first)] } : decision;
    }),
    about: statefulSet,
    caughtBy: 'a rolling update of a DaemonSet or ordered StatefulSet respects maxUnavailable',
    seed: 'm-9',
  },
  {
    name: 'a Job counts a success twice',
    parts: mutateDecision(
      job,
      mutateStatus(({ succeeded = 0 }) => (succeeded > 0 ? { succeeded: succeeded + 1 } : {})),
    ),
    about: job,
    caughtBy: 'a Job counts only succeeded Pods and respects parallelism',
    seed: 'm-1',
  },
  {
    name: 'a Job exceeds its parallelism by one',
    parts: distortOwnObjects(job, (found) => ({
      ...found,
      spec: { ...found.spec!, parallelism: (found.spec?.parallelism ?? 1) + 1 },
    })),
    about: job,
    caughtBy: 'a Job counts only succeeded Pods and respects parallelism',
    seed: 'm-1',
  },
  {
    name: 'a Job does not remove the finalizers of its Pods',
    parts: mutateDecision(
      job,
      without((action) => action.type === 'patch' && JSON.stringify(action.patch).includes('finalizers')),
    ),
    about: job,
    caughtBy: 'a Job counts only succeeded Pods and respects parallelism',
    seed: 'm-1',
  },
  {
    name: 'budgets allow one eviction too many',
    parts: mutateDecision(
      podDisruptionBudget,
      mutateStatus(({ disruptionsAllowed = 0 }) => ({ disruptionsAllowed: disruptionsAllowed + 1 })),
    ),
    about: deployment,
    caughtBy: convergence,
    seed: 'm-5',
  },
  {
    name: 'the garbage collector treats ReplicaSets as deleted',
    parts: mutateRunnableTransport('garbage-collector', (inner) => {
      const blind = mutateRequests(inner, ({ method, path }) =>
        method === 'GET' && path.includes('/replicasets/') ? fakeNotFound() : undefined,
      );
      const forgetting = (events: AsyncIterable<WatchEvent>) =>
        replaceEveryNth(events, 2, (event) => [event, { ...event, type: 'DELETED' }]);
      return { ...blind, watch: (request) => mutateWatches(inner, 'replicasets', forgetting).watch(request) };
    }),
    about: deployment,
    caughtBy: 'the garbage collector deletes only objects without an owner',
    seed: 'm-1',
  },
  {
    name: 'the garbage collector removes no finalizers',
    parts: mutateRunnableTransport('garbage-collector', (inner) =>
      mutateRequests(inner, ({ method }) => (method === 'PATCH' ? fakeSuccess() : undefined)),
    ),
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'the garbage collector deletes nothing',
    parts: mutateRunnableTransport('garbage-collector', (inner) =>
      mutateRequests(inner, ({ method }) => (method === 'DELETE' ? fakeSuccess() : undefined)),
    ),
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a watch drops an event',
    parts: mutateTransport(isControllerManager, (inner) =>
      mutateWatches(inner, 'pods', (all) => replaceEveryNth(all, 7, () => [])),
    ),
    caughtBy: convergence,
    seed: 'm-6',
  },
  {
    name: 'a watch repeats an event after a later one',
    parts: mutateTransport(isControllerManager, (inner) =>
      mutateWatches(inner, 'pods', (all) =>
        replaceEveryNth(all, 7, (event, earlier) => (earlier ? [event, earlier] : [event])),
      ),
    ),
    about: job,
    caughtBy: 'a Job counts only succeeded Pods and respects parallelism',
    seed: 'm-47',
  },
  {
    name: 'a disk acknowledges writes before they are durable',
    parts: { createDisk: earlyAcknowledgingDisk },
    caughtBy: 'acknowledged writes survive a crash',
    seed: 'm-2',
  },
  {
    name: 'a disk loses its last write',
    parts: { createDisk: lossyDisk },
    caughtBy: 'acknowledged writes survive a crash',
    seed: 'm-2',
  },
  {
    name: 'a disk restores a deleted Pod',
    parts: { createDisk: restoringDisk },
    caughtBy: 'a deleted Pod stays deleted',
    seed: 'm-4',
  },
  {
    name: 'a kubelet reports Pods as ready before they run',
    parts: mutateTransport(isKubelet, (inner) =>
      mutateRequests(inner, (request, send) => {
        const { status } = bodyOf(request);
        if (request.method !== 'PATCH' || !status?.conditions) return undefined;
        const conditions = status.conditions.map((each) =>
          each.type.endsWith('Ready') ? { ...each, status: 'True' } : each,
        );
        return send({ ...request, body: { ...bodyOf(request), status: { ...status, conditions } } });
      }),
    ),
    caughtBy: 'a ready Pod has run',
    seed: 'm-1',
  },
  {
    name: 'a kubelet sets finished Pods to Running',
    parts: mutateTransport(isKubelet, (inner) =>
      mutateRequests(inner, (request, send) => {
        if (request.method !== 'PATCH' || bodyOf(request).status?.phase !== 'Succeeded') return undefined;
        return send(request).then(() => send({ ...request, body: { status: { phase: 'Running' } } }));
      }),
    ),
    about: job,
    caughtBy: 'a finished Pod keeps its phase and a bound Pod keeps its node',
    seed: 'm-1',
  },
  {
    name: 'a kubelet deletes Pods before their containers have ended',
    parts: mutateTransport(isKubelet, (inner) =>
      mutateWatches(inner, 'pods', async function* (events) {
        for await (const event of events) {
          const { metadata } = event.object as { readonly metadata?: { readonly [name: string]: string } };
          if (event.type === 'MODIFIED' && metadata?.['deletionTimestamp'] && metadata['namespace']) {
            const path = `/api/v1/namespaces/${metadata['namespace']}/pods/${metadata['name']}`;
            const body = { gracePeriodSeconds: 0, preconditions: { uid: metadata['uid'] } };
            void inner.request({ method: 'DELETE', path, body }).catch(() => {});
          }
          yield event;
        }
      }),
    ),
    about: statefulSet,
    caughtBy: 'no two Pods with one name run at the same time',
    seed: 'm-1',
  },
  {
    name: 'a kubelet never deletes terminated Pods',
    parts: mutateTransport(isKubelet, (inner) =>
      mutateRequests(inner, ({ method, path }) =>
        method === 'DELETE' && path.includes('/pods/') ? fakeSuccess() : undefined,
      ),
    ),
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'a scheduler binds all Pods to one node',
    parts: mutateTransport(isScheduler, (inner) =>
      mutateRequests(inner, (request, send) => {
        if (request.method !== 'POST' || !request.path.endsWith('/binding')) return undefined;
        return send({ ...request, body: { ...bodyOf(request), target: { kind: 'Node', name: 'node-1' } } });
      }),
    ),
    caughtBy: 'the CPU requests on a node do not exceed its allocatable CPU',
    seed: 'm-5',
  },
  {
    name: 'a scheduler treats unbound Pods as bound',
    parts: mutateTransport(isScheduler, (inner) => {
      let number = 0;
      return mutateRequests(inner, ({ method, path }) =>
        method === 'POST' && path.endsWith('/binding') && ++number % 3 === 0 ? fakeSuccess() : undefined,
      );
    }),
    caughtBy: convergence,
    seed: 'm-1',
  },
  ...kruiseMutants,
  ...shellMutants,
  ...companionMutants,
];
