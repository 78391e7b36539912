/** What users do in a world: they make workloads, scale and update them, delete Pods, and now and then a workload. */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import type { Client } from '@kruise/client/client';
import { evict } from '@kruise/client/subresources';
import type { Kind } from '@kruise/schema/kind';
import { pick, type Random, randomInteger } from '@kruise/values/random';

/** Something a user does at a time; it is tried until it works or has become pointless. */
export type Step = {
  readonly atMs: number;
  /** As a person would tell of it. */
  readonly what: string;
  act(client: Client): Promise<void>;
};

const namespace = 'default';
const images = ['nginx:1.25', 'nginx:1.26', 'nginx:1.27'];

type Workload = {
  readonly kind: Kind;
  readonly name: string;
  spec(random: Random): object;
  /** What may be changed about it. */
  readonly changes: readonly ((random: Random) => { readonly what: string; readonly patch: object })[];
};

function template(name: string, image: string, more: object = {}) {
  const containers = [{ name: 'main', image, resources: share, ...more }];
  return { metadata: { labels: { app: name } }, spec: { terminationGracePeriodSeconds: 5, containers } };
}

/** Three machines have room for 24 Pods that ask for so much, which is as many as there can be. */
const share = { requests: { cpu: '200m' } };
const undemanding = { resources: {} };

const selectorOf = (name: string) => ({ matchLabels: { app: name } });

const scaled = (random: Random) => {
  const replicas = randomInteger(random, 7);
  return { what: `scales to ${replicas}`, patch: { spec: { replicas } } };
};

const updatedWith = (more: object) => (random: Random) => {
  const image = pick(random, images);
  return {
    what: `updates to ${image}`,
    patch: { spec: { template: { spec: { containers: [{ name: 'main', image, resources: share, ...more }] } } } },
  };
};
const updated = updatedWith({});

/** Does not end when it is asked to, but only when it is made to. */
const stubborn = { command: ['sleep', '100000'] };

const partitioned = (random: Random) => {
  const partition = randomInteger(random, 4);
  return {
    what: `sets the partition to ${partition}`,
    patch: { spec: { updateStrategy: { rollingUpdate: { partition } } } },
  };
};

const reserved = (random: Random) => {
  const reserveOrdinals = pick(random, reservations);
  return { what: `reserves ${reserveOrdinals.join(', ') || 'nothing'}`, patch: { spec: { reserveOrdinals } } };
};
const reservations: readonly (readonly (number | string)[])[] = [[], [0], [1, 3], ['1-2']];

/** The label that holds a Pod back from being deleted, until someone takes it off. */
export const hold = { 'example.com/hold': 'yes' };

function restarted(restartPolicy: string, { metadata, spec }: ReturnType<typeof template>) {
  return { metadata, spec: { ...spec, restartPolicy } };
}

/** Pods that can be updated in place say so. */
function updatable({ metadata, spec }: ReturnType<typeof template>) {
  return { metadata, spec: { ...spec, readinessGates: [{ conditionType: 'InPlaceUpdateReady' }] } };
}

function held(template: { readonly metadata: { readonly labels: object }; readonly spec: object }) {
  return { ...template, metadata: { labels: { ...template.metadata.labels, ...hold } } };
}

const workloads: readonly Workload[] = [
  {
    kind: deployment,
    name: 'web',
    spec: (random) => ({
      replicas: randomInteger(random, 7),
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: pick(random, [1, '25%']), maxSurge: pick(random, [0, 1, '25%']) },
      },
      minReadySeconds: pick(random, [0, 0, 5]),
      selector: selectorOf('web'),
      template: template('web', images[0]!),
    }),
    changes: [scaled, updated],
  },
  {
    kind: statefulSet,
    name: 'db',
    spec: (random) => ({
      replicas: randomInteger(random, 5),
      serviceName: 'db',
      podManagementPolicy: pick(random, ['OrderedReady', 'Parallel']),
      minReadySeconds: pick(random, [0, 0, 5]),
      selector: selectorOf('db'),
      template: template('db', images[0]!, stubborn),
    }),
    changes: [scaled, updatedWith(stubborn)],
  },
  {
    kind: daemonSet,
    name: 'agent',
    // A node that others have filled has to have room for these all the same.
    spec: () => ({ selector: selectorOf('agent'), template: template('agent', images[0]!, undemanding) }),
    changes: [updatedWith(undemanding)],
  },
  {
    kind: job,
    name: 'batch',
    spec: (random) => ({
      completions: 1 + randomInteger(random, 5),
      parallelism: 1 + randomInteger(random, 3),
      backoffLimit: 1000,
      template: restarted(
        pick(random, ['Never', 'OnFailure']),
        template('batch', 'busybox:1.36', { command: ['sleep', '3'], ...undemanding }),
      ),
    }),
    changes: [],
  },
  {
    kind: cloneSet,
    name: 'clones',
    spec(random) {
      const podUpdatePolicy = pick(random, ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly']);
      const maxUnavailable = pick(random, [1, 2, '50%']);
      const partition = pick(random, [0, 0, 1, 3]);
      const isHeld = randomInteger(random, 3) === 0;
      // What is never recreated cannot surge.
      const maxSurge = podUpdatePolicy === 'InPlaceOnly' ? 0 : randomInteger(random, 2);
      return {
        replicas: randomInteger(random, 7),
        minReadySeconds: pick(random, [0, 0, 5]),
        selector: selectorOf('clones'),
        template: isHeld ? held(template('clones', images[0]!)) : template('clones', images[0]!),
        ...(isHeld ? { lifecycle: { preDelete: { labelsHandler: hold } } } : {}),
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { podUpdatePolicy, maxUnavailable, maxSurge, partition },
        },
      };
    },
    changes: [scaled, updated, updated, partitioned],
  },
  {
    kind: advancedStatefulSet,
    name: 'queue',
    spec(random) {
      const podManagementPolicy = pick(random, ['OrderedReady', 'Parallel']);
      const isOrdered = podManagementPolicy === 'OrderedReady';
      const podUpdatePolicy = pick(random, ['ReCreate', 'InPlaceIfPossible']);
      // In order, no more than one may be missing.
      const maxUnavailable = isOrdered ? 1 : pick(random, [1, 2, '50%']);
      const scaleStrategy = isOrdered ? undefined : pick(random, [undefined, { maxUnavailable: 1 }]);
      return {
        replicas: randomInteger(random, 5),
        serviceName: 'queue',
        podManagementPolicy,
        reserveOrdinals: pick(random, reservations),
        selector: selectorOf('queue'),
        template: updatable(template('queue', images[0]!, stubborn)),
        ...(scaleStrategy ? { scaleStrategy } : {}),
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { podUpdatePolicy, maxUnavailable, partition: pick(random, [0, 0, 1]) },
        },
      };
    },
    changes: [scaled, updatedWith(stubborn), updatedWith(stubborn), partitioned, reserved],
  },
  {
    kind: advancedDaemonSet,
    name: 'probe',
    spec(random) {
      const manner = pick(random, [
        { maxUnavailable: 1 },
        { maxUnavailable: 0, maxSurge: 1 },
        { maxUnavailable: 1, rollingUpdateType: 'InPlaceIfPossible' },
      ]);
      return {
        selector: selectorOf('probe'),
        template: template('probe', images[0]!, undemanding),
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { ...manner, partition: pick(random, [0, 0, 1]) } },
      };
    },
    changes: [updatedWith(undemanding), partitioned],
  },
];

/** How many steps there are for each workload at most. */
const mostChanges = 5;

/** Draws what users do in so long, with any workloads or with those of one kind. */
export function drawSteps(random: Random, durationMs: number, only?: Kind): readonly Step[] {
  const chosen = workloads.filter(({ kind }) => (only ? kind === only : randomInteger(random, 2) === 0));
  const steps = (chosen.length > 0 ? chosen : [pick(random, workloads)]).flatMap((workload): Step[] => {
    const { kind, name, changes } = workload;
    const spec = workload.spec(random);
    const metadata = { name, namespace };
    const made: Step = {
      atMs: randomInteger(random, 5000),
      what: `creates ${kind.kind} ${name}`,
      act: async (client) => void (await client.create(kind, { metadata, spec } as never)),
    };
    const count = changes.length === 0 ? 0 : randomInteger(random, mostChanges + 1);
    const changed = Array.from({ length: count }, (): Step => {
      const { what, patch } = pick(random, changes)(random);
      return {
        atMs: 5000 + randomInteger(random, durationMs - 5000),
        what: `${what}: ${kind.kind} ${name}`,
        act: async (client) => void (await client.patch(kind, metadata, patch, { type: 'merge' })),
      };
    });
    const killed = Array.from({ length: randomInteger(random, 3) }, () => killOne(random, name, durationMs));
    const ended = randomInteger(random, 4) === 0 ? [deletion(random, kind, name, durationMs)] : [];
    const guarded = kind === deployment && randomInteger(random, 2) === 0 ? guard(random, name, durationMs) : [];
    return [made, ...changed, ...killed, ...guarded, ...ended];
  });
  return steps.sort((a, b) => a.atMs - b.atMs);
}

function killOne(random: Random, app: string, durationMs: number): Step {
  const which = random.next();
  return {
    atMs: 5000 + randomInteger(random, durationMs - 5000),
    what: `deletes a Pod of ${app}`,
    async act(client) {
      const { items } = await client.list(pod, { namespace, labelSelector: `app=${app}` });
      const found = items[Math.floor(which * items.length)];
      if (found) await client.delete(pod, { namespace, name: found.metadata.name! });
    },
  };
}

/** A budget for a workload, and someone who would evict all of its Pods at once. */
function guard(random: Random, app: string, durationMs: number): readonly Step[] {
  const budget: Step = {
    atMs: randomInteger(random, 5000),
    what: `creates PodDisruptionBudget ${app}`,
    act: async (client) =>
      void (await client.create(podDisruptionBudget, {
        metadata: { name: app, namespace },
        spec: { selector: selectorOf(app), maxUnavailable: 1 },
      })),
  };
  const eviction: Step = {
    atMs: 10_000 + randomInteger(random, durationMs - 10_000),
    what: `evicts the Pods of ${app}`,
    async act(client) {
      const { items } = await client.list(pod, { namespace, labelSelector: `app=${app}` });
      const attempts = items.map(({ metadata }) => evict(client, { namespace, name: metadata.name! }));
      await Promise.allSettled(attempts);
    },
  };
  return [budget, eviction];
}

function deletion(random: Random, kind: Kind, name: string, durationMs: number): Step {
  const propagationPolicy = pick(random, ['Background', 'Foreground'] as const);
  return {
    atMs: Math.floor(durationMs / 2) + randomInteger(random, durationMs / 2),
    what: `deletes ${kind.kind} ${name} in the ${propagationPolicy.toLowerCase()}`,
    act: async (client) => void (await client.delete(kind, { namespace, name }, { propagationPolicy })),
  };
}
