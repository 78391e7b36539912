/** UnitedDeployments, their workloads and Pods for tests. */
import type { Pod } from '@kruise/api/core/pod';
import type { SubsetTemplate, UnitedDeployment, UnitedDeploymentStatus } from '@kruise/api/kruise/uniteddeployment';
import { subsetNameLabel, subsetPatchAnnotation, unitedDeploymentRevisionLabel } from '@kruise/api/kruise/well-known';
import { apiVersionOf } from '@kruise/schema/kind';
import { formatTime, instantOf } from '@kruise/values/time';
import { type Workload, type WorkloadType, workloadTypes } from './workload-types.ts';

export const now = instantOf(2026, 1, 1);
/** Returns the time some seconds ago. */
export const ago = (seconds: number) => formatTime(now - seconds * 1000);

const labels = { app: 'web' };

export const podTemplate = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } };

/** Returns a minimal template of a workload type. */
export function templateFor(workloadType: WorkloadType, spec: object = {}): SubsetTemplate {
  // Every workload type has a Pod template; tests add type-specific fields.
  const whole = { selector: { matchLabels: labels }, template: podTemplate, ...spec };
  return { [workloadType.template]: { metadata: { labels }, spec: whole } } as SubsetTemplate;
}

export function findWorkloadType(name: string): WorkloadType {
  return workloadTypes.find((workloadType) => workloadType.name === name)!;
}

export const cloneSets = findWorkloadType('CloneSet');

export function deploymentOf(
  spec: Partial<UnitedDeployment['spec']> = {},
  status?: Partial<UnitedDeploymentStatus>,
): UnitedDeployment {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'UnitedDeployment',
    metadata: { name: 'web', namespace: 'default', uid: 'web-uid', generation: 1 },
    spec: {
      replicas: 4,
      selector: { matchLabels: labels },
      template: templateFor(cloneSets),
      updateStrategy: { type: 'Manual', manualUpdate: {} },
      topology: { subsets: [{ name: 'a' }, { name: 'b' }] },
      ...spec,
    },
    ...(status ? { status: { replicas: 0, updatedReplicas: 0, currentRevision: '', ...status } } : {}),
  };
}

export type WorkloadOptions = {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly partition?: number;
  readonly revision?: string;
  readonly type?: string;
  readonly name?: string;
  /** Set where the UnitedDeployment owns the workload; true by default. */
  readonly isOwned?: boolean;
};

/** Builds the workload of a subset, in its desired state by default. */
export function workloadOf(workloadType: WorkloadType, subset: string, options: WorkloadOptions = {}): Workload {
  const { replicas = 2, readyReplicas = replicas, revision = '', partition = 0, type, isOwned = true } = options;
  const name = options.name ?? `web-${subset}-x`;
  const owner = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'UnitedDeployment',
    name: 'web',
    uid: 'web-uid',
    controller: true,
    blockOwnerDeletion: true,
  };
  const strategy = { ...(type ? { type } : {}), ...(type === 'OnDelete' ? {} : { rollingUpdate: { partition } }) };
  return {
    apiVersion: apiVersionOf(workloadType.kind),
    kind: workloadType.kind.kind,
    metadata: {
      name,
      namespace: 'default',
      uid: `${name}-uid`,
      labels: { ...labels, [subsetNameLabel]: subset, [unitedDeploymentRevisionLabel]: revision },
      annotations: { [subsetPatchAnnotation]: '' },
      ...(isOwned ? { ownerReferences: [owner] } : {}),
    },
    spec: { replicas, [workloadType.strategy]: strategy },
    status: { replicas, readyReplicas },
  };
}

export type PodOptions = {
  readonly revision?: string;
  /** Age of the Pod in seconds. */
  readonly age?: number;
  /** Seconds since the Pod became ready; not ready where undefined. */
  readonly ready?: number;
  /** Value of the reservation label. */
  readonly mark?: string;
  readonly isTerminating?: boolean;
  /** Set for an unschedulable Pod. */
  readonly isPending?: boolean;
};

export function podOf(name: string, options: PodOptions = {}): Pod {
  const { revision = '', age = 60, ready, mark, isTerminating = false, isPending = false } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `${name}-uid`,
      creationTimestamp: ago(age),
      ...(isTerminating ? { deletionTimestamp: ago(1) } : {}),
      labels: {
        ...labels,
        [unitedDeploymentRevisionLabel]: revision,
        ...(mark === undefined ? {} : { 'apps.kruise.io/united-deployment-reserved-pod': mark }),
      },
    },
    spec: { containers: [], ...(isPending ? {} : { nodeName: 'node' }) },
    status: {
      phase: isPending ? 'Pending' : 'Running',
      conditions: [
        ...(isPending ? [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const] : []),
        ...(ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ago(ready) } as const]),
      ],
    },
  };
}
