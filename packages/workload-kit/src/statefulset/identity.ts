/** Identity of StatefulSet Pods: ordinal, stable name and PVCs. */
import type { StatefulSet } from '@kruise/api/apps/statefulset';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { LabelSelector } from '@kruise/api/meta/label-selector';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import type { Owner } from '@kruise/machinery/owner-references';
import { podFromTemplate } from '@kruise/machinery/pod-template';

export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
export const podIndexLabel = 'apps.kubernetes.io/pod-index';

/** Part of a workload with ordinals (StatefulSet or Advanced StatefulSet) that its members are created from. */
export type NumberedSet = Owner & {
  readonly metadata: { readonly namespace?: string };
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly serviceName?: string;
    readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  };
};

/** Returns the range of ordinals of a StatefulSet. */
export function ordinalsOf({ spec }: StatefulSet): { readonly start: number; readonly count: number } {
  return { start: spec?.ordinals?.start ?? 0, count: spec?.replicas ?? 1 };
}

const ordinalText = /^(?:0|[1-9]\d{0,9})$/;
const maxOrdinal = 2 ** 31 - 1;

/** Returns the ordinal of a Pod by its name; undefined if the name is not that of a member. */
export function ordinalOf(set: NumberedSet, { metadata: { name = '' } }: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const text = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return ordinalText.test(text) && Number(text) <= maxOrdinal ? Number(text) : undefined;
}

export type MemberOptions = {
  /** Adds the pod-index label; true by default. */
  readonly isIndexed?: boolean;
};

/** Creates a member from the template of a revision. */
export function memberOf(
  set: NumberedSet,
  ordinal: number,
  template: PodTemplateSpec,
  revision: string,
  options?: MemberOptions,
): Pod {
  const { metadata, spec } = podFromTemplate(set, template);
  const name = `${set.metadata.name}-${ordinal}`;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name, labels: { ...metadata.labels, [podRevisionLabel]: revision } },
    // Validation guarantees that a template has a spec.
    spec: { ...spec!, hostname: name, subdomain: set.spec?.serviceName ?? '' },
  };
  return withStorage(set, ordinal, withIdentity(pod, ordinal, options));
}

/** Reports whether a Pod has its identity labels. */
export function hasIdentity({ metadata }: Pod): boolean {
  return metadata.labels?.[podNameLabel] === metadata.name;
}

/** Returns a Pod with its identity labels. */
export function withIdentity(pod: Pod, ordinal: number, { isIndexed = true }: MemberOptions = {}): Pod {
  const { metadata } = pod;
  const index = isIndexed ? { [podIndexLabel]: String(ordinal) } : {};
  const labels = { ...metadata.labels, [podNameLabel]: metadata.name ?? '', ...index };
  return { ...pod, metadata: { ...metadata, labels } };
}

/** Returns the PVCs of one Pod. */
export function claimsFor(set: NumberedSet, ordinal: number): readonly PersistentVolumeClaim[] {
  const { volumeClaimTemplates = [], selector } = set.spec ?? {};
  const { namespace } = set.metadata;
  return volumeClaimTemplates.map(({ metadata, spec }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...metadata,
      name: claimName(set, metadata.name, ordinal),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...metadata.labels, ...selector?.matchLabels },
    },
    ...(spec ? { spec } : {}),
  }));
}

/** Returns the PVC name of each volumeClaimTemplate. */
function claimVolumes(set: NumberedSet, ordinal: number): ReadonlyMap<string, string> {
  const templates = set.spec?.volumeClaimTemplates ?? [];
  return new Map(templates.map(({ metadata: { name = '' } }) => [name, claimName(set, name, ordinal)]));
}

export function claimName(set: NumberedSet, template = '', ordinal: number): string {
  return `${template}-${set.metadata.name}-${ordinal}`;
}

/** Reports whether a Pod uses its own PVCs. */
export function hasStorage(set: NumberedSet, ordinal: number, { spec }: Pod): boolean {
  const volumes = new Map(spec?.volumes?.map((volume) => [volume.name, volume.persistentVolumeClaim?.claimName]));
  return claimVolumes(set, ordinal)
    .entries()
    .every(([name, claim]) => volumes.get(name) === claim);
}

/** Returns a Pod that uses its own PVCs; they replace volumes of the same names. */
export function withStorage(set: NumberedSet, ordinal: number, pod: Pod): Pod {
  const claims = claimVolumes(set, ordinal);
  if (claims.size === 0) return pod;
  const own = [...claims].map(([name, claim]) => ({ name, persistentVolumeClaim: { claimName: claim } }));
  const others = pod.spec?.volumes?.filter(({ name }) => !claims.has(name)) ?? [];
  return { ...pod, spec: { ...pod.spec!, volumes: [...own, ...others] } };
}
