/** Minimal WorkloadSpreads and Pods for tests. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type {
  WorkloadSpread,
  WorkloadSpreadSpec,
  WorkloadSpreadStatus,
  WorkloadSpreadSubset,
} from '@kruise/api/kruise/workloadspread';
import { deletionCostAnnotation } from '@kruise/machinery/pod-ranking';
import { formatTime, instantOf } from '@kruise/values/time';
import type { Observed } from './decide.ts';
import { placementAnnotation } from './placement.ts';

export const now = instantOf(2026, 1, 1, 12);

export function ago(seconds: number): string {
  return formatTime(now - seconds * 1000);
}

/** Builds subsets from text: `a 2` has at most two replicas, `b` has no limit. */
export function subsetsOf(...texts: readonly string[]): readonly WorkloadSpreadSubset[] {
  return texts.map((text) => {
    const [name = '', limit] = text.split(' ');
    if (limit === undefined) return { name };
    return { name, maxReplicas: limit.endsWith('%') ? limit : Number(limit) };
  });
}

export type SpreadOptions = {
  readonly subsets?: readonly WorkloadSpreadSubset[];
  readonly status?: WorkloadSpreadStatus;
  readonly kind?: string;
  readonly annotations?: { readonly [key: string]: string };
  /** Seconds after which unschedulable Pods are rescheduled. */
  readonly patience?: number;
};

export function spreadOf(options: SpreadOptions = {}): WorkloadSpread {
  const { subsets = subsetsOf('a 2', 'b'), status, kind = 'CloneSet', annotations, patience } = options;
  const targetRef = { apiVersion: 'x/v1', kind, name: 'web' };
  const scheduleStrategy: WorkloadSpreadSpec['scheduleStrategy'] =
    patience === undefined ? {} : { type: 'Adaptive', adaptive: { rescheduleCriticalSeconds: patience } };
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'WorkloadSpread',
    metadata: { name: 'ws', namespace: 'default', uid: 'uid', generation: 3, ...(annotations ? { annotations } : {}) },
    spec: { targetRef, subsets, scheduleStrategy },
    ...(status ? { status } : {}),
  };
}

export type PodOptions = {
  /** Subset of the Pod at admission; `''` if none. */
  readonly in?: string;
  readonly uid?: string;
  readonly version?: string;
  readonly cost?: number | string;
  readonly phase?: NonNullable<Pod['status']>['phase'];
  readonly isReady?: boolean;
  readonly isDeleted?: boolean;
  readonly ageSeconds?: number;
  readonly node?: string;
  readonly labels?: { readonly [key: string]: string };
  /** Set for an unschedulable Pod. */
  readonly isStuck?: boolean;
};

export function podOf(name: string, options: PodOptions = {}): Pod {
  const { in: subset = '', uid = '', version, cost, phase = 'Running', ageSeconds = 60, isStuck, labels } = options;
  const owner = { apiVersion: 'x/v1', kind: version ? 'ReplicaSet' : 'CloneSet', name: 'web', uid: 'web' };
  const node = isStuck ? undefined : (options.node ?? 'node');
  const { isReady = !isStuck } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: ago(ageSeconds),
      labels: { ...labels, ...(version ? { 'pod-template-hash': version } : {}) },
      annotations: {
        ...(subset ? placementAnnotation({ name: 'ws', subset, uid }) : {}),
        ...(cost === undefined ? {} : { [deletionCostAnnotation]: String(cost) }),
      },
      ownerReferences: [{ ...owner, controller: true }],
      ...(options.isDeleted ? { deletionTimestamp: ago(1) } : {}),
    },
    spec: { containers: [{ name: 'main', image: 'app' }], ...(node ? { nodeName: node } : {}) },
    status: {
      phase: isStuck ? 'Pending' : phase,
      conditions: [
        isStuck
          ? { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
          : { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: ago(ageSeconds) },
      ],
    },
  };
}

export function nodeOf(labels: { readonly [key: string]: string } = {}, taints: readonly string[] = []): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node', labels },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' as const })) },
  };
}

export type World = {
  readonly replicas?: number;
  readonly latestVersion?: string | undefined;
  readonly node?: Node;
};

export function observedOf(spread: WorkloadSpread, pods: readonly Pod[], world: World = {}): Observed {
  const { replicas = 5, node = nodeOf() } = world;
  const latestVersion = 'latestVersion' in world ? world.latestVersion : 'versionIgnored';
  const object = { apiVersion: 'x/v1', kind: 'CloneSet', metadata: { name: 'web', uid: 'web' } };
  const target = { object, replicas, pods, ...(latestVersion === undefined ? {} : { latestVersion }) };
  return { spread, target, findNode: (name) => (name === 'node' ? node : undefined) };
}
