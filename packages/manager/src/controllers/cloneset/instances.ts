/** The Pods and volume claims of a CloneSet, and the id that each Pod and its claims have in common. */
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
import { stateMarks } from '../../lifecycle/lifecycle.ts';

/** The id of a Pod or a claim. */
export function instanceIdOf({ metadata }: Pod | PersistentVolumeClaim): string | undefined {
  return metadata.labels?.[cloneSetInstanceIdLabel];
}

/**
 * Ids for new Pods: first those whose claims are there without a Pod, then ones that nobody has. In the order of the
 * alphabet, in which they are handed out.
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
  // Chance by what is decided about and when: a decision that is taken again is the same.
  const random = seededRandom(`${cloneSet.metadata.uid} ${now}`);
  while (ids.size < count) {
    const id = randomSuffix(random, 5);
    if (!taken.has(id) && !left.has(id)) ids.add(id);
  }
  return [...ids].sort(compareStrings);
}

/** What a new Pod is made from. */
export type Blueprint = {
  readonly template: PodTemplateSpec;
  /** The labels of the revision the template is of. */
  readonly revisionLabels: { readonly [label: string]: string };
};

export function newPod(cloneSet: CloneSet, id: string, { template, revisionLabels }: Blueprint, now: Instant): Pod {
  const { name = '', namespace } = cloneSet.metadata;
  const marks = stateMarks('PreparingNormal', now);
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

/** The claims of a Pod with this id. */
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

/** A CloneSet as the owner of others: one that is in a cluster has a name and a uid. */
export function ownerOf({ metadata }: CloneSet): Owner & Pick<CloneSet, 'metadata'> {
  return { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', metadata };
}
