/** What becomes of a new Pod that SidecarSets are for (sidecarset.md §8.4, §8.7). */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { Volume } from '@kruise/api/core/volume';
import type { SidecarContainer, SidecarSet } from '@kruise/api/kruise/sidecarset';
import {
  sidecarSetHashAnnotation,
  sidecarSetHashWithoutImageAnnotation,
  sidecarSetInjectedListAnnotation,
  sidecarSetVersionAltAnnotationPrefix,
  sidecarSetVersionAltEnv,
  sidecarSetVersionAnnotationPrefix,
  sidecarSetVersionEnv,
  sidecarSetWorkingHotUpgradeAnnotation,
} from '@kruise/api/kruise/well-known';
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import type { Instant } from '@kruise/values/time';
import { withBorrowed } from './borrow.ts';
import { isHotUpgraded, pairOf } from './hot-upgrade.ts';
import {
  formatMarks,
  formatWorkingContainers,
  hashWithoutImageOf,
  injectedSets,
  parseMarks,
  stampOf,
  withMark,
  workingContainersOf,
} from './marks.ts';
import { patchedAnnotations } from './pod-metadata.ts';
import { resourcesFor } from './resources-policy.ts';

export type InjectOptions = {
  /** Containers come in the order of their names, not in that of SidecarSets. */
  readonly sortsByName: boolean;
  readonly now: Instant;
};

/** The Pod with all that it gets. Throws `ParseError` where that cannot be told. */
export function withSidecarsOf(pod: Pod, sidecarSets: readonly SidecarSet[], options: InjectOptions): Pod {
  const patched = sidecarSets.reduce(
    (annotations, { spec }) => patchedAnnotations(annotations, spec.patchPodMetadata),
    pod.metadata.annotations ?? {},
  );
  const named = Object.keys(patched).length > 0 ? { ...pod.metadata, annotations: patched } : pod.metadata;
  const given: Pod = { ...pod, metadata: named };
  const sidecars = new Set(
    sidecarSets
      .flatMap(({ spec }) => [...(spec.initContainers ?? []), ...(spec.containers ?? [])])
      .map(({ name }) => name),
  );
  const made = (sidecar: SidecarContainer): SidecarContainer => {
    const { resourcesPolicy } = sidecar;
    const resources = resourcesPolicy ? { resources: resourcesFor(resourcesPolicy, given, sidecars) } : {};
    return withBorrowed({ ...sidecar, ...resources }, given);
  };
  const initContainers = sidecarSets.flatMap(({ spec }) => spec.initContainers ?? []);
  const containers = sidecarSets.flatMap(({ spec }) => spec.containers ?? []);
  // An init container that ends takes no turns.
  const pairs = [...initContainers.filter(isNative), ...containers].filter(isHotUpgraded);
  const inPairs = (sidecar: SidecarContainer) =>
    pairs.includes(sidecar) ? pairOfContainers(made(sidecar)) : [made(sidecar)];
  const injectedInit = initContainers.flatMap(inPairs).sort(byName);
  const injected = containers.flatMap(inPairs);
  if (injectedInit.length === 0 && injected.length === 0) return given;

  const spec: PodSpec = pod.spec ?? { containers: [] };
  const volumes = merged(spec.volumes, sidecarSets.flatMap(volumesMounted));
  const imagePullSecrets = merged(
    unique(spec.imagePullSecrets),
    sidecarSets.flatMap((set) => set.spec.imagePullSecrets ?? []),
  );
  return {
    ...given,
    metadata: {
      ...given.metadata,
      annotations: {
        ...patched,
        ...versionsOf(pairs),
        ...workingOf(given, pairs),
        ...marksFor(given, sidecarSets, options.now),
      },
    },
    spec: {
      ...spec,
      ...(injectedInit.length > 0 ? { initContainers: placed(spec.initContainers, injectedInit) } : {}),
      containers: placed(spec.containers, options.sortsByName ? injected.sort(byName) : injected),
      ...(volumes.length > 0 ? { volumes } : {}),
      ...(imagePullSecrets.length > 0 ? { imagePullSecrets } : {}),
    },
  };
}

function isNative({ restartPolicy }: SidecarContainer): boolean {
  return restartPolicy === 'Always';
}

function byName(a: Container, b: Container): number {
  return compareStrings(a.name, b.name);
}

/** The first works, the second idles. */
function pairOfContainers(sidecar: SidecarContainer): readonly SidecarContainer[] {
  const [first, second] = pairOf(sidecar);
  return [
    withVersions({ ...sidecar, name: first }),
    withVersions({ ...sidecar, name: second, image: sidecar.upgradeStrategy?.hotUpgradeEmptyImage ?? '' }),
  ];
}

/** It learns from variables which version it is, and which the other container. */
function withVersions(sidecar: SidecarContainer): SidecarContainer {
  const from = (name: string, prefix: string) => ({
    name,
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${prefix}${sidecar.name}']` } },
  });
  const versions = [
    from(sidecarSetVersionEnv, sidecarSetVersionAnnotationPrefix),
    from(sidecarSetVersionAltEnv, sidecarSetVersionAltAnnotationPrefix),
  ];
  return { ...sidecar, env: [...(sidecar.env ?? []), ...versions] };
}

function versionsOf(pairs: readonly SidecarContainer[]): { readonly [annotation: string]: string } {
  const versions = pairs.flatMap((sidecar) => {
    const [first, second] = pairOf(sidecar);
    return [
      [`${sidecarSetVersionAnnotationPrefix}${first}`, '1'],
      [`${sidecarSetVersionAltAnnotationPrefix}${first}`, '0'],
      [`${sidecarSetVersionAnnotationPrefix}${second}`, '0'],
      [`${sidecarSetVersionAltAnnotationPrefix}${second}`, '1'],
    ];
  });
  return Object.fromEntries(versions);
}

function workingOf(pod: Pod, pairs: readonly SidecarContainer[]): { readonly [annotation: string]: string } {
  if (pairs.length === 0) return {};
  const working = pairs.map((sidecar) => [sidecar.name, pairOf(sidecar)[0]]);
  const text = formatWorkingContainers({ ...workingContainersOf(pod), ...Object.fromEntries(working) });
  return { [sidecarSetWorkingHotUpgradeAnnotation]: text };
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

/** The volumes that sidecars mount or have as devices. */
function volumesMounted({ spec }: SidecarSet): readonly Volume[] {
  const users = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const used = users.flatMap(({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices]);
  return used.flatMap(({ name }) => spec.volumes?.findLast((volume) => volume.name === name) ?? []);
}

type Named = { readonly name?: string };

/** What a Pod has stays, and wins over what it is given. */
function merged<T extends Named>(present: readonly T[] = [], added: readonly T[]): readonly T[] {
  const known = new Set(present.map(({ name }) => name));
  return [...present, ...unique(added.filter(({ name }) => !known.has(name)))];
}

function unique<T extends Named>(items: readonly T[] = []): readonly T[] {
  return items.filter(({ name }, index) => items.findIndex((each) => each.name === name) === index);
}

/** One of a name the Pod has takes its place; others come before or after all that the Pod has. */
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

/** What only SidecarSets know is no part of a Pod. */
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
