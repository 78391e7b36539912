/** Minimal CloneSets and Pods for tests. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import {
  cloneSetInstanceIdLabel,
  inPlaceUpdateReadyCondition,
  lifecycleStateLabel,
  specifiedDeleteLabel,
} from '@kruise/api/kruise/well-known';
import { newRevision, podTemplateData } from '@kruise/machinery/controller-revision';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatTime, instantOf } from '@kruise/values/time';

export const now = instantOf(2026, 1, 1, 12);

type Spec = Partial<CloneSet['spec']>;

export function cloneSetOf(spec: Spec = {}, image = 'app:v2'): CloneSet {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'CloneSet',
    metadata: { name: 'web', namespace: 'default', uid: 'set-uid', generation: 1, resourceVersion: '7' },
    spec: { selector: { matchLabels: { app: 'web' } }, template: templateOf(image), ...spec },
  };
}

export function templateOf(image: string): CloneSet['spec']['template'] {
  return { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } };
}

export const owner = {
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'CloneSet',
  metadata: { name: 'web', uid: 'set-uid' },
};

export function revisionOf(
  image: string,
  revision: number,
  annotations: { [key: string]: string } = {},
): ControllerRevision {
  const made = newRevision(
    { ...owner, metadata: { ...owner.metadata, namespace: 'default' } },
    { data: podTemplateData(templateOf(image)), labels: { app: 'web' }, annotations },
    { revision },
  );
  return { ...made, metadata: { ...made.metadata, uid: `revision-${revision}` } };
}

export type PodTraits = {
  readonly name: string;
  /** Image of the Pod, which determines its revision. */
  readonly image?: string;
  readonly isReady?: boolean;
  readonly state?: string;
  readonly isSpecified?: boolean;
  readonly node?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly finalizers?: readonly string[];
  readonly readyForSeconds?: number;
  readonly ageSeconds?: number;
  /** Readiness gates that the Pod has and waits for. Such a Pod has no conditions yet. */
  readonly pendingGates?: readonly string[];
};

export function podOf(traits: PodTraits): Pod {
  const { name, image = 'app:v1', isReady = true, state = 'Normal', readyForSeconds = 60, ageSeconds = 120 } = traits;
  const ready = {
    status: isReady ? 'True' : 'False',
    lastTransitionTime: formatTime(now - readyForSeconds * 1000),
  } as const;
  const hash = revisionOf(image, 1).metadata.name ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '3',
      creationTimestamp: formatTime(now - ageSeconds * 1000),
      labels: {
        app: 'web',
        'controller-revision-hash': hash,
        'pod-template-hash': hash.slice(hash.lastIndexOf('-') + 1),
        [cloneSetInstanceIdLabel]: name,
        ...(state ? { [lifecycleStateLabel]: state } : {}),
        ...(traits.isSpecified ? { [specifiedDeleteLabel]: 'true' } : {}),
        ...traits.labels,
      },
      ...(traits.annotations ? { annotations: traits.annotations } : {}),
      ...(traits.finalizers ? { finalizers: traits.finalizers } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      containers: [{ name: 'main', image }],
      nodeName: traits.node ?? 'node-1',
      readinessGates: (traits.pendingGates ?? [inPlaceUpdateReadyCondition]).map((conditionType) => ({
        conditionType,
      })),
    },
    status: traits.pendingGates
      ? { phase: 'Pending', conditions: [] }
      : {
          phase: 'Running',
          conditions: [
            { type: inPlaceUpdateReadyCondition, status: 'True', lastTransitionTime: formatTime(now) },
            { type: 'ContainersReady', ...ready },
            { type: 'Ready', ...ready },
          ],
          containerStatuses: [
            {
              name: 'main',
              image,
              imageID: `sha256:${image}`,
              ready: isReady,
              restartCount: 0,
              state: {},
              lastState: {},
            },
          ],
        },
  };
}

/**
 * Builds Pods from codes: `Nr` updated and ready, `On` old and not ready, with `D` specified-delete, `P`
 * PreparingDelete.
 */
export function podsOf(codes: string): readonly Pod[] {
  return codes
    .split(' ')
    .filter((code) => code !== '')
    .map((code, index) =>
      podOf({
        name: `${code.toLowerCase()}-${index}`,
        image: code.startsWith('N') ? 'app:v2' : 'app:v1',
        isReady: code[1] === 'r',
        isSpecified: code.includes('D'),
        state: code.includes('P') ? 'PreparingDelete' : code.includes('U') ? 'PreparingUpdate' : 'Normal',
      }),
    );
}
