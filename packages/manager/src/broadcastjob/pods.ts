import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import { pinToNode } from '@kruise/machinery/daemon-pods';
import { podFromTemplate } from '@kruise/machinery/pod-template';

/** Returns the labels that select the job's Pods, in addition to the controller reference. */
export function ownLabels({ metadata }: BroadcastJob): { readonly [label: string]: string } {
  const { name = '', uid = '' } = metadata;
  return { 'broadcastjob-name': name, 'broadcastjob-controller-uid': uid };
}

/** Reports whether a Pod has the labels of the job's Pods. */
export function hasOwnLabels(job: BroadcastJob, { metadata }: Pod): boolean {
  return Object.entries(ownLabels(job)).every(([label, value]) => metadata.labels?.[label] === value);
}

/** Builds the Pod of a node: with a node affinity for exactly this node, or with nodeName set and no scheduler. */
export function podFor(
  job: BroadcastJob,
  nodeName: string,
  { usesScheduler }: { readonly usesScheduler: boolean },
): Pod {
  const { template } = job.spec;
  const labels = { ...template.metadata?.labels, ...ownLabels(job) };
  const pod = podFromTemplate(job, { ...template, metadata: { ...template.metadata, labels } });
  // Validation ensures that a template has a spec.
  const spec = template.spec!;
  return {
    ...pod,
    spec: usesScheduler ? { ...spec, affinity: pinToNode(nodeName, spec.affinity) } : { ...spec, nodeName },
  };
}
