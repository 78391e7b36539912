/** Revisions and Pods for the tests of in-place updates. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { podTemplateData } from '@kruise/machinery/controller-revision';
import { formatTime, instantOf } from '@kruise/values/time';

export const now = instantOf(2026, 1, 1, 12);

export function templateOf(
  containers: readonly Container[],
  metadata: PodTemplateSpec['metadata'] = {},
): PodTemplateSpec {
  return { metadata, spec: { containers } };
}

export function revisionOf(
  name: string,
  template: PodTemplateSpec,
  annotations: { readonly [key: string]: string } = {},
): ControllerRevision {
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, annotations },
    data: podTemplateData(template),
    revision: 1,
  };
}

/** Returns a container that starts after those of a higher priority. */
export function prioritized(container: Container, priority: number): Container {
  const key = { name: 'pod-barrier', key: `p_${priority}` };
  const barrier = { name: 'KRUISE_CONTAINER_BARRIER', valueFrom: { configMapKeyRef: key } };
  return { ...container, env: [...(container.env ?? []), barrier] };
}

export function fromLabel(name: string, label: string) {
  return { name, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${label}']` } } };
}

type Traits = {
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  /** Image and image ID of running containers, where they differ from the spec. */
  readonly running?: { readonly [container: string]: readonly [image: string, imageID: string] };
  readonly notReady?: readonly string[];
  readonly isGated?: boolean;
  readonly condition?: 'True' | 'False';
};

export function podOf(containers: readonly Container[], traits: Traits = {}): Pod {
  const { labels = {}, annotations = {}, running = {}, notReady = [], isGated = true, condition } = traits;
  const ready = { status: 'True', lastTransitionTime: formatTime(now - 60_000) } as const;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', namespace: 'default', uid: 'uid', resourceVersion: '5', labels, annotations },
    spec: {
      containers,
      ...(isGated ? { readinessGates: [{ conditionType: inPlaceUpdateReadyCondition }] } : {}),
    },
    status: {
      conditions: [
        { type: 'ContainersReady', ...ready },
        { type: 'Ready', ...ready },
        ...(condition ? [{ type: inPlaceUpdateReadyCondition, status: condition }] : []),
      ],
      containerStatuses: containers.map(({ name, image = '' }) => {
        const [runs, imageID] = running[name] ?? [image, `id-of-${image}`];
        const isReady = !notReady.includes(name);
        return { name, image: runs, imageID, ready: isReady, restartCount: 0, state: {}, lastState: {} };
      }),
    },
  };
}
