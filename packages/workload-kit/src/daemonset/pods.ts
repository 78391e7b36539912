/** Daemon Pods: creation from the template and comparison with it. */

import { templateGeneration } from '@kruise/api/apps/daemonset.default';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { podRevisionLabel, revisionLabelOf } from '@kruise/machinery/controller-revision';
import { pinToNode, targetNodeOf, withDaemonTolerations } from '@kruise/machinery/daemon-pods';
import { podFromTemplate } from '@kruise/machinery/pod-template';
import { isPodFinished } from '@kruise/machinery/pods';
import { tryParseInteger } from '@kruise/values/go-integer';
import type { NodeSet } from './state.ts';

const generationLabel = 'pod-template-generation';

/**
 * Assigns a Pod to a node. The default is a node affinity that the scheduler evaluates; a controller without the
 * scheduler sets `nodeName`.
 */
export type PodPlacer = (spec: PodSpec, nodeName: string) => PodSpec;

const withNodeAffinity: PodPlacer = (spec, nodeName) => ({ ...spec, affinity: pinToNode(nodeName, spec.affinity) });

/** Returns a function that creates the Pod of a node from the template. */
export function podsFor(set: NodeSet, hash: string, place: PodPlacer = withNodeAffinity): (nodeName: string) => Pod {
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

/** Reports whether a Pod is at the current template, by the hash label or by the deprecated template generation. */
export function isUpdatedBy(set: NodeSet, hash: string): (pod: Pod) => boolean {
  const generation = generationOf(set);
  return (pod) =>
    revisionLabelOf(pod) === hash ||
    (generation !== undefined && pod.metadata.labels?.[generationLabel] === generation);
}

function generationOf({ metadata }: NodeSet): string | undefined {
  return tryParseInteger(metadata.annotations?.[templateGeneration] ?? '')?.toString();
}

/** Groups Pods by node. Finished Pods that are already terminating are excluded: nothing is left to do for them. */
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
