/** Pods that run one on each node: which nodes they run on, and how each is meant for its own (kcm.md §4). */
import type { Affinity } from '@kruise/api/core/affinity';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { Toleration } from '@kruise/api/core/toleration';
import { compareStrings } from '@kruise/values/go-syntax';
import { parseTime } from '@kruise/values/time';
import { requiredNodes } from './node-affinity.ts';
import { findUntolerated, forbiddingEffects } from './tolerations.ts';

/** Whether a node is to have a Pod. */
export type Placement = {
  /** Where there is none yet, one is made. */
  readonly shouldRun: boolean;
  /** Where there is one already, it stays. */
  readonly shouldContinue: boolean;
};

const nowhere: Placement = { shouldRun: false, shouldContinue: false };

/** What nodes Pods are to be on by their node name, node affinity and tolerations. Compiled once for many nodes. */
export function placementOf(spec: PodSpec | undefined): (node: Node) => Placement {
  const tolerations = withDaemonTolerations(spec);
  const isWanted = spec && requiredNodes(spec);
  return (node) => {
    if (spec?.nodeName && spec.nodeName !== node.metadata.name) return nowhere;
    if (isWanted && !isWanted(node)) return nowhere;
    const taints = node.spec?.taints;
    return {
      shouldRun: findUntolerated(taints, tolerations, forbiddingEffects) === undefined,
      shouldContinue: findUntolerated(taints, tolerations, ['NoExecute']) === undefined,
    };
  };
}

const condition = (name: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
  key: `node.kubernetes.io/${name}`,
  operator: 'Exists',
  effect,
});

/** A node in trouble keeps its Pods: they may be what gets it out, and nowhere else could they go. */
const always: readonly Toleration[] = [
  condition('not-ready', 'NoExecute'),
  condition('unreachable', 'NoExecute'),
  condition('disk-pressure', 'NoSchedule'),
  condition('memory-pressure', 'NoSchedule'),
  condition('pid-pressure', 'NoSchedule'),
  condition('unschedulable', 'NoSchedule'),
];
const onHostNetwork = condition('network-unavailable', 'NoSchedule');

/** The tolerations of Pods, with those that such Pods have in any case: in place of what is limited in time, say. */
export function withDaemonTolerations(spec: PodSpec | undefined): readonly Toleration[] {
  const added = spec?.hostNetwork ? [...always, onHostNetwork] : always;
  const present = spec?.tolerations ?? [];
  const missing = added.filter((toleration) => !present.some((each) => isAlike(each, toleration)));
  return [...present.map((each) => added.find((toleration) => isAlike(each, toleration)) ?? each), ...missing];
}

function isAlike(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && !a.value;
}

/** An affinity that leaves a Pod one node. What it required before has been seen to already, and is replaced. */
export function pinnedTo(nodeName: string, affinity?: Affinity): Affinity {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] } as const];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

/** The node a Pod is on, or is meant for. */
export function targetNodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const pin = terms
    .flatMap(({ matchFields }) => matchFields ?? [])
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return pin?.values?.length === 1 ? pin.values[0] : undefined;
}

/** Of several Pods of a node the one to keep first: one that is on it, then the oldest. */
export function compareDaemonPods(a: Pod, b: Pod): number {
  return (
    Number(!a.spec?.nodeName) - Number(!b.spec?.nodeName) ||
    createdAt(a) - createdAt(b) ||
    compareStrings(a.metadata.name ?? '', b.metadata.name ?? '')
  );
}

function createdAt({ metadata: { creationTimestamp } }: Pod): number {
  return creationTimestamp ? parseTime(creationTimestamp) : 0;
}
