/**
 * Preparation of Pods before they are validated: resets the fields that a client may not set, and sets derived fields.
 */
import type { Draft } from '@kruise/schema/draft';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { isSame } from '../meta/same.ts';
import { type CreateContext, incrementGeneration, keepStatus } from '../meta/strategy.ts';
import type { PodAffinityTerm } from './affinity.ts';
import type { Container } from './container.ts';
import type { Pod, PodCondition, PodStatus } from './pod.ts';
import { computeQosClass } from './pod-qos.ts';
import { dropDisabledFields } from './pod-spec.strategy.ts';
import type { PodSpec } from './pod-spec.ts';
import type { AppArmorProfile } from './security-context.ts';
import { appArmorAnnotationPrefix, validateAppArmorProfile } from './security-context.validate.ts';

export function preparePodForCreate(pod: Draft<Pod>, context: CreateContext): void {
  const spec = pod.spec!;
  pod.metadata.generation = 1;
  pod.status = { phase: 'Pending', qosClass: computeQosClass(spec) };
  dropDisabledFields(spec, undefined);
  if ((spec.schedulingGates ?? []).length > 0) pod.status.conditions = [gatedCondition(context.now)];
  mergeLabelKeys(spec, pod.metadata.labels ?? {});
  mirrorAppArmorProfiles(pod, spec, context);
}

function gatedCondition(now: string): Draft<PodCondition> {
  return {
    lastProbeTime: null,
    lastTransitionTime: now,
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    reason: 'SchedulingGated',
    status: 'False',
    type: 'PodScheduled',
  };
}

export function preparePodForUpdate(pod: Draft<Pod>, old: Pod): void {
  keepStatus(pod, old);
  dropDisabledFields(pod.spec!, old.spec);
  incrementGeneration(pod, old);
}

/** The `status` subresource changes only labels, annotations and the status. */
export function preparePodStatusUpdate(pod: Draft<Pod>, old: Pod): void {
  pod.spec = old.spec as Draft<PodSpec>;
  delete pod.metadata.deletionTimestamp;
  if (old.metadata.deletionTimestamp) pod.metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  keepOwners(pod.metadata, old.metadata);
  const status = (pod.status ??= {});
  // Old kubelets omitted it when they rejected a Pod.
  if (!status.qosClass && old.status?.qosClass) status.qosClass = old.status.qosClass;
  dropDisabledStatusFields(status, old);
}

/** The `ephemeralcontainers` subresource changes only ephemeral containers. */
export function preparePodEphemeralContainersUpdate(pod: Draft<Pod>, old: Pod): void {
  const { ephemeralContainers } = pod.spec!;
  // The old spec is shared, so changed parts are copied.
  const spec = { ...old.spec } as Draft<PodSpec>;
  if (ephemeralContainers) spec.ephemeralContainers = ephemeralContainers;
  else delete spec.ephemeralContainers;
  replaceByOld(pod, old, spec);
}

/** The `resize` subresource changes only the resources of containers. */
export function preparePodResize(pod: Draft<Pod>, old: Pod): void {
  const [now, was] = [pod.spec!, old.spec!];
  const isReshaped = (['containers', 'initContainers'] as const).some(
    (list) => (now[list] ?? []).length !== (was[list] ?? []).length,
  );
  // Validation refuses added, removed or reordered containers, so it must see them.
  if (isReshaped) incrementGeneration(pod, old);
  else {
    const spec = { ...was, containers: withResources(now.containers, was.containers) } as Draft<PodSpec>;
    if (now.initContainers) spec.initContainers = withResources(now.initContainers, was.initContainers ?? []);
    replaceByOld(pod, old, spec);
  }
}

function withResources(now: Draft<Container[]>, was: readonly Container[]): Draft<Container[]> {
  if (now.some(({ name }, index) => name !== was[index]?.name)) return now;
  return was.map((container, index) => {
    const { resizePolicy: _, resources: __, ...rest } = container as Draft<Container>;
    const { resizePolicy, resources } = now[index]!;
    return { ...rest, ...(resources ? { resources } : {}), ...(resizePolicy ? { resizePolicy } : {}) };
  });
}

/** Replaces the Pod by the old one with another spec. */
function replaceByOld(pod: Draft<Pod>, old: Pod, spec: Draft<PodSpec>): void {
  const { managedFields, resourceVersion } = pod.metadata;
  pod.spec = spec;
  keepStatus(pod, old);
  pod.metadata = { ...(old.metadata as Draft<ObjectMeta>) };
  if (resourceVersion !== undefined) pod.metadata.resourceVersion = resourceVersion;
  if (managedFields !== undefined) pod.metadata.managedFields = managedFields;
  incrementGeneration(pod, old);
}

function keepOwners(metadata: Draft<ObjectMeta>, { ownerReferences }: ObjectMeta): void {
  if (ownerReferences === undefined) delete metadata.ownerReferences;
  else metadata.ownerReferences = ownerReferences as NonNullable<Draft<ObjectMeta>['ownerReferences']>;
}

/** Drops the status of disabled features: device health, resource claims, observed generations. */
function dropDisabledStatusFields(status: Draft<PodStatus>, old: Pod): void {
  if ((old.spec?.resourceClaims ?? []).length === 0) delete status.resourceClaimStatuses;
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    for (const container of status[list] ?? []) delete container.allocatedResourcesStatus;
  }
  delete status.observedGeneration;
  for (const condition of status.conditions ?? []) delete condition.observedGeneration;
}

/** Resolves matchLabelKeys and mismatchLabelKeys into the label selector, with the values of the Pod's labels. */
function mergeLabelKeys({ affinity }: Draft<PodSpec>, labels: { readonly [key: string]: string }): void {
  for (const side of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const { podAffinityTerm } of side?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      mergeTermLabelKeys(podAffinityTerm, labels);
    }
    for (const term of side?.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeTermLabelKeys(term, labels);
  }
}

function mergeTermLabelKeys(term: Draft<PodAffinityTerm>, labels: { readonly [key: string]: string }): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return;
  const added = [
    ...matchLabelKeys.map((key) => ({ key, operator: 'In' })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: 'NotIn' })),
  ].filter(({ key }) => Object.hasOwn(labels, key));
  if (added.length === 0) return;
  labelSelector.matchExpressions ??= [];
  labelSelector.matchExpressions.push(...added.map(({ key, operator }) => ({ key, operator, values: [labels[key]!] })));
}

/** Old kubelets read AppArmor profiles from annotations, current ones from the field. */
function mirrorAppArmorProfiles(pod: Draft<Pod>, spec: Draft<PodSpec>, { warn }: CreateContext): void {
  if (spec.os?.name === 'windows') return;
  const shared = spec.securityContext?.appArmorProfile;
  const { metadata } = pod;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const key = appArmorAnnotationPrefix + container.name;
    const annotation = metadata.annotations?.[key];
    const own = container.securityContext?.appArmorProfile;
    if (annotation === undefined) {
      const text = annotationOf(own ?? shared);
      if (text !== undefined) metadata.annotations = { ...metadata.annotations, [key]: text };
    } else if (own === undefined) {
      const profile = profileOf(annotation);
      const isNews = profile !== undefined && !isSame(profile, shared);
      if (isNews) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
      if (isNews || profile === undefined) {
        warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
      }
    }
  }
}

function annotationOf(profile: AppArmorProfile | undefined): string | undefined {
  switch (profile?.type) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return profile.localhostProfile === undefined ? undefined : `localhost/${profile.localhostProfile}`;
    default:
      return undefined;
  }
}

function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith('localhost/')) return undefined;
  const profile: AppArmorProfile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) };
  return [...validateAppArmorProfile(profile, '')].length === 0 ? profile : undefined;
}
