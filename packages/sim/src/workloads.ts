/** Workloads of a simulation: their random specs, and the changes that users make later. */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import type { Kind } from '@kruise/schema/kind';
import { pick, type Random, randomInteger } from '@kruise/values/random';

export type Workload = {
  readonly kind: Kind;
  readonly name: string;
  /** True if Pods can be marked with the specified-delete label. */
  readonly supportsSpecifiedDelete?: boolean;
  draw(random: Random): Drawn;
};

export type Drawn = { readonly spec: object; readonly changes: readonly Change[] };
export type Change = (random: Random) => { readonly what: string; readonly patch: object };

/** Labels of lifecycle hooks that block the deletion and the in-place update of a Pod until they are removed. */
export const hold = { 'example.com/hold': 'yes' };
export const busy = { 'example.com/busy': 'yes' };

const images = ['nginx:1.25', 'nginx:1.26', 'nginx:1.27'];
const firstImage = 'nginx:1.25';

export type Container = object;
type Labels = { readonly [name: string]: string };
type Template = { readonly metadata: { readonly labels: Labels }; readonly spec: object };

/** Three machines have capacity for 24 Pods with this request, which is the maximum number of Pods. */
export const share: Container = { resources: { requests: { cpu: '200m' } } };
/** Pods without requests fit even on a node that is full. */
export const withoutRequests: Container = { resources: {} };
/** Ignores SIGTERM and ends only when it is killed. */
const ignoresSigterm: Container = { command: ['sleep', '100000'] };
/** A volume is on one node, so a Pod with a volume must fit there. */
const stored: Container = { ...withoutRequests, volumeMounts: [{ name: 'data', mountPath: '/data' }] };

const volumeClaimTemplates = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];

export const selectorOf = (name: string) => ({ matchLabels: { app: name } });
export const containersOf = (image: string, container: Container) => [{ name: 'main', image, ...container }];

export function template(name: string, container: Container, image = firstImage): Template {
  const containers = containersOf(image, container);
  return { metadata: { labels: { app: name } }, spec: { terminationGracePeriodSeconds: 5, containers } };
}

function labelled({ metadata, spec }: Template, labels: Labels): Template {
  return { metadata: { labels: { ...metadata.labels, ...labels } }, spec };
}

export function restarted(restartPolicy: string, { metadata, spec }: Template): Template {
  return { metadata, spec: { ...spec, restartPolicy } };
}

/** Adds the readiness gate of Pods that can be updated in place. */
function updatable({ metadata, spec }: Template): Template {
  return { metadata, spec: { ...spec, readinessGates: [{ conditionType: 'InPlaceUpdateReady' }] } };
}

/** Lifecycle hooks, and the labels that Pods need for them. */
type Hooks = { readonly lifecycle?: object; readonly labels: Labels };

function drawHooks(random: Random, canHoldUpdates: boolean): Hooks {
  const markPodNotReady = randomInteger(random, 2) === 0;
  const preDelete = { labelsHandler: hold, markPodNotReady };
  const inPlaceUpdate = { labelsHandler: busy, markPodNotReady };
  const none: Hooks = { labels: {} };
  const onDeletion: Hooks = { lifecycle: { preDelete }, labels: hold };
  const onUpdate: Hooks = { lifecycle: { inPlaceUpdate }, labels: busy };
  const onBoth: Hooks = { lifecycle: { preDelete, inPlaceUpdate }, labels: { ...hold, ...busy } };
  return pick(random, canHoldUpdates ? [none, none, onDeletion, onUpdate, onBoth] : [none, none, onDeletion]);
}

const drawMinReadySeconds = (random: Random) => pick(random, [0, 0, 5]);
const drawHistoryLimit = (random: Random) => pick(random, [10, 2, 0]);

const scaleStrategies = [true, false].flatMap((enablePVCReuse) =>
  [{}, {}, {}, { maxUnavailable: 1 }].map((limit) => ({ enablePVCReuse, ...limit })),
);

const scaled: Change = (random) => {
  const replicas = randomInteger(random, 7);
  return { what: `scales to ${replicas}`, patch: { spec: { replicas } } };
};

const updated =
  (container: Container): Change =>
  (random) => {
    const image = pick(random, images);
    const containers = containersOf(image, container);
    return { what: `updates to ${image}`, patch: { spec: { template: { spec: { containers } } } } };
  };

const partitioned: Change = (random) => {
  const partition = randomInteger(random, 4);
  return {
    what: `sets the partition to ${partition}`,
    patch: { spec: { updateStrategy: { rollingUpdate: { partition } } } },
  };
};

const reservations: readonly (readonly (number | string)[])[] = [[], [0], [1, 3], ['1-2']];
const reserved: Change = (random) => {
  const reserveOrdinals = pick(random, reservations);
  return { what: `reserves ${reserveOrdinals.join(', ') || 'nothing'}`, patch: { spec: { reserveOrdinals } } };
};

export const workloads: readonly Workload[] = [
  {
    kind: deployment,
    name: 'web',
    draw: (random) => ({
      spec: {
        replicas: randomInteger(random, 7),
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: {
            maxUnavailable: pick(random, [1, '25%', '40%']),
            maxSurge: pick(random, [0, 1, '25%', '50%']),
          },
        },
        minReadySeconds: drawMinReadySeconds(random),
        selector: selectorOf('web'),
        template: template('web', share),
      },
      changes: [scaled, updated(share)],
    }),
  },
  {
    kind: statefulSet,
    name: 'db',
    draw: (random) => ({
      spec: {
        replicas: randomInteger(random, 5),
        serviceName: 'db',
        podManagementPolicy: pick(random, ['OrderedReady', 'Parallel']),
        minReadySeconds: drawMinReadySeconds(random),
        selector: selectorOf('db'),
        template: template('db', { ...share, ...ignoresSigterm }),
      },
      changes: [scaled, updated({ ...share, ...ignoresSigterm })],
    }),
  },
  {
    kind: daemonSet,
    name: 'agent',
    draw: () => ({
      spec: { selector: selectorOf('agent'), template: template('agent', withoutRequests) },
      changes: [updated(withoutRequests)],
    }),
  },
  {
    kind: job,
    name: 'batch',
    draw: (random) => ({
      spec: {
        completions: 1 + randomInteger(random, 5),
        parallelism: 1 + randomInteger(random, 3),
        backoffLimit: 1000,
        template: restarted(
          pick(random, ['Never', 'OnFailure']),
          template('batch', { command: ['sleep', '3'], ...withoutRequests }, 'busybox:1.36'),
        ),
      },
      changes: [],
    }),
  },
  {
    kind: cloneSet,
    name: 'clones',
    supportsSpecifiedDelete: true,
    draw(random) {
      const podUpdatePolicy = pick(random, ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly']);
      const { labels, ...hooks } = drawHooks(random, true);
      const hasVolumes = randomInteger(random, 4) === 0;
      const container = hasVolumes ? stored : share;
      return {
        spec: {
          replicas: randomInteger(random, 7),
          minReadySeconds: drawMinReadySeconds(random),
          revisionHistoryLimit: drawHistoryLimit(random),
          selector: selectorOf('clones'),
          template: labelled(template('clones', container), labels),
          ...hooks,
          ...(hasVolumes ? { volumeClaimTemplates } : {}),
          scaleStrategy: pick(random, scaleStrategies),
          updateStrategy: {
            type: 'RollingUpdate',
            rollingUpdate: {
              podUpdatePolicy,
              maxUnavailable: pick(random, [1, 2, '50%', '34%']),
              partition: pick(random, [0, 0, 1, 3, '40%']),
              // A workload that never recreates Pods cannot surge.
              maxSurge: podUpdatePolicy === 'InPlaceOnly' ? 0 : pick(random, [0, 1, '34%', '50%']),
              inPlaceUpdateStrategy: { gracePeriodSeconds: pick(random, [0, 0, 3]) },
            },
          },
        },
        changes: [scaled, updated(container), updated(container), partitioned],
      };
    },
  },
  {
    kind: advancedStatefulSet,
    name: 'queue',
    supportsSpecifiedDelete: true,
    draw(random) {
      const podManagementPolicy = pick(random, ['OrderedReady', 'Parallel']);
      const isOrdered = podManagementPolicy === 'OrderedReady';
      const { labels, ...hooks } = drawHooks(random, true);
      const hasVolumes = randomInteger(random, 3) === 0;
      const container = { ...(hasVolumes ? stored : share), ...ignoresSigterm };
      const scaleStrategy = isOrdered ? undefined : pick(random, [undefined, { maxUnavailable: 1 }]);
      const retentionPolicies = ['Retain', 'Delete'];
      return {
        spec: {
          replicas: randomInteger(random, 5),
          serviceName: 'queue',
          podManagementPolicy,
          reserveOrdinals: pick(random, reservations),
          revisionHistoryLimit: drawHistoryLimit(random),
          selector: selectorOf('queue'),
          template: labelled(updatable(template('queue', container)), labels),
          ...hooks,
          ...(hasVolumes ? { volumeClaimTemplates } : {}),
          persistentVolumeClaimRetentionPolicy: {
            whenDeleted: pick(random, retentionPolicies),
            whenScaled: pick(random, retentionPolicies),
          },
          ...(scaleStrategy ? { scaleStrategy } : {}),
          updateStrategy: {
            type: 'RollingUpdate',
            rollingUpdate: {
              podUpdatePolicy: pick(random, ['ReCreate', 'InPlaceIfPossible']),
              // With OrderedReady, at most one Pod may be unavailable.
              maxUnavailable: isOrdered ? 1 : pick(random, [1, 2, '50%', '34%']),
              minReadySeconds: drawMinReadySeconds(random),
              partition: pick(random, [0, 0, 1]),
            },
          },
        },
        changes: [scaled, updated(container), updated(container), partitioned, reserved],
      };
    },
  },
  {
    kind: advancedDaemonSet,
    name: 'probe',
    draw(random) {
      const { labels, ...hooks } = drawHooks(random, false);
      const updateSettings = pick(random, [
        { maxUnavailable: 1 },
        { maxUnavailable: 0, maxSurge: 1 },
        { maxUnavailable: 0, maxSurge: '40%' },
        { maxUnavailable: '40%' },
        { maxUnavailable: 1, rollingUpdateType: 'InPlaceIfPossible' },
      ]);
      return {
        spec: {
          minReadySeconds: drawMinReadySeconds(random),
          revisionHistoryLimit: drawHistoryLimit(random),
          selector: selectorOf('probe'),
          template: labelled(template('probe', withoutRequests), labels),
          ...hooks,
          updateStrategy: {
            type: 'RollingUpdate',
            rollingUpdate: { ...updateSettings, partition: pick(random, [0, 0, 1]) },
          },
        },
        changes: [updated(withoutRequests), partitioned],
      };
    },
  },
];
