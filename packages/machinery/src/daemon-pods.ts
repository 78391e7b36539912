/** Pods of DaemonSets: the nodes they run on, and how each Pod is pinned to its node. */
import type { Affinity } from '@kruise/api/core/affinity';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { Toleration } from '@kruise/api/core/toleration';
import { compareStrings } from '@kruise/values/go-syntax';
import { parseTime } from '@kruise/values/time';
import { requiredNodes } from './node-affinity.ts';
import { findUntolerated, forbiddingEffects } from './tolerations.ts';

/** Decision whether a node has a daemon Pod. */
export type Placement = {
  /** Set if a Pod is created on a node without one. */
  readonly shouldRun: boolean;
  /** Set if an existing Pod stays on the node. */
  readonly shouldContinue: boolean;
};

const nowhere: Placement = { shouldRun: false, shouldContinue: false };

/**
 * Returns a predicate for the nodes of daemon Pods by node name, node affinity and tolerations. Compiled once for many
 * nodes.
 *
 * ```ts
 * const { shouldRun } = placementOf(template.spec)(worker);
 * ```
 */
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

/** Tolerations of node problems: a daemon Pod may be what resolves them, and cannot run elsewhere. */
const daemonTolerations: readonly Toleration[] = [
  condition('not-ready', 'NoExecute'),
  condition('unreachable', 'NoExecute'),
  condition('disk-pressure', 'NoSchedule'),
  condition('memory-pressure', 'NoSchedule'),
  condition('pid-pressure', 'NoSchedule'),
  condition('unschedulable', 'NoSchedule'),
];
const onHostNetwork = condition('network-unavailable', 'NoSchedule');

/**
 * Returns the tolerations of a daemon Pod: those of the template, with the default ones added or replacing limited
 * ones.
 */
export function withDaemonTolerations(spec: PodSpec | undefined): readonly Toleration[] {
  const added = spec?.hostNetwork ? [...daemonTolerations, onHostNetwork] : daemonTolerations;
  const present = spec?.tolerations ?? [];
  const missing = added.filter((toleration) => !present.some((each) => isAlike(each, toleration)));
  return [...present.map((each) => added.find((toleration) => isAlike(each, toleration)) ?? each), ...missing];
}

function isAlike(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && !a.value;
}

/**
 * Returns an affinity that allows one node only. It replaces the required node affinity, which `placementOf` has
 * evaluated already.
 */
export function pinToNode(nodeName: string, affinity?: Affinity): Affinity {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] } as const];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

/** Returns the node that a Pod runs on or is pinned to. */
export function targetNodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const pin = terms
    .flatMap(({ matchFields }) => matchFields ?? [])
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return pin?.values?.length === 1 ? pin.values[0] : undefined;
}

/** Compares the Pods of a node; the first one is kept: Pods that are bound, then the oldest. */
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
