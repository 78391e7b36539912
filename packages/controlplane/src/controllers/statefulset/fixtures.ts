/** Fixtures: StatefulSets, their Pods and PVCs with only the relevant fields. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { StatefulSet, StatefulSetSpec, StatefulSetStatus } from '@kruise/api/apps/statefulset';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { newRevision, podTemplateData } from '@kruise/machinery/controller-revision';
import { formatTime, instantOf } from '@kruise/values/time';
import { memberOf } from '@kruise/workload-kit/statefulset/identity';
import type { Observed } from './decide.ts';

export const now = instantOf(2026, 1, 1, 12);

export const templateOf = (image: string): PodTemplateSpec => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }] },
});

export function setOf(spec: Partial<StatefulSetSpec> = {}, status?: StatefulSetStatus): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'set', generation: 1 },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: templateOf('v1'),
      serviceName: 'web',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      ...spec,
    },
    ...(status ? { status } : {}),
  };
}

/** A set with one volumeClaimTemplate, `www`. */
export const withClaims = (spec: Partial<StatefulSetSpec> = {}): StatefulSet =>
  setOf({
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'www', labels: { tier: 'data' } },
        spec: { accessModes: ['ReadWriteOnce'] },
      },
    ],
    ...spec,
  });

export const revisionFor = (image: string, number: number): ControllerRevision =>
  newRevision(setOf(), { data: podTemplateData(templateOf(image)), labels: { app: 'web' } }, { revision: number });
export const nameOfRevision = (image: string): string => revisionFor(image, 1).metadata.name!;

export type Shape = {
  readonly image?: string;
  readonly phase?: NonNullable<Pod['status']>['phase'];
  readonly isReady?: boolean;
  readonly readySeconds?: number;
  readonly isLeaving?: boolean;
};

/** A Pod of a set; ready for an hour by default. */
export function podOf(set: StatefulSet, ordinal: number, shape: Shape = {}): Pod {
  const { image = 'v1', phase = 'Running', isReady = phase === 'Running', readySeconds = 3600, isLeaving } = shape;
  const pod = memberOf(set, ordinal, templateOf(image), nameOfRevision(image));
  const lastTransitionTime = formatTime(now - readySeconds * 1000);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid: `pod-${ordinal}`,
      ...(isLeaving ? { deletionTimestamp: formatTime(now) } : {}),
    },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }] },
  };
}

export const claimOf = (name: string, metadata: PersistentVolumeClaim['metadata'] = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', uid: `claim-${name}`, ...metadata },
});

export function observedOf(
  set: StatefulSet,
  pods: readonly Pod[],
  { revisions = [revisionFor('v1', 1)], claims = [] as readonly PersistentVolumeClaim[] } = {},
): Observed {
  return {
    set,
    pods,
    revisions,
    findRevision: (name) => revisions.find(({ metadata }) => metadata.name === name),
    findClaim: (name) => claims.find(({ metadata }) => metadata.name === name),
    findPod: (name) => pods.find(({ metadata }) => metadata.name === name),
  };
}
