/** What sets the Pods of a StatefulSet apart: each has a number, a name made of it, and volume claims of its own. */
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

/** As much of a set of numbered Pods, Kubernetes' StatefulSet or another's, as its members are made by. */
export type NumberedSet = Owner & {
  readonly metadata: { readonly namespace?: string };
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly serviceName?: string;
    readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  };
};

/** The numbers a StatefulSet's Pods have. */
export function ordinalsOf({ spec }: StatefulSet): { readonly start: number; readonly count: number } {
  return { start: spec?.ordinals?.start ?? 0, count: spec?.replicas ?? 1 };
}

const ordinalText = /^(?:0|[1-9]\d{0,9})$/;
const maxOrdinal = 2 ** 31 - 1;

/** The number a Pod has in a StatefulSet by its name; none if that is no name of a member. */
export function ordinalOf(set: NumberedSet, { metadata: { name = '' } }: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const text = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return ordinalText.test(text) && Number(text) <= maxOrdinal ? Number(text) : undefined;
}

export type MemberOptions = {
  /** Whether a member says its number in a label of its own; it does by default. */
  readonly isIndexed?: boolean;
};

/** A new member, made from the template of a revision. */
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
    // A template has a spec, or it would not have been let in.
    spec: { ...spec!, hostname: name, subdomain: set.spec?.serviceName ?? '' },
  };
  return withStorage(set, ordinal, withIdentity(pod, ordinal, options));
}

/** Whether a Pod says itself which one it is. */
export function hasIdentity({ metadata }: Pod): boolean {
  return metadata.labels?.[podNameLabel] === metadata.name;
}

/** A Pod that says itself which one it is. */
export function withIdentity(pod: Pod, ordinal: number, { isIndexed = true }: MemberOptions = {}): Pod {
  const { metadata } = pod;
  const index = isIndexed ? { [podIndexLabel]: String(ordinal) } : {};
  const labels = { ...metadata.labels, [podNameLabel]: metadata.name ?? '', ...index };
  return { ...pod, metadata: { ...metadata, labels } };
}

/** The claims of one Pod, as they are to be made. */
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

/** The volume of each claim template by the claim that is the Pod's own. */
function claimVolumes(set: NumberedSet, ordinal: number): ReadonlyMap<string, string> {
  const templates = set.spec?.volumeClaimTemplates ?? [];
  return new Map(templates.map(({ metadata: { name = '' } }) => [name, claimName(set, name, ordinal)]));
}

export function claimName(set: NumberedSet, template = '', ordinal: number): string {
  return `${template}-${set.metadata.name}-${ordinal}`;
}

/** Whether a Pod uses its own claims. */
export function hasStorage(set: NumberedSet, ordinal: number, { spec }: Pod): boolean {
  const volumes = new Map(spec?.volumes?.map((volume) => [volume.name, volume.persistentVolumeClaim?.claimName]));
  return claimVolumes(set, ordinal)
    .entries()
    .every(([name, claim]) => volumes.get(name) === claim);
}

/** A Pod that uses its own claims, in place of whatever volumes it has of their names. */
export function withStorage(set: NumberedSet, ordinal: number, pod: Pod): Pod {
  const claims = claimVolumes(set, ordinal);
  if (claims.size === 0) return pod;
  const own = [...claims].map(([name, claim]) => ({ name, persistentVolumeClaim: { claimName: claim } }));
  const others = pod.spec?.volumes?.filter(({ name }) => !claims.has(name)) ?? [];
  return { ...pod, spec: { ...pod.spec!, volumes: [...own, ...others] } };
}
