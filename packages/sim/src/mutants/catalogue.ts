/** Parts that are broken on purpose, each in one way that someone could break it by mistake. */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { type Deployment, deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { pod } from '@kruise/api/core/pod';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import type { ApiRequest, WatchEvent } from '@kruise/client/transport';
import { companionMutants } from './companions.ts';
import { forgetfulDisk, hastyDisk, revivingDisk } from './disks.ts';
import { kruiseMutants } from './kruise.ts';
import { connecting, deciding, isKubelet, type Mutant, reaching, rest, seeing, without } from './mutant.ts';
import { shellMutants } from './shell.ts';
import { deny, pretend, requesting, watching } from './transports.ts';

/** What every object of a kind with a status has, as far as mutants look at it. */
type Body = {
  readonly spec?: { readonly containers?: readonly object[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
  readonly metadata?: { readonly deletionTimestamp?: string; readonly uid?: string };
};
type Condition = { readonly type: string; readonly status: 'True' | 'False' | 'Unknown' };

const bodyOf = ({ body }: ApiRequest) => (body ?? {}) as Body;

/** The status a decision reports, changed. */
function reporting(change: (status: { readonly [name: string]: number }) => object) {
  return (decision: Decision): Decision => {
    const { status } = decision;
    if (status === undefined) return decision;
    // Statuses of workloads are made of numbers, as far as mutants touch them.
    const changed = (value: unknown) => ({ ...(value as object), ...change(value as { [name: string]: number }) });
    return {
      ...decision,
      status: typeof status === 'function' ? (outcome: Outcome) => changed(status(outcome)) : changed(status),
    };
  };
}

/** With the first thing it makes, another of it. */
function twice(decision: Decision): Decision {
  const made = decision.actions.find(({ type }) => type === 'create');
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

/** Every so many events of a kind it does something else. */
async function* everySoMany(
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
    name: 'a ReplicaSet makes one Pod too many',
    parts: deciding(replicaSet, twice),
    about: deployment,
    caughtBy: 'a ReplicaSet has no more active Pods than it wants',
    seed: 'm-1',
  },
  {
    name: 'controllers do not wait for what they wrote to come into sight',
    parts: { control: { expectationTimeoutMs: 0 } },
    about: deployment,
    caughtBy: 'a ReplicaSet has no more active Pods than it wants',
    seed: 'spare-52',
  },
  {
    name: 'a ReplicaSet forgets to delete what is too many',
    parts: deciding(
      replicaSet,
      without(({ type }) => type === 'remove'),
    ),
    about: deployment,
    caughtBy: rest,
    seed: 'm-4',
  },
  {
    name: 'a ReplicaSet does not look again when time alone makes Pods available',
    parts: deciding(replicaSet, ({ requeueAfterSeconds: _, ...decision }) => decision),
    about: deployment,
    caughtBy: rest,
    seed: 'm-1',
  },
  {
    name: 'a Deployment lets all its Pods go at once',
    parts: seeing(deployment, strategic({ maxUnavailable: '100%' })),
    about: deployment,
    caughtBy: 'the ReplicaSets of a Deployment want no fewer Pods together than it may be short of',
    seed: 'm-3',
  },
  {
    name: 'a Deployment surges further than it may',
    parts: seeing(deployment, strategic({ maxSurge: 3 })),
    about: deployment,
    caughtBy: 'the ReplicaSets of a Deployment want no more Pods together than it wants and may surge',
    seed: 'm-3',
  },
  {
    name: 'a StatefulSet starts its Pods in no order',
    parts: seeing(statefulSet, (set) => ({
      ...set,
      spec: { ...set.spec!, podManagementPolicy: 'Parallel' as const },
    })),
    about: statefulSet,
    caughtBy: 'a Pod of an ordered StatefulSet is made only after those before it were ready',
    seed: 'm-2',
  },
  {
    name: 'a StatefulSet counts one Pod too many',
    parts: deciding(
      statefulSet,
      reporting(({ replicas = 0 }) => ({ replicas: replicas + 1 })),
    ),
    about: statefulSet,
    caughtBy: rest,
    seed: 'm-1',
  },
  {
    name: 'a DaemonSet starts two Pods on a node',
    parts: deciding(daemonSet, twice),
    about: daemonSet,
    caughtBy: 'a DaemonSet has at most one active Pod on a node',
    seed: 'm-1',
  },
  {
    name: 'a DaemonSet takes all Pods down at once to update them',
    parts: seeing(daemonSet, (set) => ({
      ...set,
      spec: {
        ...set.spec!,
        updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxUnavailable: '100%' } },
      },
    })),
    about: daemonSet,
    caughtBy: 'a DaemonSet or an ordered StatefulSet takes no more Pods at a time than may be missing',
    seed: 'm-1',
  },
  {
    name: 'an ordered StatefulSet takes its first Pod with the one it updates',
    parts: deciding(statefulSet, (decision, caches) => {
      const isTaking = decision.actions.some(({ type }) => type === 'remove');
      const first = caches.of(pod).get({ namespace: 'default', name: 'db-0' });
      return isTaking && first ? { ...decision, actions: [...decision.actions, remove(first)] } : decision;
    }),
    about: statefulSet,
    caughtBy: 'a DaemonSet or an ordered StatefulSet takes no more Pods at a time than may be missing',
    seed: 'm-9',
  },
  {
    name: 'a Job counts a success twice',
    parts: deciding(
      job,
      reporting(({ succeeded = 0 }) => (succeeded > 0 ? { succeeded: succeeded + 1 } : {})),
    ),
    about: job,
    caughtBy: 'a Job counts no more successes than there were, and runs no more Pods at a time than it may',
    seed: 'm-1',
  },
  {
    name: 'a Job runs one Pod more at a time than it may',
    parts: seeing(job, (found) => ({
      ...found,
      spec: { ...found.spec!, parallelism: (found.spec?.parallelism ?? 1) + 1 },
    })),
    about: job,
    caughtBy: 'a Job counts no more successes than there were, and runs no more Pods at a time than it may',
    seed: 'm-1',
  },
  {
    name: 'a Job does not let its Pods go',
    parts: deciding(
      job,
      without((action) => action.type === 'patch' && JSON.stringify(action.patch).includes('finalizers')),
    ),
    about: job,
    caughtBy: 'a Job counts no more successes than there were, and runs no more Pods at a time than it may',
    seed: 'm-1',
  },
  {
    name: 'budgets allow one eviction too many',
    parts: deciding(
      podDisruptionBudget,
      reporting(({ disruptionsAllowed = 0 }) => ({ disruptionsAllowed: disruptionsAllowed + 1 })),
    ),
    about: deployment,
    caughtBy: rest,
    seed: 'm-5',
  },
  {
    name: 'the garbage collector takes ReplicaSets for gone',
    parts: reaching('garbage-collector', (inner) => {
      const blind = requesting(inner, ({ method, path }) =>
        method === 'GET' && path.includes('/replicasets/') ? deny() : undefined,
      );
      const forgetting = (events: AsyncIterable<WatchEvent>) =>
        everySoMany(events, 2, (event) => [event, { ...event, type: 'DELETED' }]);
      return { ...blind, watch: (request) => watching(inner, 'replicasets', forgetting).watch(request) };
    }),
    about: deployment,
    caughtBy: 'the garbage collector deletes nothing whose owner stays',
    seed: 'm-1',
  },
  {
    name: 'the garbage collector takes no finalizer off',
    parts: reaching('garbage-collector', (inner) =>
      requesting(inner, ({ method }) => (method === 'PATCH' ? pretend() : undefined)),
    ),
    caughtBy: rest,
    seed: 'm-1',
  },
  {
    name: 'the garbage collector deletes nothing',
    parts: reaching('garbage-collector', (inner) =>
      requesting(inner, ({ method }) => (method === 'DELETE' ? pretend() : undefined)),
    ),
    caughtBy: rest,
    seed: 'm-1',
  },
  {
    name: 'a watch drops an event',
    parts: connecting(isControllerManager, (inner) => watching(inner, 'pods', (all) => everySoMany(all, 7, () => []))),
    caughtBy: rest,
    seed: 'm-6',
  },
  {
    name: 'a watch tells an event again after a later one',
    parts: connecting(isControllerManager, (inner) =>
      watching(inner, 'pods', (all) => everySoMany(all, 7, (event, earlier) => (earlier ? [event, earlier] : [event]))),
    ),
    about: job,
    caughtBy: 'a Job counts no more successes than there were, and runs no more Pods at a time than it may',
    seed: 'm-47',
  },
  {
    name: 'a disk says that writes are safe before they are',
    parts: { createDisk: hastyDisk },
    caughtBy: 'what was acknowledged is there after a crash',
    seed: 'm-2',
  },
  {
    name: 'a disk loses its last write',
    parts: { createDisk: forgetfulDisk },
    caughtBy: 'what was acknowledged is there after a crash',
    seed: 'm-2',
  },
  {
    name: 'a disk brings back a Pod that was deleted',
    parts: { createDisk: revivingDisk },
    caughtBy: 'what was deleted stays away',
    seed: 'm-4',
  },
  {
    name: 'a kubelet says that Pods are ready before they run',
    parts: connecting(isKubelet, (inner) =>
      requesting(inner, (request, send) => {
        const { status } = bodyOf(request);
        if (request.method !== 'PATCH' || !status?.conditions) return undefined;
        const conditions = status.conditions.map((each) =>
          each.type.endsWith('Ready') ? { ...each, status: 'True' } : each,
        );
        return send({ ...request, body: { ...bodyOf(request), status: { ...status, conditions } } });
      }),
    ),
    caughtBy: 'no Pod is said to be ready that has never run',
    seed: 'm-1',
  },
  {
    name: 'a kubelet brings Pods back that are over',
    parts: connecting(isKubelet, (inner) =>
      requesting(inner, (request, send) => {
        if (request.method !== 'PATCH' || bodyOf(request).status?.phase !== 'Succeeded') return undefined;
        return send(request).then(() => send({ ...request, body: { status: { phase: 'Running' } } }));
      }),
    ),
    about: job,
    caughtBy: 'a Pod that is over stays over, and one that has a node keeps it',
    seed: 'm-1',
  },
  {
    name: 'a kubelet lets Pods go before they have ended',
    parts: connecting(isKubelet, (inner) =>
      watching(inner, 'pods', async function* (events) {
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
    caughtBy: 'no two Pods of one name run at once',
    seed: 'm-1',
  },
  {
    name: 'a kubelet never says that a Pod is gone',
    parts: connecting(isKubelet, (inner) =>
      requesting(inner, ({ method, path }) => (method === 'DELETE' && path.includes('/pods/') ? pretend() : undefined)),
    ),
    caughtBy: rest,
    seed: 'm-1',
  },
  {
    name: 'a scheduler sends all Pods to one node',
    parts: connecting(isScheduler, (inner) =>
      requesting(inner, (request, send) => {
        if (request.method !== 'POST' || !request.path.endsWith('/binding')) return undefined;
        return send({ ...request, body: { ...bodyOf(request), target: { kind: 'Node', name: 'node-1' } } });
      }),
    ),
    caughtBy: 'no node is given more Pods than it has processors for',
    seed: 'm-5',
  },
  {
    name: 'a scheduler takes Pods for bound that are not',
    parts: connecting(isScheduler, (inner) => {
      let number = 0;
      return requesting(inner, ({ method, path }) =>
        method === 'POST' && path.endsWith('/binding') && ++number % 3 === 0 ? pretend() : undefined,
      );
    }),
    caughtBy: rest,
    seed: 'm-1',
  },
  ...kruiseMutants,
  ...shellMutants,
  ...companionMutants,
];
