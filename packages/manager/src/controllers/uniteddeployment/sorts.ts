/** The four sorts of workloads that can stand for a domain, and in what they differ (uniteddeployment.md §7, §10). */
import { deployment } from '@kruise/api/apps/deployment';
import { statefulSet as builtinStatefulSet } from '@kruise/api/apps/statefulset';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import type { SubsetTemplate } from '@kruise/api/kruise/uniteddeployment';
import { unitedDeploymentRevisionLabel } from '@kruise/api/kruise/well-known';
import type { LabelSelector } from '@kruise/api/meta/label-selector';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { KubernetesObject } from '@kruise/client/object-key';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { type IntOrString, scaleUp } from '@kruise/values/int-or-string';

type Strategy = {
  readonly type?: string;
  readonly rollingUpdate?: { readonly partition?: IntOrString; readonly maxUnavailable?: IntOrString };
};

/** As much as the specs of all sorts have in common; each has its strategy in one of the two fields. */
export type WorkloadSpec = {
  readonly replicas?: number;
  readonly selector?: LabelSelector | null;
  readonly template?: PodTemplateSpec;
  readonly updateStrategy?: Strategy;
  readonly strategy?: Strategy;
};

export type Workload = KubernetesObject & {
  readonly spec?: WorkloadSpec;
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
};

export type WorkloadTemplate = { readonly metadata?: ObjectMeta; readonly spec: WorkloadSpec };

export type Sort = {
  /** As events and messages call it. */
  readonly name: string;
  readonly kind: Kind;
  readonly template: keyof SubsetTemplate;
  readonly strategy: 'updateStrategy' | 'strategy';
  /** How many Pods it keeps at the old revision; undefined where it cannot keep any. */
  readonly partitionOf: (workload: Workload, pods: readonly Pod[]) => number | undefined;
  /** Set if revisions of the template carry the template's labels; in the reference those of CloneSets do not. */
  readonly labelsRevisions: boolean;
  /** Its strategy with another partition. */
  readonly withPartition: (strategy: Strategy, partition: number) => Strategy;
};

/** Who has its Pods deleted by others keeps those that are still there. */
function numberedPartition({ metadata, spec }: Workload, pods: readonly Pod[]): number {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  if (type !== 'OnDelete') return Number(rollingUpdate?.partition ?? 0);
  const revision = metadata.labels?.[unitedDeploymentRevisionLabel];
  return pods.filter((pod) => pod.metadata.labels?.[unitedDeploymentRevisionLabel] !== revision).length;
}

function withRollingPartition(strategy: Strategy, partition: number): Strategy {
  return { ...strategy, rollingUpdate: { ...strategy.rollingUpdate, partition } };
}

function isRolling({ type }: Strategy): boolean {
  return !type || type === 'RollingUpdate';
}

/** Of several templates the first counts. */
export const sorts: readonly Sort[] = [
  {
    name: 'StatefulSet',
    kind: builtinStatefulSet,
    template: 'statefulSetTemplate',
    labelsRevisions: true,
    strategy: 'updateStrategy',
    partitionOf: numberedPartition,
    withPartition: (strategy, partition) =>
      isRolling(strategy) ? { ...withRollingPartition(strategy, partition), type: 'RollingUpdate' } : strategy,
  },
  {
    name: 'AdvancedStatefulSet',
    kind: statefulSet,
    template: 'advancedStatefulSetTemplate',
    labelsRevisions: true,
    strategy: 'updateStrategy',
    partitionOf: numberedPartition,
    withPartition: (strategy, partition) =>
      isRolling(strategy) ? withRollingPartition(strategy, partition) : strategy,
  },
  {
    name: 'CloneSet',
    kind: cloneSet,
    template: 'cloneSetTemplate',
    labelsRevisions: false,
    strategy: 'updateStrategy',
    partitionOf: ({ spec }) => scaleUp(spec?.updateStrategy?.rollingUpdate?.partition ?? 0, spec?.replicas ?? 0),
    withPartition: withRollingPartition,
  },
  {
    name: 'Deployment',
    kind: deployment,
    template: 'deploymentTemplate',
    labelsRevisions: true,
    strategy: 'strategy',
    partitionOf: () => undefined,
    withPartition: (strategy) => strategy,
  },
];

/** The sort of workloads a template is of; undefined where there is none. */
export function sortOf(template: SubsetTemplate | undefined): Sort | undefined {
  return sorts.find((sort) => template?.[sort.template] != null);
}

/** The sort of a workload. */
export function sortOfWorkload({ apiVersion, kind }: Workload): Sort {
  // Nothing but workloads of these sorts is ever looked at.
  return sorts.find((sort) => sort.kind.kind === kind && apiVersionOf(sort.kind) === apiVersion)!;
}

/** The template of a sort that is known to have one. */
export function templateOf(template: SubsetTemplate, sort: Sort): WorkloadTemplate {
  // Every sort's template has what is common to all.
  return template[sort.template] as WorkloadTemplate;
}
