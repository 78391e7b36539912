import { setImmediate } from 'node:timers/promises';
import { partialObjectMetadata, partialObjectMetadataList } from '@kruise/api/meta/partial-object-metadata';
import { type Status, status } from '@kruise/api/meta/status';
import { badRequest, notAcceptable } from '@kruise/machinery/status';
import type { ObjectNode } from '@kruise/schema';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { encodeEnvelope } from '@kruise/schema/protobuf-envelope';
import { formatYaml } from '@kruise/schema/yaml-write';
import { stringify } from '@kruise/values/go-json';
import type { Listed } from '../handlers/read.ts';
import { type KubeObject, whole } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { customScaleTable, scaleTable, tableColumnsOf } from '../table/columns.ts';
import { type IncludeObject, type TableColumns, tableOf } from '../table/table.ts';
import { compressFromBytes } from './http-request.ts';
import type { Media } from './negotiation.ts';
import { enveloped, writable } from './object-message.ts';
import { foundBytes, foundText, itemTexts } from './object-text.ts';
import { textChunks } from './text-chunks.ts';

/**
 * Encoded response: a single chunk, or the chunks of a long list. Each chunk is valid until the next but one is
 * requested.
 */
export type Encoded = string | Uint8Array | Generator<Uint8Array> | AsyncGenerator<Uint8Array>;

/** Inputs of an encoder besides the objects. */
export type EncodeContext = { readonly media: Media; readonly query: URLSearchParams; readonly nowMs: number };

/** Encodes one object of a resource. */
export function encodeFound(context: EncodeContext, resource: Resource, found: Found): Encoded {
  const { media } = context;
  switch (media.view) {
    case 'object':
      if (media.format === 'protobuf') return protobufOf(resource, writable(found));
      if (media.format === 'json' && !media.pretty) return foundBytes(resource, found, '', '\n');
      return encodeText(media, () => foundText(resource, found));
    case 'table': {
      const { resourceVersion } = found.object.metadata;
      const metadata = resourceVersion ? { resourceVersion } : {};
      return encodeValue(media, table(context, resource, [found], metadata, true));
    }
    case 'metadata':
      return encodeMetadata(media, metadataOf(media, resource, found));
    case 'metadataList':
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(resource, '')})`,
      );
  }
}

/** Returns the Go type of a kind, for error messages. */
function goType({ kind, custom }: Resource, suffix: 'List' | ''): string {
  if (custom) return `*unstructured.Unstructured${suffix}`;
  return `*${kind.group === '' ? 'core' : kind.group.split('.')[0]}.${kind.kind}${suffix}`;
}

/** Encodes a list of objects. */
export function encodeList(context: EncodeContext, resource: Resource, listed: Listed): Encoded {
  const { media } = context;
  const { kind } = resource;
  switch (media.view) {
    case 'object': {
      // Lists of custom resources have an empty continue field on the last page.
      const metadata = resource.custom ? { continue: '', ...listed.metadata } : listed.metadata;
      const head = { kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata };
      if (media.format === 'protobuf') {
        if (listed.items.length > objectsPerChunk) return listMessage(kind, head, listed.items);
        const list = { ...head, items: listed.items.map(writable) };
        return encodeEnvelope(head.apiVersion, head.kind, codecOf(kind.list).toProtobuf(list));
      }
      const texts = listTexts(resource, head, listed.items);
      const isIndented = media.format === 'yaml' || media.pretty;
      if (isIndented) return encodeText(media, () => [...texts].flat().join(''));
      return listed.items.length > objectsPerChunk ? textChunks(texts) : [...texts].flat().join('');
    }
    case 'table':
      return encodeValue(media, table(context, resource, listed.items, listed.metadata, true));
    case 'metadataList': {
      const items = listed.items.map((found) => metadataOf(media, resource, found));
      const list = {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${media.viewVersion}`,
        metadata: listed.metadata,
        items: items.length === 0 && media.format !== 'protobuf' ? null : items,
      };
      return encodeTyped(media, partialObjectMetadataList, list);
    }
    case 'metadata':
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${goType(resource, 'List')})`,
      );
  }
}

/** Objects per chunk, some hundred kilobytes; longer lists are sent in chunks. */
const objectsPerChunk = 64;

/** Fields of a list besides its items. */
type ListHead = { readonly kind: string; readonly apiVersion: string; readonly metadata: unknown };

function* listTexts(resource: Resource, head: ListHead, items: readonly Found[]): Generator<readonly string[]> {
  yield [stringify(head).slice(0, -1), ',"items":['];
  for (const [index, found] of items.entries()) {
    if (index > 0) yield comma;
    yield itemTexts(resource, found);
  }
  yield [']}\n'];
}

const comma = [','];

/**
 * Encodes a list as protobuf. A message starts with its length, so a long list is encoded completely before it is sent,
 * with pauses for other requests.
 */
async function* listMessage({ list }: Kind, head: ListHead, items: readonly Found[]): AsyncGenerator<Uint8Array> {
  const codec = codecOf(list);
  const chunks = [codec.toProtobuf(head)];
  for (let first = 0; first < items.length; first += objectsPerChunk) {
    chunks.push(codec.listToProtobuf('items', items.slice(first, first + objectsPerChunk).map(writable)));
    await setImmediate();
  }
  const sizeBytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const message = enveloped(head.apiVersion, head.kind, chunks);
  // A short list is sent as one chunk, so that the sender sees that it is too short to compress.
  if (sizeBytes < compressFromBytes) yield Buffer.concat([...message]);
  else yield* message;
}

/** Creates a Table. */
export function table(
  { media, query, nowMs }: EncodeContext,
  resource: Resource,
  found: readonly Found[],
  metadata: { readonly [field: string]: unknown },
  withColumns: boolean,
): unknown {
  const include = includeOf(query);
  return tableOf(resource.table, found.map(include === 'None' ? ({ object }) => object : wholeOf), {
    metadata,
    include,
    version: media.viewVersion,
    withColumns,
    nowMs,
    metadataOf: (object) => withoutFields(resource, object.metadata),
  });
}

function includeOf(query: URLSearchParams): IncludeObject {
  const include = query.get('includeObject') || 'Metadata';
  if (include === 'None' || include === 'Metadata' || include === 'Object') return include;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Encodes an object made for the response, such as a Scale or a review, in the requested view. */
export function encodeComputed(
  { media, query, nowMs }: EncodeContext,
  object: KubeObject | Status,
  schema: ObjectNode | undefined,
  isCustom: boolean,
): Encoded {
  const columns = media.view === 'table' ? columnsOfMade(object.kind, isCustom) : undefined;
  if (columns) {
    const { items, metadata } = object as KubeObject & { readonly items?: readonly KubeObject[] };
    const { resourceVersion } = metadata;
    const options = { include: includeOf(query), version: media.viewVersion, withColumns: true, nowMs };
    const described = { ...options, metadata: resourceVersion ? { resourceVersion } : {} };
    return encodeValue(media, tableOf(columns, items ?? [object as KubeObject], described));
  }
  if (media.view === 'metadata' && object.kind !== 'Status') {
    return encodeMetadata(media, partOf(media, (object as KubeObject).metadata));
  }
  return encodeObject(media, object, schema);
}

function columnsOfMade(kind: string | undefined, isCustom: boolean): TableColumns | undefined {
  if (kind === 'Scale') return isCustom ? customScaleTable : scaleTable;
  return kind?.startsWith('ComponentStatus') ? tableColumnsOf({ kind: 'ComponentStatus' }) : undefined;
}

/** Returns the PartialObjectMetadata of an object. */
export function metadataOf(media: Media, resource: Resource, found: Found): KubeObject {
  return partOf(media, withoutFields(resource, wholeOf(found).metadata));
}

function partOf(media: Media, metadata: KubeObject['metadata']): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${media.viewVersion}`, metadata };
}

/** Returns the metadata without annotations that represent fields. */
function withoutFields({ fieldAnnotations }: Resource, metadata: KubeObject['metadata']): KubeObject['metadata'] {
  if (!fieldAnnotations || !metadata.annotations) return metadata;
  const { annotations, ...rest } = metadata;
  const kept = Object.entries(annotations).filter(([name]) => !fieldAnnotations.includes(name));
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) };
}

function encodeMetadata(media: Media, object: KubeObject): Encoded {
  return encodeTyped(media, partialObjectMetadata, object);
}

function encodeTyped(media: Media, schema: ObjectNode, object: { kind: string; apiVersion: string }): Encoded {
  if (media.format !== 'protobuf') return encodeValue(media, object);
  return encodeEnvelope(object.apiVersion, object.kind, codecOf(schema).toProtobuf(object));
}

/** Encodes an object that is not stored: a Status, a review, a Scale. */
export function encodeObject(media: Media, object: unknown, schema?: ObjectNode): Encoded {
  const { kind = '', apiVersion = '' } = object as { kind?: string; apiVersion?: string };
  const known = kind === 'Status' ? status : schema;
  if (media.format === 'protobuf' && known) {
    return encodeEnvelope(apiVersion, kind, codecOf(known).toProtobuf(object));
  }
  return encodeValue({ ...media, format: media.format === 'protobuf' ? 'json' : media.format }, object);
}

function encodeValue(media: Media, value: unknown): Encoded {
  return encodeText(media, () => stringify(value));
}

function encodeText(media: Media, text: () => string): string {
  if (media.format === 'yaml') return formatYaml(JSON.parse(text()));
  return media.pretty ? `${JSON.stringify(JSON.parse(text()), null, 2)}\n` : `${text()}\n`;
}

function protobufOf({ kind, serializer }: Resource, object: KubeObject): Uint8Array {
  // Negotiation offers protobuf only for kinds that support it.
  return encodeEnvelope(apiVersionOf(kind), kind.kind, serializer.protobuf!.encode(object));
}

export function wholeOf({ object, cached }: Found): KubeObject {
  return object.metadata.managedFields === undefined ? whole({ object, managedFields: cached.managedFields }) : object;
}
