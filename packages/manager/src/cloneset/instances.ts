/** Pods and PVCs of a CloneSet, and the instance ID that a Pod shares with its PVCs. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { cloneSetInstanceIdLabel, inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { randomSuffix } from '@kruise/machinery/generated-names';
import { controllerReference, type Owner } from '@kruise/machinery/owner-references';
import { compareStrings } from '@kruise/values/go-syntax';
import { seededRandom } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import { stateMetadata } from '../workload/lifecycle/lifecycle.ts';

/** Returns the instance ID of a Pod or a PVC. */
export function instanceIdOf({ metadata }: Pod | PersistentVolumeClaim): string | undefined {
  return metadata.labels?.[cloneSetInstanceIdLabel];
}

/**
 * Returns instance IDs for new Pods: first the IDs of PVCs without a Pod, then unused random IDs, in alphabetical
 * order. New Pods get the IDs in this order.
 */
export function newInstanceIds(
  cloneSet: CloneSet,
  count: number,
  { pods, claims }: { readonly pods: readonly Pod[]; readonly claims: readonly PersistentVolumeClaim[] },
  now: Instant,
): readonly string[] {
  const taken = new Set(pods.map(instanceIdOf));
  const left = new Set(claims.map(instanceIdOf).filter((id) => id !== undefined && !taken.has(id)) as string[]);
  const ids = new Set([...left].slice(0, count));
  // The seed is the CloneSet's UID and the time: a repeated decision yields the same IDs.
  const random = seededRandom(`${cloneSet.metadata.uid} ${now}`);
  while (ids.size < count) {
    const id = randomSuffix(random, 5);
    if (!taken.has(id) && !left.has(id)) ids.add(id);
  }
  return [...ids].sort(compareStrings);
}

/** Input of a new Pod. */
export type Blueprint = {
  readonly template: PodTemplateSpec;
  /** Labels of the template's revision. */
  readonly revisionLabels: { readonly [label: string]: string };
};

export function newPod(cloneSet: CloneSet, id: string, { template, revisionLabels }: Blueprint, now: Instant): Pod {
  const { name = '', namespace } = cloneSet.metadata;
  const marks = stateMetadata('PreparingNormal', now);
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const spec = template.spec ?? { containers: [] };
  const gates = spec.readinessGates ?? [];
  const hasGate = gates.some(({ conditionType }) => conditionType === inPlaceUpdateReadyCondition);
  const claimVolumes = (cloneSet.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(cloneSet, metadata?.name ?? '', id) },
  }));
  const claimed = new Set(claimVolumes.map((volume) => volume.name));
  const volumes = [...claimVolumes, ...(spec.volumes ?? []).filter((volume) => !claimed.has(volume.name))];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${id}`,
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labels, ...revisionLabels, [cloneSetInstanceIdLabel]: id, ...marks.labels },
      annotations: { ...annotations, ...marks.annotations },
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [controllerReference(ownerOf(cloneSet))],
    },
    spec: {
      ...spec,
      readinessGates: hasGate ? gates : [...gates, { conditionType: inPlaceUpdateReadyCondition }],
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  };
}

/** Returns the PVCs of a Pod with this instance ID. */
export function newClaims(cloneSet: CloneSet, id: string): readonly PersistentVolumeClaim[] {
  const { namespace } = cloneSet.metadata;
  return (cloneSet.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...metadata,
      name: claimName(cloneSet, metadata?.name ?? '', id),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...metadata?.labels, ...cloneSet.spec.selector.matchLabels, [cloneSetInstanceIdLabel]: id },
      ownerReferences: [controllerReference(ownerOf(cloneSet))],
    },
    ...(spec ? { spec } : {}),
  }));
}

function claimName({ metadata }: CloneSet, template: string, id: string): string {
  return `${template}-${metadata.name}-${id}`;
}

/** Returns a CloneSet as an owner: a CloneSet in a cluster has a name and a UID. */
export function ownerOf({ metadata }: CloneSet): Owner & Pick<CloneSet, 'metadata'> {
  return { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', metadata };
}
