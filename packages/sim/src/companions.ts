/**
 * Kruise kinds that accompany workloads or create workloads. A simulation has at most two of them: each costs time, and
 * most depend on only one workload.
 */
import { deployment } from '@kruise/api/apps/deployment';
import { advancedCronJob } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { resourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Kind } from '@kruise/schema/kind';
import { pick, type Random, randomInteger } from '@kruise/values/random';
import { type Step, stepOnOnePod } from './scenario.ts';
import { restarted, selectorOf, template, withoutRequests } from './workloads.ts';

export type Companion = {
  readonly kind: Kind;
  /** Workload that the companion depends on, if any. */
  readonly beside?: Kind;
  /** Set if kruise-daemon takes part. */
  readonly needsDaemon?: boolean;
  draw(random: Random, durationMs: number): readonly Step[];
};

const namespace = 'default';
const sidecarImages = ['redis:7.2', 'redis:7.4', 'redis:8.0'];
/** Maximum number of changes that a user makes to a companion. */
const maxChanges = 3;

type Object = { readonly kind: Kind; readonly name: string; readonly spec: object };
type Change = (random: Random) => { readonly what: string; readonly patch: object };

/** Returns the steps of a user who creates an object early and changes it now and then. */
function createAndChange(
  random: Random,
  durationMs: number,
  { kind, name, spec }: Object,
  changes: readonly Change[] = [],
): readonly Step[] {
  const metadata = kind.scope === 'Cluster' ? { name } : { name, namespace };
  const creation: Step = {
    atMs: randomInteger(random, 5000),
    what: `creates ${kind.kind} ${name}`,
    act: async (client) => void (await client.create(kind, { metadata, spec } as never)),
  };
  const count = changes.length === 0 ? 0 : randomInteger(random, maxChanges + 1);
  const changed = Array.from({ length: count }, (): Step => {
    const { what, patch } = pick(random, changes)(random);
    return {
      atMs: 5000 + randomInteger(random, durationMs - 5000),
      what: `${what}: ${kind.kind} ${name}`,
      act: async (client) => void (await client.patch(kind, metadata, patch, { type: 'merge' })),
    };
  });
  return [creation, ...changed];
}

const sidecarOf = (image: string) => ({
  name: 'proxy',
  image,
  podInjectPolicy: 'AfterAppContainer',
  shareVolumePolicy: { type: 'disabled' },
});

const shortTask = (name: string) =>
  restarted('Never', template(name, { command: ['sleep', '3'], ...withoutRequests }, 'busybox:1.36'));

export const companions: readonly Companion[] = [
  {
    kind: sidecarSet,
    beside: cloneSet,
    draw: (random, durationMs) =>
      createAndChange(
        random,
        durationMs,
        {
          kind: sidecarSet,
          name: 'mesh',
          spec: {
            selector: selectorOf('clones'),
            containers: [sidecarOf(sidecarImages[0]!)],
            updateStrategy: { type: 'RollingUpdate', maxUnavailable: pick(random, [1, '50%']) },
          },
        },
        [
          (change) => {
            const image = pick(change, sidecarImages);
            return { what: `updates to ${image}`, patch: { spec: { containers: [sidecarOf(image)] } } };
          },
        ],
      ),
  },
  {
    kind: workloadSpread,
    beside: cloneSet,
    draw: (random, durationMs) =>
      createAndChange(random, durationMs, {
        kind: workloadSpread,
        name: 'spread',
        spec: {
          targetRef: { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', name: 'clones' },
          subsets: [{ name: 'first', maxReplicas: pick(random, [1, 2, '50%']) }, { name: 'rest' }],
        },
      }),
  },
  {
    kind: podUnavailableBudget,
    beside: cloneSet,
    draw: (random, durationMs) =>
      createAndChange(random, durationMs, {
        kind: podUnavailableBudget,
        name: 'clones',
        spec: { selector: selectorOf('clones'), maxUnavailable: pick(random, [1, 2, '40%']) },
      }),
  },
  {
    kind: persistentPodState,
    beside: advancedStatefulSet,
    draw: (random, durationMs) =>
      createAndChange(random, durationMs, {
        kind: persistentPodState,
        name: 'queue',
        spec: {
          targetRef: { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'queue' },
          preferredPersistentTopology: [{ weight: 50, preference: { keys: ['kubernetes.io/hostname'] } }],
        },
      }),
  },
  {
    kind: unitedDeployment,
    draw(random, durationMs) {
      const templated = { metadata: { labels: { app: 'united' } } };
      const spec = { selector: selectorOf('united'), template: template('united', withoutRequests) };
      const scaled: Change = (change) => {
        const replicas = 1 + randomInteger(change, 5);
        return { what: `scales to ${replicas}`, patch: { spec: { replicas } } };
      };
      const subset = pick(random, [{ replicas: 1 }, { replicas: '50%' }, {}]);
      return createAndChange(
        random,
        durationMs,
        {
          kind: unitedDeployment,
          name: 'united',
          spec: {
            replicas: 1 + randomInteger(random, 5),
            selector: selectorOf('united'),
            template: pick(random, [
              { cloneSetTemplate: { ...templated, spec } },
              { deploymentTemplate: { ...templated, spec } },
            ]),
            topology: { subsets: [{ name: 'east', ...subset }, { name: 'west' }] },
          },
        },
        [scaled],
      );
    },
  },
  {
    kind: broadcastJob,
    draw: (random, durationMs) =>
      createAndChange(random, durationMs, {
        kind: broadcastJob,
        name: 'sweep',
        spec: { parallelism: pick(random, [1, 2, '50%']), template: shortTask('sweep') },
      }),
  },
  {
    kind: advancedCronJob,
    draw(random, durationMs) {
      const jobTemplate = { spec: { backoffLimit: 1000, template: longTask('tick') } };
      const steps = createAndChange(random, durationMs, {
        kind: advancedCronJob,
        name: 'tick',
        spec: {
          schedule: '@every 10s',
          concurrencyPolicy: pick(random, ['Forbid', 'Replace']),
          template: { jobTemplate },
        },
      });
      // With an active schedule, a simulation would never converge.
      const paused: Step = {
        atMs: durationMs,
        what: 'pauses AdvancedCronJob tick',
        act: async (client) =>
          void (await client.patch(
            advancedCronJob,
            { name: 'tick', namespace },
            { spec: { paused: true } },
            { type: 'merge' },
          )),
      };
      return [...steps, paused];
    },
  },
  {
    kind: resourceDistribution,
    draw: (random, durationMs) =>
      createAndChange(
        random,
        durationMs,
        {
          kind: resourceDistribution,
          name: 'settings',
          spec: distributed('one'),
        },
        [(change) => ({ what: 'changes the resource', patch: { spec: distributed(pick(change, ['two', 'three'])) } })],
      ),
  },
  {
    kind: imagePullJob,
    needsDaemon: true,
    // A NodeImage is created when its node has existed for half a minute, and a job pulls images on the existing
    // NodeImages.
    draw: (random, durationMs) =>
      createAndChange(random, durationMs, {
        kind: imagePullJob,
        name: 'fetch',
        spec: { image: 'nginx:1.28', parallelism: pick(random, [1, 3]), completionPolicy: { type: 'Always' } },
      }).map((step) => ({ ...step, atMs: step.atMs + 35_000 })),
  },
  {
    kind: containerRecreateRequest,
    beside: deployment,
    needsDaemon: true,
    draw: (random, durationMs) => [
      stepOnOnePod(random, 'web', durationMs, {
        what: 'requests the recreation of a container of web',
        act: async (client, { name }) =>
          void (await client.create(containerRecreateRequest, {
            metadata: { name: 'again', namespace },
            spec: { podName: name, containers: [{ name: 'main' }] },
          })),
      }),
    ],
  },
];

function longTask(name: string) {
  return restarted('Never', template(name, { command: ['sleep', '15'], ...withoutRequests }, 'busybox:1.36'));
}

function distributed(value: string) {
  return {
    resource: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { value } },
    targets: { includedNamespaces: { list: [{ name: 'default' }, { name: 'kube-node-lease' }] } },
  };
}

/** Draws the companions of a simulation. Half of all simulations have companions. */
export function drawCompanions(random: Random): readonly Companion[] {
  if (randomInteger(random, 2) === 0) return [];
  const first = pick(random, companions);
  const second = pick(random, companions);
  return first === second || randomInteger(random, 2) === 0 ? [first] : [first, second];
}
