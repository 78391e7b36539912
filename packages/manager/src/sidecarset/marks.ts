/**
 * Annotations of a Pod about its injected SidecarSets. Other programs and other releases read them, so their text is
 * the one that Go writes.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import {
  sidecarSetHashAnnotation,
  sidecarSetHashWithoutImageAnnotation,
  sidecarSetInjectedListAnnotation,
  sidecarSetInPlaceUpdateStateAnnotation,
  sidecarSetWorkingHotUpgradeAnnotation,
} from '@kruise/api/kruise/well-known';
import { isObject } from '@kruise/machinery/json-value';
import { stringify, stringifySorted } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import { memoizeByObject } from '@kruise/values/memoize';
import { formatTime, type Instant } from '@kruise/values/time';

type BySet<T> = { readonly [sidecarSet: string]: T };
type Annotations = { readonly [key: string]: string };

/** The hash and revision of an injected SidecarSet, and the time of the injection. */
export type Mark = {
  readonly hash: string;
  readonly updateTimestamp?: string;
  readonly sidecarSetName?: string;
  /** The names of the sidecars in the SidecarSet. */
  readonly sidecarList?: readonly string[];
  /** The name of their revision. */
  readonly controllerRevision?: string;
};

/** The images of a Pod before an update of its sidecars. */
export type UpdateState = {
  readonly revision: string;
  readonly updateTimestamp: string;
  readonly lastContainerStatuses: BySet<{ readonly imageID?: string }>;
};

/** Returns the names of the SidecarSets that were injected into a Pod. */
export function injectedSets({ metadata }: Pod): readonly string[] {
  const list = metadata.annotations?.[sidecarSetInjectedListAnnotation];
  return list ? list.split(',') : [];
}

/** Returns the hash that the webhook wrote on a SidecarSet. */
export function hashOf({ metadata }: SidecarSet): string {
  return metadata.annotations?.[sidecarSetHashAnnotation] ?? '';
}

export function hashWithoutImageOf({ metadata }: SidecarSet): string {
  return metadata.annotations?.[sidecarSetHashWithoutImageAnnotation] ?? '';
}

const marksOf = memoizeByObject(({ metadata }: Pod) => parseMarks(metadata.annotations?.[sidecarSetHashAnnotation]));
const marksWithoutImageOf = memoizeByObject(({ metadata }: Pod) =>
  parseMarks(metadata.annotations?.[sidecarSetHashWithoutImageAnnotation]),
);

/** Returns the mark of a SidecarSet on a Pod; undefined if there is none or it cannot be parsed. */
export function markOf(pod: Pod, name: string): Mark | undefined {
  return marksOf(pod)?.[name];
}

/** Reports whether the sidecars of a Pod match the current SidecarSet. */
export function isUpdated(pod: Pod, sidecarSet: SidecarSet): boolean {
  return (markOf(pod, sidecarSet.metadata.name ?? '')?.hash ?? '') === hashOf(sidecarSet);
}

/** Reports whether a Pod differs from the SidecarSet only in images. */
export function differsInImagesAlone(pod: Pod, sidecarSet: SidecarSet): boolean {
  const mark = marksWithoutImageOf(pod)?.[sidecarSet.metadata.name ?? ''];
  return (mark?.hash ?? '') === hashWithoutImageOf(sidecarSet);
}

/** Parses marks, which used to be plain hashes; undefined if they are neither. */
export function parseMarks(text: string | undefined): BySet<Mark> | undefined {
  const read = text ? objectIn(text) : {};
  if (!read) return undefined;
  const marks: { [name: string]: Mark } = {};
  for (const [name, value] of Object.entries(read)) {
    if (typeof value === 'string') marks[name] = { hash: value, sidecarSetName: name };
    // An object in this annotation is a mark.
    else if (isObject(value)) marks[name] = { hash: '', ...value } as unknown as Mark;
    else return undefined;
  }
  return marks;
}

export function formatMarks(marks: BySet<Mark>): string {
  const written = Object.entries(marks)
    .toSorted(([a], [b]) => compareStrings(a, b))
    .map(([name, mark]) => {
      const { updateTimestamp = null, hash, sidecarSetName = '', sidecarList = null, controllerRevision } = mark;
      const fields = { updateTimestamp, hash, sidecarSetName, sidecarList };
      return `${stringify(name)}:${stringify(controllerRevision ? { ...fields, controllerRevision } : fields)}`;
    });
  return `{${written.join(',')}}`;
}

/** Returns the marks of a Pod after the injection of a SidecarSet. */
export function withMark(
  marks: BySet<Mark>,
  sidecarSet: SidecarSet,
  of: Pick<Mark, 'hash' | 'controllerRevision'>,
  now: Instant,
): BySet<Mark> {
  const { name = '' } = sidecarSet.metadata;
  const sidecars = { sidecarSetName: name, sidecarList: sidecarList(sidecarSet) };
  return { ...marks, [name]: { ...of, ...sidecars, updateTimestamp: formatTime(now) } };
}

/** Returns the hash for the mark of a Pod, and the revision if it is known. */
export function stampOf(sidecarSet: SidecarSet): Pick<Mark, 'hash' | 'controllerRevision'> {
  const { latestRevision } = sidecarSet.status ?? {};
  return { hash: hashOf(sidecarSet), ...(latestRevision ? { controllerRevision: latestRevision } : {}) };
}

/** Returns the names of the containers and of the restartable init containers. */
function sidecarList({ spec }: SidecarSet): readonly string[] {
  const native = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = [...native, ...(spec.containers ?? [])].map(({ name }) => name);
  return [...new Set(names)].sort(compareStrings);
}

/** Returns the states of sidecar updates by SidecarSet; empty if there was none, undefined if they cannot be parsed. */
export const updateStatesOf = memoizeByObject(({ metadata }: Pod): BySet<UpdateState> | undefined => {
  const text = metadata.annotations?.[sidecarSetInPlaceUpdateStateAnnotation];
  // An object in this annotation has update states.
  return text === undefined ? {} : (objectIn(text) as BySet<UpdateState> | undefined);
});

export function formatUpdateStates(states: BySet<UpdateState>): string {
  const written = Object.entries(states)
    .toSorted(([a], [b]) => compareStrings(a, b))
    .map(([name, { revision, updateTimestamp, lastContainerStatuses }]) => {
      const last = stringifySorted(lastContainerStatuses ?? null);
      const head = `"revision":${stringify(revision)},"updateTimestamp":${stringify(updateTimestamp)}`;
      return `${stringify(name)}:{${head},"lastContainerStatuses":${last}}`;
    });
  return `{${written.join(',')}}`;
}

/** Returns the working container of each hot-upgrade pair, by sidecar. */
export const workingContainersOf = memoizeByObject(({ metadata }: Pod): Annotations => {
  const text = metadata.annotations?.[sidecarSetWorkingHotUpgradeAnnotation];
  // The annotation maps names to names.
  return (text ? (objectIn(text) as Annotations | undefined) : undefined) ?? {};
});

export function formatWorkingContainers(working: Annotations): string {
  return stringifySorted(working);
}

function objectIn(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
