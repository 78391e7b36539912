/** The four workload types that a subset can have, and how they differ. */
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

/** Common fields of all workload specs. Each type has its strategy in one of the two fields. */
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

export type WorkloadType = {
  /** Name in events and messages. */
  readonly name: string;
  readonly kind: Kind;
  readonly template: keyof SubsetTemplate;
  readonly strategy: 'updateStrategy' | 'strategy';
  /**
   * Returns the number of Pods that the workload keeps at the old revision; undefined where the type has no partition.
   */
  readonly partitionOf: (workload: Workload, pods: readonly Pod[]) => number | undefined;
  /** Set if revisions of the template carry the template's labels; in OpenKruise those of CloneSets do not. */
  readonly labelsRevisions: boolean;
  /** Returns the strategy with another partition. */
  readonly withPartition: (strategy: Strategy, partition: number) => Strategy;
};

/** Returns the partition of a StatefulSet. With OnDelete, the remaining outdated Pods count as the partition. */
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

/** All workload types. Where the spec has several templates, the first type in this list applies. */
export const workloadTypes: readonly WorkloadType[] = [
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

/** Returns the workload type of a template; undefined where there is none. */
export function workloadTypeOf(template: SubsetTemplate | undefined): WorkloadType | undefined {
  return workloadTypes.find((workloadType) => template?.[workloadType.template] != null);
}

/** Returns the type of a workload. */
export function typeOfWorkload({ apiVersion, kind }: Workload): WorkloadType {
  // Only workloads of these types are read.
  return workloadTypes.find(
    (workloadType) => workloadType.kind.kind === kind && apiVersionOf(workloadType.kind) === apiVersion,
  )!;
}

/** Returns the template of a type, which must exist. */
export function templateOf(template: SubsetTemplate, workloadType: WorkloadType): WorkloadTemplate {
  // The templates of all types have these common fields.
  return template[workloadType.template] as WorkloadTemplate;
}
