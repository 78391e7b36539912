/** Update of the sidecar images of one Pod, and completion of a hot upgrade. */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarContainer, SidecarSet } from '@kruise/api/kruise/sidecarset';
import {
  sidecarSetHashAnnotation,
  sidecarSetHashWithoutImageAnnotation,
  sidecarSetInPlaceUpdateStateAnnotation,
  sidecarSetVersionAltAnnotationPrefix,
  sidecarSetVersionAnnotationPrefix,
  sidecarSetWorkingHotUpgradeAnnotation,
} from '@kruise/api/kruise/well-known';
import { type PatchAction, withOutcomeEvents } from '@kruise/client/actions';
import { formatTime, type Instant } from '@kruise/values/time';
import { patchPod } from '../workload/patch-pod.ts';
import { isHotUpgraded, pairOf, workingPairOf } from './hot-upgrade.ts';
import {
  formatMarks,
  formatUpdateStates,
  formatWorkingContainers,
  hashOf,
  parseMarks,
  stampOf,
  updateStatesOf,
  withMark,
  workingContainersOf,
} from './marks.ts';
import { patchedAnnotations } from './pod-metadata.ts';
import { isConsistent, isRunningAndReady, pairsToEmpty, sidecarNames } from './pod-state.ts';

type Annotations = { readonly [key: string]: string };

/** Sets the images of the SidecarSet in a Pod, and marks the Pod as updated. Throws `ParseError`. */
export function updatePod(pod: Pod, sidecarSet: SidecarSet, now: Instant): PatchAction {
  const { containers: sidecars = [], patchPodMetadata } = sidecarSet.spec;
  const imageChanges = sidecars.flatMap((sidecar) => imageChangesOf(pod, sidecar, sidecarSet));
  const images = Object.fromEntries(imageChanges.map(({ target, image }) => [target, image]));
  const annotations = {
    ...pod.metadata.annotations,
    ...hotUpgradeAnnotations(pod, imageChanges, sidecarSet),
    ...hashAnnotations(pod, sidecarSet, now),
    ...withUpdateState(pod, sidecarSet, Object.keys(images), now),
  };
  return patchPod(pod, changed(pod, images, patchedAnnotations(annotations, patchPodMetadata)), { atVersion: true });
}

/** Reports whether the hot upgrade of a Pod is complete: its standby containers can get the empty image. */
export function isMigrated(pod: Pod, sidecarSet: SidecarSet): boolean {
  if (pairsToEmpty(pod, sidecarSet).length === 0) return false;
  const pairs = (sidecarSet.spec.containers ?? []).filter(isHotUpgraded);
  const standby = new Set(pairs.map((sidecar) => workingPairOf(pod, sidecar).standby));
  const working = new Set([...sidecarNames(sidecarSet)].filter((name) => !standby.has(name)));
  const { containerStatuses = [] } = pod.status ?? {};
  const isServing = isRunningAndReady(pod) || containerStatuses.every(({ name, ready }) => ready || standby.has(name));
  return isServing && isConsistent(pod, sidecarSet, working);
}

/** Sets the empty image in the standby containers. */
export function emptyStandby(pod: Pod, sidecarSet: SidecarSet, now: Instant): PatchAction {
  const pairs = pairsToEmpty(pod, sidecarSet);
  const images = Object.fromEntries(pairs.map(({ standby, emptyImage }) => [standby, emptyImage]));
  const versions = pairs.flatMap(({ working, standby }) => [
    [`${sidecarSetVersionAnnotationPrefix}${standby}`, '0'],
    [`${sidecarSetVersionAltAnnotationPrefix}${working}`, '0'],
  ]);
  const annotations = {
    ...pod.metadata.annotations,
    ...Object.fromEntries(versions),
    ...withUpdateState(pod, sidecarSet, Object.keys(images), now),
  };
  return withOutcomeEvents(patchPod(pod, changed(pod, images, annotations), { atVersion: true }), {
    about: pod,
    done: { reason: 'ResetContainerSucceed', message: 'reset sidecar container image empty successfully' },
    failed: { reason: 'ResetContainerFailed', message: 'reset sidecar container image empty failed: {error}' },
  });
}

type ContainerPair = {
  /** Container that gets the image, and container that runs the current image. */
  readonly target: string;
  readonly other: string;
};

type ImageChange = ContainerPair & { readonly sidecar: SidecarContainer; readonly image: string };

/** Returns the image change of a sidecar; empty if the Pod has the image already. */
function imageChangesOf(pod: Pod, sidecar: SidecarContainer, sidecarSet: SidecarSet): readonly ImageChange[] {
  const { name, image = '' } = sidecar;
  const pair = isHotUpgraded(sidecar) ? selectPair(pod, sidecar, sidecarSet) : { target: name, other: name };
  return imageOf(pod, pair.other) === image ? [] : [{ ...pair, sidecar, image }];
}

/**
 * Selects the container to update: the one with the empty image; else the one that fails while the other runs; else the
 * standby container.
 */
function selectPair(pod: Pod, sidecar: SidecarContainer, sidecarSet: SidecarSet): ContainerPair {
  const [first, second] = pairOf(sidecar);
  const toFirst = { target: first, other: second };
  const toSecond = { target: second, other: first };
  const emptyImage = sidecar.upgradeStrategy?.hotUpgradeEmptyImage ?? '';
  if (imageOf(pod, first) === emptyImage) return toFirst;
  if (imageOf(pod, second) === emptyImage) return toSecond;
  const runs = (name: string) =>
    (pod.status?.containerStatuses?.find((status) => status.name === name)?.ready ?? false) &&
    isConsistent(pod, sidecarSet, new Set([name]));
  const [isFirstUp, isSecondUp] = [runs(first), runs(second)];
  if (isFirstUp !== isSecondUp) return isFirstUp ? toSecond : toFirst;
  const { working, standby } = workingPairOf(pod, sidecar);
  return { target: standby, other: working };
}

/** Returns the annotations that record the working container of each pair, and the SidecarSet version since then. */
function hotUpgradeAnnotations(pod: Pod, imageChanges: readonly ImageChange[], { metadata }: SidecarSet): Annotations {
  const hot = imageChanges.filter(({ sidecar }) => isHotUpgraded(sidecar));
  if (hot.length === 0) return {};
  const { resourceVersion = '' } = metadata;
  const versions = hot.flatMap(({ target, other }) => [
    [`${sidecarSetVersionAnnotationPrefix}${target}`, resourceVersion],
    [
      `${sidecarSetVersionAltAnnotationPrefix}${target}`,
      pod.metadata.annotations?.[`${sidecarSetVersionAnnotationPrefix}${other}`] ?? '',
    ],
    [`${sidecarSetVersionAltAnnotationPrefix}${other}`, resourceVersion],
  ]);
  const working = Object.fromEntries(hot.map(({ sidecar, target }) => [sidecar.name, target]));
  return {
    ...Object.fromEntries(versions),
    [sidecarSetWorkingHotUpgradeAnnotation]: formatWorkingContainers({ ...workingContainersOf(pod), ...working }),
  };
}

/**
 * Returns the hash annotations of an updated Pod. Hashes without images stay the same; they are rewritten only where
 * they have an old format.
 */
function hashAnnotations({ metadata: { annotations = {} } }: Pod, sidecarSet: SidecarSet, now: Instant): Annotations {
  const marks = parseMarks(annotations[sidecarSetHashAnnotation]) ?? {};
  const marked = { [sidecarSetHashAnnotation]: formatMarks(withMark(marks, sidecarSet, stampOf(sidecarSet), now)) };
  const bare = parseMarks(annotations[sidecarSetHashWithoutImageAnnotation]) ?? {};
  const isOld = Object.values(bare).some((mark) => !mark.updateTimestamp);
  return isOld ? { ...marked, [sidecarSetHashWithoutImageAnnotation]: formatMarks(bare) } : marked;
}

/** Records the image IDs that containers run, so that a changed image can be detected later. */
function withUpdateState(pod: Pod, sidecarSet: SidecarSet, containers: readonly string[], now: Instant): Annotations {
  const { name = '' } = sidecarSet.metadata;
  const states = updateStatesOf(pod) ?? {};
  const last = containers.map((container) => {
    const status = pod.status?.containerStatuses?.find((each) => each.name === container);
    return [container, status?.imageID ? { imageID: status.imageID } : {}];
  });
  const updateState = states[name] ?? { revision: hashOf(sidecarSet), updateTimestamp: formatTime(now) };
  const lastContainerStatuses = { ...states[name]?.lastContainerStatuses, ...Object.fromEntries(last) };
  const text = formatUpdateStates({ ...states, [name]: { ...updateState, lastContainerStatuses } });
  return { [sidecarSetInPlaceUpdateStateAnnotation]: text };
}

function changed(pod: Pod, images: { readonly [container: string]: string }, annotations: Annotations): Pod {
  const spec = pod.spec ?? { containers: [] };
  const containers = spec.containers.map((container) => {
    const image = images[container.name];
    return image === undefined ? container : { ...container, image };
  });
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: { ...spec, containers } };
}

function imageOf({ spec }: Pod, container: string): string | undefined {
  return spec?.containers.find(({ name }) => name === container)?.image;
}
