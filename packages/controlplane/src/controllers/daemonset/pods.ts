/** What a DaemonSet asks of its Pods, and how it makes them. */

import { templateGeneration } from '@kruise/api/apps/daemonset.default';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { pinnedTo, targetNodeOf, withDaemonTolerations } from '@kruise/machinery/daemon-pods';
import { podFromTemplate } from '@kruise/machinery/pod-template';
import { isPodFinished } from '@kruise/machinery/pods';
import { tryParseInteger } from '@kruise/values/go-integer';
import { hashOf } from './history.ts';
import type { NodeSet } from './situation.ts';

const generationLabel = 'pod-template-generation';

/** How a Pod is meant for a node: by an affinity, for a scheduler to see, unless somebody does without one. */
export type Placing = (spec: PodSpec, nodeName: string) => PodSpec;

const pinned: Placing = (spec, nodeName) => ({ ...spec, affinity: pinnedTo(nodeName, spec.affinity) });

/** Makes the Pods of a template, each for a node. */
export function podsFor(set: NodeSet, hash: string, place: Placing = pinned): (nodeName: string) => Pod {
  const { template } = set.spec ?? {};
  const generation = generationOf(set);
  const labels = {
    ...template?.metadata?.labels,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
    [podRevisionLabel]: hash,
  };
  const pod = podFromTemplate(set, { ...template, metadata: { ...template?.metadata, labels } });
  const spec = {
    ...template?.spec,
    containers: template?.spec?.containers ?? [],
    tolerations: withDaemonTolerations(template?.spec),
  };
  return (nodeName) => ({ ...pod, spec: place(spec, nodeName) });
}

/** Whether Pods are of the present template, by its hash or by what was counted before there were hashes. */
export function isUpdatedBy(set: NodeSet, hash: string): (pod: Pod) => boolean {
  const generation = generationOf(set);
  return (pod) =>
    hashOf(pod) === hash || (generation !== undefined && pod.metadata.labels?.[generationLabel] === generation);
}

function generationOf({ metadata }: NodeSet): string | undefined {
  return tryParseInteger(metadata.annotations?.[templateGeneration] ?? '')?.toString();
}

/** The Pods of each node, those that are over and on their way out apart: there is nothing left to do about them. */
export function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    if (isPodFinished(pod) && pod.metadata.deletionTimestamp != null) continue;
    const node = targetNodeOf(pod);
    if (node === undefined) continue;
    const present = byNode.get(node);
    if (present) present.push(pod);
    else byNode.set(node, [pod]);
  }
  return byNode;
}
