/** What a Job writes on its Pods, and reads from them. */
import type { Job } from '@kruise/api/batch/job';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { hasFinalizer, isBeingDeleted, type PatchAction, patch } from '@kruise/client/actions';
import { podFromTemplate } from '@kruise/machinery/pod-template';
import { isPodFinished } from '@kruise/machinery/pods';

/** Keeps a Pod that has ended until it is counted. */
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

/** Whether somebody else looks after a Job. */
export function isManagedElsewhere({ spec }: Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== 'kubernetes.io/job-controller';
}

/** Whether a Pod is replaced only once it has failed, rather than as soon as it is on its way out. */
export function replacesFailedOnly({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

/** Whether a Pod counts as failed. One that is deleted may never get as far as to say so itself. */
export function isFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return !replacesFailedOnly(job) && isBeingDeleted(pod) && pod.status?.phase !== 'Succeeded';
}

export function isTerminating(pod: Pod): boolean {
  return isBeingDeleted(pod) && !isPodFinished(pod);
}

/** Whether a Pod has not been counted for good. */
export function isTracked(pod: Pod): boolean {
  return hasFinalizer(pod, trackingFinalizer);
}

/** Lets go of a Pod, whoever has changed it meanwhile. */
export function release(pod: Pod): PatchAction {
  const changes = { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } };
  return { ...patch(pod, changes), patchType: 'strategic' };
}

/** The index a Pod works on. */
export function indexOf({ metadata }: Pod): number | undefined {
  return parseCount(metadata.annotations?.[completionIndexKey]);
}

/** How many Pods of its index failed before a Pod: those that count, and those a policy has ignored. */
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

/** A Pod of a Job. */
export function jobPod(job: Job): Pod {
  const pod = podFromTemplate(job, job.spec?.template);
  const finalizers = pod.metadata.finalizers ?? [];
  const isAmong = finalizers.includes(trackingFinalizer);
  return {
    ...pod,
    metadata: { ...pod.metadata, finalizers: isAmong ? finalizers : [...finalizers, trackingFinalizer] },
  };
}

/** A maker of Pods for the indexes of a Job; they share what they have in common. */
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

/** The spec of a Pod whose containers are told the index. */
function withIndexVariable(spec: PodTemplateSpec['spec']): PodTemplateSpec['spec'] {
  if (!spec) return undefined;
  const told = (container: Container): Container =>
    container.env?.some(({ name }) => name === indexVariable)
      ? container
      : { ...container, env: [...(container.env ?? []), variable] };
  return {
    ...spec,
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(told) } : {}),
    ...(spec.containers ? { containers: spec.containers.map(told) } : {}),
  };
}

const variable = {
  name: indexVariable,
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${completionIndexKey}']` } },
};
