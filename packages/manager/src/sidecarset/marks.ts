/**
 * What the annotations of a Pod say of the SidecarSets it has sidecars of (sidecarset.md §6). Other programs and other
 * releases read them, so their text is the one Go writes.
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
import { formatTime, type Instant } from '@kruise/values/time';
import { memoize } from '../memoize.ts';

type BySet<T> = { readonly [sidecarSet: string]: T };
type Annotations = { readonly [key: string]: string };

/** What a Pod got from a SidecarSet, and when. */
export type Mark = {
  readonly hash: string;
  readonly updateTimestamp?: string;
  readonly sidecarSetName?: string;
  /** The sidecars by the names the SidecarSet has for them. */
  readonly sidecarList?: readonly string[];
  /** The name of the revision they are of. */
  readonly controllerRevision?: string;
};

/** What a Pod had before an update of its sidecars. */
export type UpdateState = {
  readonly revision: string;
  readonly updateTimestamp: string;
  readonly lastContainerStatuses: BySet<{ readonly imageID?: string }>;
};

/** The SidecarSets a Pod has sidecars of. */
export function injectedSets({ metadata }: Pod): readonly string[] {
  const list = metadata.annotations?.[sidecarSetInjectedListAnnotation];
  return list ? list.split(',') : [];
}

/** What a SidecarSet is at: hashes that its webhook wrote. */
export function hashOf({ metadata }: SidecarSet): string {
  return metadata.annotations?.[sidecarSetHashAnnotation] ?? '';
}

export function hashWithoutImageOf({ metadata }: SidecarSet): string {
  return metadata.annotations?.[sidecarSetHashWithoutImageAnnotation] ?? '';
}

const marksOf = memoize(({ metadata }: Pod) => parseMarks(metadata.annotations?.[sidecarSetHashAnnotation]));
const marksWithoutImageOf = memoize(({ metadata }: Pod) =>
  parseMarks(metadata.annotations?.[sidecarSetHashWithoutImageAnnotation]),
);

/** What a Pod got of a SidecarSet; nothing where it cannot be told. */
export function markOf(pod: Pod, name: string): Mark | undefined {
  return marksOf(pod)?.[name];
}

/** Whether a Pod has the sidecars as the SidecarSet wants them now. */
export function isUpdated(pod: Pod, sidecarSet: SidecarSet): boolean {
  return (markOf(pod, sidecarSet.metadata.name ?? '')?.hash ?? '') === hashOf(sidecarSet);
}

/** Whether a Pod differs from what the SidecarSet wants in images alone. */
export function differsInImagesAlone(pod: Pod, sidecarSet: SidecarSet): boolean {
  const mark = marksWithoutImageOf(pod)?.[sidecarSet.metadata.name ?? ''];
  return (mark?.hash ?? '') === hashWithoutImageOf(sidecarSet);
}

/** Reads marks, which once were hashes and nothing else; undefined where they are neither. */
export function parseMarks(text: string | undefined): BySet<Mark> | undefined {
  const read = text ? objectIn(text) : {};
  if (!read) return undefined;
  const marks: { [name: string]: Mark } = {};
  for (const [name, value] of Object.entries(read)) {
    if (typeof value === 'string') marks[name] = { hash: value, sidecarSetName: name };
    // Whoever wrote an object wrote a mark.
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

/** The marks of a Pod that has the sidecars of a SidecarSet from now on. */
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

/** The hash a Pod of the SidecarSet is marked with, and the revision where it is known. */
export function stampOf(sidecarSet: SidecarSet): Pick<Mark, 'hash' | 'controllerRevision'> {
  const { latestRevision } = sidecarSet.status ?? {};
  return { hash: hashOf(sidecarSet), ...(latestRevision ? { controllerRevision: latestRevision } : {}) };
}

/** Its containers, and those init containers that run on beside them. */
function sidecarList({ spec }: SidecarSet): readonly string[] {
  const native = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = [...native, ...(spec.containers ?? [])].map(({ name }) => name);
  return [...new Set(names)].sort(compareStrings);
}

/** How far updates of sidecars are, by SidecarSet; none if there was none, undefined if that cannot be read. */
export const updateStatesOf = memoize(({ metadata }: Pod): BySet<UpdateState> | undefined => {
  const text = metadata.annotations?.[sidecarSetInPlaceUpdateStateAnnotation];
  // Whoever wrote an object wrote states.
  return text === undefined ? {} : (objectIn(text) as BySet<UpdateState> | undefined);
});

export function formatUpdateStates(states: BySet<UpdateState>): string {
  const written = Object.entries(states)
    .toSorted(([a], [b]) => compareStrings(a, b))
    .map(([name, { revision, updateTimestamp, lastContainerStatuses }]) => {
      const last = stringifySorted(lastContainerStatuses ?? null);
      const begun = `"revision":${stringify(revision)},"updateTimestamp":${stringify(updateTimestamp)}`;
      return `${stringify(name)}:{${begun},"lastContainerStatuses":${last}}`;
    });
  return `{${written.join(',')}}`;
}

/** Which container of a pair works, by sidecar. */
export const workingContainersOf = memoize(({ metadata }: Pod): Annotations => {
  const text = metadata.annotations?.[sidecarSetWorkingHotUpgradeAnnotation];
  // It says a name for a name.
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
