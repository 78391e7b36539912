/**
 * State of an in-place update, which is stored on the Pod: its progress and, during a grace period, the changes to
 * apply afterwards. Other programs and other releases read it, so the text is the one that Go writes.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { ResourceRequirements } from '@kruise/api/core/resources';
import {
  inPlaceUpdateGraceAnnotation,
  inPlaceUpdateGraceLegacyAnnotation,
  inPlaceUpdateStateAnnotation,
  inPlaceUpdateStateLegacyAnnotation,
} from '@kruise/api/kruise/well-known';
import { isObject } from '@kruise/machinery/json-value';
import { stringify, stringifySorted } from '@kruise/values/go-json';
import { canonicalTime, formatTime, zeroInstant } from '@kruise/values/time';

type ByContainer<T> = { readonly [container: string]: T };

/** Labels and annotations that the environment of a container refers to. */
export type RefMetadata = {
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
};

export type Resources = Pick<ResourceRequirements, 'limits' | 'requests'>;

/** The changes, by container. */
export type ContainerChanges = {
  readonly images: ByContainer<string>;
  readonly refMetadata: ByContainer<RefMetadata>;
  readonly resources: ByContainer<Resources>;
};

/** The changes that bring a Pod from one revision to another without recreating it. */
export type UpdateSpec = ContainerChanges & {
  readonly revision: string;
  /** Other changes of the Pod's metadata, as a strategic merge patch. */
  readonly metadataPatch?: object;
  readonly updatesEnv: boolean;
  readonly graceSeconds: number;
};

export type InPlaceUpdateState = {
  readonly revision: string;
  /** The start time of the update. */
  readonly updateTimestamp: string;
  /** The previous images of the containers that have been changed. */
  readonly lastContainerStatuses?: ByContainer<{ readonly imageID?: string }>;
  readonly updatesEnv: boolean;
  readonly updatesResources: boolean;
  readonly updatesImages: boolean;
  /** Changes that wait until the containers of the current batch are ready. */
  readonly next: ContainerChanges;
  readonly requiredReady?: readonly string[];
  readonly batches: readonly { readonly timestamp: string; readonly containers: readonly string[] }[];
};

export const noChanges: ContainerChanges = { images: {}, refMetadata: {}, resources: {} };

/** Reports whether any container changes. */
export function hasChanges({ images, refMetadata, resources }: ContainerChanges): boolean {
  return [images, refMetadata, resources].some((each) => Object.keys(each).length > 0);
}

/** Reports whether only resources change. The metadata patch is not considered. */
export function isVerticalOnly({ images, resources, updatesEnv }: UpdateSpec): boolean {
  return Object.keys(resources).length > 0 && Object.keys(images).length === 0 && !updatesEnv;
}

/**
 * Returns the state of an in-place update; undefined if there was none. Throws a `SyntaxError` if the annotation cannot
 * be parsed.
 */
export function readState(pod: Pod): InPlaceUpdateState | undefined {
  const text = annotationOf(pod, inPlaceUpdateStateAnnotation, inPlaceUpdateStateLegacyAnnotation);
  if (!text) return undefined;
  const read = objectIn(text);
  const { lastContainerStatuses: last, preCheckBeforeNext: check } = read;
  return {
    revision: textIn(read, 'revision'),
    updateTimestamp: canonicalTime(textIn(read, 'updateTimestamp')) ?? formatTime(zeroInstant),
    ...(isObject(last) ? { lastContainerStatuses: mapIn<{ readonly imageID?: string }>(last) } : {}),
    updatesEnv: read['updateEnvFromMetadata'] === true,
    updatesResources: read['updateResources'] === true,
    updatesImages: read['updateImages'] === true,
    next: {
      images: mapIn(read['nextContainerImages']),
      refMetadata: mapIn(read['nextContainerRefMetadata']),
      resources: mapIn(read['nextContainerResources']),
    },
    ...(isObject(check) ? { requiredReady: listIn(check['containersRequiredReady']) } : {}),
    batches: listIn(read['containerBatchesRecord']),
  };
}

export function formatState(state: InPlaceUpdateState): string {
  const { next, requiredReady, batches } = state;
  return structure([
    ['revision', stringify(state.revision)],
    ['updateTimestamp', stringify(state.updateTimestamp)],
    ['lastContainerStatuses', stringifySorted(state.lastContainerStatuses ?? null)],
    ['updateEnvFromMetadata', flag(state.updatesEnv)],
    ['updateResources', flag(state.updatesResources)],
    ['updateImages', flag(state.updatesImages)],
    ['nextContainerImages', map(next.images)],
    ['nextContainerRefMetadata', map(withCreationTime(next.refMetadata))],
    ['nextContainerResources', map(next.resources)],
    ['preCheckBeforeNext', requiredReady && stringify({ containersRequiredReady: requiredReady })],
    ['containerBatchesRecord', batches.length > 0 ? stringify(batches) : undefined],
  ]);
}

/** Returns the changes to apply to a Pod after its grace period; undefined if no grace period is active. */
export function readGrace(pod: Pod): UpdateSpec | undefined {
  const text = annotationOf(pod, inPlaceUpdateGraceAnnotation, inPlaceUpdateGraceLegacyAnnotation);
  if (!text) return undefined;
  const read = objectIn(text);
  const patch = read['metaDataPatch'];
  return {
    revision: textIn(read, 'revision'),
    images: mapIn(read['containerImages']),
    refMetadata: mapIn(read['containerRefMetadata']),
    resources: mapIn(read['containerResources']),
    ...(typeof patch === 'string' ? { metadataPatch: objectIn(Buffer.from(patch, 'base64').toString()) } : {}),
    updatesEnv: read['updateEnvFromMetadata'] === true,
    graceSeconds: Number(read['graceSeconds'] ?? 0) || 0,
  };
}

export function formatGrace(spec: UpdateSpec): string {
  const { metadataPatch, graceSeconds } = spec;
  return structure([
    ['revision', stringify(spec.revision)],
    ['containerImages', map(spec.images)],
    ['containerRefMetadata', map(withCreationTime(spec.refMetadata))],
    ['containerResources', map(spec.resources)],
    ['metaDataPatch', metadataPatch && stringify(Buffer.from(stringifySorted(metadataPatch)).toString('base64'))],
    ['updateEnvFromMetadata', flag(spec.updatesEnv)],
    ['graceSeconds', graceSeconds === 0 ? undefined : String(graceSeconds)],
  ]);
}

/** Reports whether a Pod is in the grace period of an in-place update. */
export function isInGrace(pod: Pod): boolean {
  return Boolean(annotationOf(pod, inPlaceUpdateGraceAnnotation, inPlaceUpdateGraceLegacyAnnotation));
}

function annotationOf({ metadata }: Pod, name: string, legacyName: string): string | undefined {
  return metadata.annotations?.[name] ?? metadata.annotations?.[legacyName];
}

function objectIn(text: string): { readonly [name: string]: unknown } {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new SyntaxError('not a JSON object');
  return value;
}

function textIn(read: { readonly [name: string]: unknown }, name: string): string {
  const text = read[name];
  if (typeof text !== 'string') throw new SyntaxError(`${name} is no text`);
  return text;
}

/** Reads a map that a workload wrote. Any other value counts as an empty map. */
function mapIn<T>(value: unknown): ByContainer<T> {
  return isObject(value) ? (value as ByContainer<T>) : {};
}

function listIn<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [];
}

/** Formats a struct as Go does: fields in declaration order, empty ones omitted. */
function structure(fields: readonly (readonly [name: string, text: string | undefined])[]): string {
  const parts = fields.filter(([, text]) => text !== undefined).map(([name, text]) => `"${name}":${text}`);
  return `{${parts.join(',')}}`;
}

function flag(value: boolean): string | undefined {
  return value ? 'true' : undefined;
}

function map(value: object): string | undefined {
  return Object.keys(value).length > 0 ? stringifySorted(value) : undefined;
}

/** Adds the creationTimestamp, which Go never omits from metadata. */
function withCreationTime(metadata: ByContainer<RefMetadata>): ByContainer<object> {
  return Object.fromEntries(
    Object.entries(metadata).map(([container, each]) => [container, { creationTimestamp: null, ...each }]),
  );
}
