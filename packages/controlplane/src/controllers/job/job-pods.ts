/** Labels, annotations and finalizers of a Job's Pods. */
import type { Job } from '@kruise/api/batch/job';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { hasFinalizer, isBeingDeleted, type PatchAction, patch } from '@kruise/client/actions';
import { podFromTemplate } from '@kruise/machinery/pod-template';
import { isPodFinished } from '@kruise/machinery/pods';

/** Keeps a finished Pod until it is counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const completionIndexKey = 'batch.kubernetes.io/job-completion-index';
const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
const ignoredFailureCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';
const indexVariable = 'JOB_COMPLETION_INDEX';
const maxGenerateNameLength = 58;

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend ?? false;
}

/** Reports whether another controller manages the Job (`spec.managedBy`). */
export function isExternallyManaged({ spec }: Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== 'kubernetes.io/job-controller';
}

/** Reports whether a Pod is replaced only when it has failed, rather than when it is terminating. */
export function replacesFailedOnly({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

/** Reports whether a Pod counts as failed. A deleted Pod may never report its failure. */
export function isFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return !replacesFailedOnly(job) && isBeingDeleted(pod) && pod.status?.phase !== 'Succeeded';
}

export function isTerminating(pod: Pod): boolean {
  return isBeingDeleted(pod) && !isPodFinished(pod);
}

/** Reports whether a Pod is not counted yet. */
export function isTracked(pod: Pod): boolean {
  return hasFinalizer(pod, trackingFinalizer);
}

/** Removes the tracking finalizer, regardless of concurrent changes. */
export function release(pod: Pod): PatchAction {
  const changes = { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } };
  return { ...patch(pod, changes), patchType: 'strategic' };
}

/** Returns the completion index of a Pod. */
export function indexOf({ metadata }: Pod): number | undefined {
  return parseCount(metadata.annotations?.[completionIndexKey]);
}

/**
 * Returns how many Pods of the index failed before this Pod: counted failures, and failures that the policy ignored.
 */
export function failuresBefore({ metadata }: Pod): { readonly counted: number; readonly ignored: number } {
  const { annotations } = metadata;
  return {
    counted: parseCount(annotations?.[failureCountKey]) ?? 0,
    ignored: parseCount(annotations?.[ignoredFailureCountKey]) ?? 0,
  };
}

function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\+?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns a Pod of a non-indexed Job. */
export function jobPod(job: Job): Pod {
  const pod = podFromTemplate(job, job.spec?.template);
  const finalizers = pod.metadata.finalizers ?? [];
  const isAmong = finalizers.includes(trackingFinalizer);
  return {
    ...pod,
    metadata: { ...pod.metadata, finalizers: isAmong ? finalizers : [...finalizers, trackingFinalizer] },
  };
}

/** Returns a function that creates Pods for the indexes of a Job; the Pods share common parts. */
export function indexedPods(job: Job): (index: number, failures?: Partial<ReturnType<typeof failuresBefore>>) => Pod {
  const base = jobPod(job);
  const { name = '' } = job.metadata;
  const spec = withIndexVariable(base.spec);
  return (index, failures) => {
    const suffix = `-${index}-`;
    const generateName = `${name.slice(0, maxGenerateNameLength - suffix.length)}${suffix}`;
    const labels = { ...base.metadata.labels, [completionIndexKey]: String(index) };
    const annotations = {
      ...base.metadata.annotations,
      [completionIndexKey]: String(index),
      ...(failures?.counted === undefined ? {} : { [failureCountKey]: String(failures.counted) }),
      ...(failures?.ignored ? { [ignoredFailureCountKey]: String(failures.ignored) } : {}),
    };
    return {
      ...base,
      metadata: { ...base.metadata, generateName, labels, annotations },
      ...(spec ? { spec: { ...spec, hostname: `${name}-${index}` } } : {}),
    };
  };
}

/** Returns the Pod spec with the completion index as an environment variable of the containers. */
function withIndexVariable(spec: PodTemplateSpec['spec']): PodTemplateSpec['spec'] {
  if (!spec) return undefined;
  const withVariable = (container: Container): Container =>
    container.env?.some(({ name }) => name === indexVariable)
      ? container
      : { ...container, env: [...(container.env ?? []), variable] };
  return {
    ...spec,
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(withVariable) } : {}),
    ...(spec.containers ? { containers: spec.containers.map(withVariable) } : {}),
  };
}

const variable = {
  name: indexVariable,
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${completionIndexKey}']` } },
};
