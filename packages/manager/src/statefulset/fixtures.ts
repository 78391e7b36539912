/** Minimal StatefulSets, Pods and PVCs for tests. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { RollingUpdateStatefulSetStrategy, StatefulSet } from '@kruise/api/kruise/statefulset';
import { inPlaceUpdateReadyCondition, lifecycleStateLabel, specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import type { Action } from '@kruise/client/actions';
import { newRevision, podTemplateData } from '@kruise/machinery/controller-revision';
import { controllerReference, type OwnerReference } from '@kruise/machinery/owner-references';
import { formatTime, instantOf } from '@kruise/values/time';

export const now = instantOf(2026, 1, 1, 12);

type Spec = Partial<StatefulSet['spec']>;

export function setOf(spec: Spec = {}, image = 'app:v2'): StatefulSet {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'set-uid', generation: 1, resourceVersion: '7' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      serviceName: 'web',
      template: templateOf(image),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} },
      ...spec,
    },
  };
}

export function rolling(rollingUpdate: RollingUpdateStatefulSetStrategy): Spec {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
}

export const parallel: Spec = { podManagementPolicy: 'Parallel' };

export function templateOf(image: string): StatefulSet['spec']['template'] {
  const readinessGates = [{ conditionType: inPlaceUpdateReadyCondition }];
  return { metadata: { labels: { app: 'web' } }, spec: { readinessGates, containers: [{ name: 'main', image }] } };
}

export function revisionOf(image: string, revision: number): ControllerRevision {
  const content = { data: podTemplateData(templateOf(image)), labels: { app: 'web' } };
  const made = newRevision(setOf(), content, { revision });
  return { ...made, metadata: { ...made.metadata, uid: `revision-${revision}` } };
}

export const [v1, v2] = [revisionOf('app:v1', 1), revisionOf('app:v2', 2)];

export type PodTraits = {
  /** Image of the Pod, which determines its revision. */
  readonly image?: string;
  readonly isReady?: boolean;
  readonly readyForSeconds?: number;
  readonly phase?: NonNullable<Pod['status']>['phase'];
  readonly state?: string;
  readonly isTerminating?: boolean;
  readonly isSpecified?: boolean;
  readonly labels?: { readonly [key: string]: string };
  readonly finalizers?: readonly string[];
  readonly claims?: readonly string[];
  readonly owner?: OwnerReference | undefined;
};

export function podOf(ordinal: number, traits: PodTraits = {}): Pod {
  const { image = 'app:v1', isReady = true, phase = 'Running', state = 'Normal', readyForSeconds = 60 } = traits;
  const name = `web-${ordinal}`;
  const lastTransitionTime = formatTime(now - readyForSeconds * 1000);
  const ready = { status: isReady ? 'True' : 'False', lastTransitionTime } as const;
  const owner = 'owner' in traits ? traits.owner : controllerReference(setOf());
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '3',
      labels: {
        app: 'web',
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'controller-revision-hash': revisionOf(image, 1).metadata.name ?? '',
        ...(state ? { [lifecycleStateLabel]: state } : {}),
        ...(traits.isSpecified ? { [specifiedDeleteLabel]: 'true' } : {}),
        ...traits.labels,
      },
      ...(traits.finalizers ? { finalizers: traits.finalizers } : {}),
      ...(traits.isTerminating ? { deletionTimestamp: formatTime(now) } : {}),
      ...(owner ? { ownerReferences: [owner] } : {}),
    },
    spec: {
      ...templateOf(image).spec!,
      nodeName: 'node',
      volumes: (traits.claims ?? []).map((claim) => ({
        name: claim,
        persistentVolumeClaim: { claimName: `${claim}-${name}` },
      })),
    },
    status: {
      phase,
      conditions: [
        { type: inPlaceUpdateReadyCondition, status: 'True', lastTransitionTime },
        { type: 'ContainersReady', ...ready },
        { type: 'Ready', ...ready },
      ],
      containerStatuses: [
        { name: 'main', image, imageID: `sha256:${image}`, ready: isReady, restartCount: 0, state: {}, lastState: {} },
      ],
    },
  };
}

/**
 * Builds Pods from codes: `2` is ready at the old revision; `n` updated, `u` not ready, `t` terminating, `d`
 * specified-delete, `p` PreparingDelete.
 */
export function podsOf(codes: string): readonly Pod[] {
  return codes
    .split(' ')
    .filter((code) => code !== '')
    .map((code) =>
      podOf(Number.parseInt(code, 10), {
        image: code.includes('n') ? 'app:v2' : 'app:v1',
        isReady: !code.includes('u'),
        isTerminating: code.includes('t'),
        isSpecified: code.includes('d'),
        state: code.includes('p') ? 'PreparingDelete' : 'Normal',
      }),
    );
}

export type ClaimTraits = {
  readonly request?: string;
  readonly capacity?: string;
  readonly className?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: 'True' | 'False' }[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly isTerminating?: boolean;
};

export function claimOf(name: string, traits: ClaimTraits = {}): PersistentVolumeClaim {
  const { request = '1Gi', capacity = request, className, conditions, ownerReferences, isTerminating } = traits;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      ...(ownerReferences ? { ownerReferences } : {}),
      ...(isTerminating ? { deletionTimestamp: formatTime(now) } : {}),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(className ? { storageClassName: className } : {}),
      resources: { requests: { storage: request } },
    },
    status: { capacity: { storage: capacity }, ...(conditions ? { conditions } : {}) },
  };
}

/**
 * Formats an action: `+web-0:v1` creates a Pod with an image tag, `−web-0` deletes a Pod, `~web-0:v2` updates a Pod.
 */
export function formatAction(action: Action): string {
  if (action.type === 'record') return `event ${action.event.reason}`;
  if (action.type === 'effect') return action.name;
  const { kind, metadata } = action.object;
  const name = metadata.name ?? '';
  if (kind === 'ControllerRevision') return `${action.type} revision`;
  switch (action.type) {
    case 'create':
      return kind === 'Pod' ? `+${name}:${tagOf(action.object as unknown as Pod)}` : `+${name}`;
    case 'remove':
      return `−${name}`;
    case 'patch': {
      const { metadata: changed, spec } = action.patch as Partial<Pod>;
      if (spec?.containers) return `~${name}:${tagOf(action.patch as Pod)}`;
      if (action.subresource) return `conditions of ${name}`;
      const state = changed?.labels?.[lifecycleStateLabel];
      return state ? `${name} ${state}` : `patch ${name}`;
    }
    default:
      return `${action.type} ${name}`;
  }
}

function tagOf({ spec }: Pod): string {
  return spec?.containers[0]?.image?.split(':')[1] ?? '';
}
