import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import { pinnedTo } from '@kruise/machinery/daemon-pods';
import { podFromTemplate } from '@kruise/machinery/pod-template';

/** What Pods are found by, besides who controls them. */
export function ownLabels({ metadata }: BroadcastJob): { readonly [label: string]: string } {
  const { name = '', uid = '' } = metadata;
  return { 'broadcastjob-name': name, 'broadcastjob-controller-uid': uid };
}

/** Whether a Pod has the labels of a job's Pods. */
export function hasOwnLabels(job: BroadcastJob, { metadata }: Pod): boolean {
  return Object.entries(ownLabels(job)).every(([label, value]) => metadata.labels?.[label] === value);
}

/** The Pod of a node: the scheduler is left no other, or is not asked. */
export function podFor(
  job: BroadcastJob,
  nodeName: string,
  { usesScheduler }: { readonly usesScheduler: boolean },
): Pod {
  const { template } = job.spec;
  const labels = { ...template.metadata?.labels, ...ownLabels(job) };
  const pod = podFromTemplate(job, { ...template, metadata: { ...template.metadata, labels } });
  // A template that was taken in has a spec.
  const spec = template.spec!;
  return {
    ...pod,
    spec: usesScheduler ? { ...spec, affinity: pinnedTo(nodeName, spec.affinity) } : { ...spec, nodeName },
  };
}
