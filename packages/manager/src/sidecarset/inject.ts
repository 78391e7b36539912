/** Injection of sidecars into newly created Pods. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { Volume } from '@kruise/api/core/volume';
import type { SidecarContainer, SidecarSet } from '@kruise/api/kruise/sidecarset';
import {
  sidecarSetHashAnnotation,
  sidecarSetHashWithoutImageAnnotation,
  sidecarSetInjectedListAnnotation,
} from '@kruise/api/kruise/well-known';
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import type { Instant } from '@kruise/values/time';
import { isHotUpgraded, pairAnnotations, pairOfContainers } from './hot-upgrade.ts';
import { formatMarks, hashWithoutImageOf, injectedSets, parseMarks, stampOf, withMark } from './marks.ts';
import { patchedAnnotations } from './pod-metadata.ts';
import { resourcesFor } from './resources-policy.ts';
import { withSharedFields } from './shared-fields.ts';

export type InjectOptions = {
  /** Sorts containers by name rather than by SidecarSet. */
  readonly sortsByName: boolean;
  readonly now: Instant;
};

/** Returns the Pod with all sidecars, volumes and annotations. Throws `ParseError` if they cannot be determined. */
export function withSidecarsOf(pod: Pod, sidecarSets: readonly SidecarSet[], options: InjectOptions): Pod {
  const given = withPatchedMetadata(pod, sidecarSets);
  const { initContainers, containers, pairs } = sidecarsFor(given, sidecarSets);
  if (initContainers.length === 0 && containers.length === 0) return given;
  const annotations = {
    ...given.metadata.annotations,
    ...pairAnnotations(given, pairs),
    ...marksFor(given, sidecarSets, options.now),
  };
  const spec: PodSpec = given.spec ?? { containers: [] };
  const secrets = sidecarSets.flatMap((set) => set.spec.imagePullSecrets ?? []);
  return {
    ...given,
    metadata: { ...given.metadata, annotations },
    spec: {
      ...spec,
      ...listed('initContainers', placed(spec.initContainers, initContainers.toSorted(byName))),
      containers: placed(spec.containers, options.sortsByName ? containers.toSorted(byName) : containers),
      ...listed('volumes', merged(spec.volumes, sidecarSets.flatMap(volumesMounted))),
      ...listed('imagePullSecrets', merged(unique(spec.imagePullSecrets), secrets)),
    },
  };
}

function withPatchedMetadata(pod: Pod, sidecarSets: readonly SidecarSet[]): Pod {
  const annotations = sidecarSets.reduce(
    (present, { spec }) => patchedAnnotations(present, spec.patchPodMetadata),
    pod.metadata.annotations ?? {},
  );
  return Object.keys(annotations).length > 0 ? { ...pod, metadata: { ...pod.metadata, annotations } } : pod;
}

/** Returns the sidecars for this Pod, and which of them are hot-upgrade pairs. */
function sidecarsFor(pod: Pod, sidecarSets: readonly SidecarSet[]) {
  const initContainers = sidecarSets.flatMap(({ spec }) => spec.initContainers ?? []);
  const containers = sidecarSets.flatMap(({ spec }) => spec.containers ?? []);
  const names = new Set([...initContainers, ...containers].map(({ name }) => name));
  // An init container that terminates cannot be hot-upgraded.
  const pairs = [...initContainers.filter(isNative), ...containers].filter(isHotUpgraded);
  const made = (sidecar: SidecarContainer): readonly SidecarContainer[] => {
    const { resourcesPolicy: policy } = sidecar;
    const sized = policy ? { ...sidecar, resources: resourcesFor(policy, pod, names) } : sidecar;
    const whole = withSharedFields(sized, pod);
    return pairs.includes(sidecar) ? pairOfContainers(whole) : [whole];
  };
  return { initContainers: initContainers.flatMap(made), containers: containers.flatMap(made), pairs };
}

function isNative({ restartPolicy }: SidecarContainer): boolean {
  return restartPolicy === 'Always';
}

function byName(a: Container, b: Container): number {
  return compareStrings(a.name, b.name);
}

/** Returns a list field of a Pod, omitted if the list is empty. */
function listed<T>(field: keyof PodSpec, items: readonly T[]): Partial<PodSpec> {
  return items.length > 0 ? { [field]: items } : {};
}

function marksFor(
  pod: Pod,
  sidecarSets: readonly SidecarSet[],
  now: Instant,
): { readonly [annotation: string]: string } {
  const marked = (annotation: string, stamp: typeof stampOf) =>
    formatMarks(sidecarSets.reduce((marks, set) => withMark(marks, set, stamp(set), now), marksIn(pod, annotation)));
  const names = new Set([...injectedSets(pod), ...sidecarSets.map(({ metadata }) => metadata.name ?? '')]);
  return {
    [sidecarSetHashAnnotation]: marked(sidecarSetHashAnnotation, stampOf),
    [sidecarSetHashWithoutImageAnnotation]: marked(sidecarSetHashWithoutImageAnnotation, (set) => ({
      hash: hashWithoutImageOf(set),
    })),
    [sidecarSetInjectedListAnnotation]: [...names].sort(compareStrings).join(','),
  };
}

function marksIn({ metadata }: Pod, annotation: string) {
  const text = metadata.annotations?.[annotation];
  const marks = parseMarks(text);
  if (marks) return marks;
  const { namespace = '', name = '' } = metadata;
  throw new ParseError(
    `pod(${namespace}/${name}) invalid annotations[${annotation}] value ${text}, unmarshal failed: neither marks nor hashes`,
  );
}

/** Returns the volumes that sidecars mount or use as devices. */
function volumesMounted({ spec }: SidecarSet): readonly Volume[] {
  const users = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const used = users.flatMap(({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices]);
  return used.flatMap(({ name }) => spec.volumes?.findLast((volume) => volume.name === name) ?? []);
}

type Named = { readonly name?: string };

/** Merges by name. Items of the Pod win over injected items. */
function merged<T extends Named>(present: readonly T[] = [], added: readonly T[]): readonly T[] {
  const known = new Set(present.map(({ name }) => name));
  return [...present, ...unique(added.filter(({ name }) => !known.has(name)))];
}

function unique<T extends Named>(items: readonly T[] = []): readonly T[] {
  return items.filter(({ name }, index) => items.findIndex((each) => each.name === name) === index);
}

/**
 * Places the injected containers. A container whose name the Pod already has replaces that one. Others come before or
 * after all containers of the Pod.
 */
function placed(present: readonly Container[] = [], injected: readonly SidecarContainer[]): readonly Container[] {
  const known = new Set(present.map(({ name }) => name));
  const added = injected.filter(({ name }) => !known.has(name));
  const isBefore = ({ podInjectPolicy }: SidecarContainer) => podInjectPolicy === 'BeforeAppContainer';
  return [
    ...added.filter(isBefore).map(asContainer),
    ...present.map((container) => {
      const instead = injected.findLast(({ name }) => name === container.name);
      return instead ? asContainer(instead) : container;
    }),
    ...added.filter((sidecar) => !isBefore(sidecar)).map(asContainer),
  ];
}

/** Removes the fields that only SidecarSets have. */
function asContainer(sidecar: SidecarContainer): Container {
  const {
    podInjectPolicy: _place,
    upgradeStrategy: _upgrade,
    shareVolumePolicy: _mounts,
    shareVolumeDevicePolicy: _devices,
    transferEnv: _env,
    resourcesPolicy: _resources,
    ...container
  } = sidecar;
  return container;
}
