import { objectMeta } from '@kruise/api/meta/object-meta';
import { put } from '@kruise/machinery/json-value';
import { badRequest, invalid } from '@kruise/machinery/status';
import { codecOf, DecodeError } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { invalid as invalidField, summary } from '@kruise/schema/field-error';
import { exactValue, findDuplicateKeys, JsonSyntaxError, type ScannedJson, scanJson } from '@kruise/schema/json-text';
import { stringify } from '@kruise/values/go-json';
import type { KubeObject } from '../object.ts';
import type { Decoded, Serializer } from '../resource.ts';
import { type CustomVersion, withOrderedFields } from './version.ts';

const metadataCodec = codecOf(objectMeta);

/** Maximum number of unknown fields to report. */
const maxUnknown = 100;

/** Creates the serializer for one version of a custom resource from its schema. */
export function customSerializer(version: CustomVersion): Serializer {
  /** Decodes a value. `text` returns the body for error messages. */
  function decode(value: unknown, text: () => string, duplicates: readonly string[]): Decoded {
    const sent = checkedKind(version, value, text);
    const { metadata, unknown } = readMetadata(sent['metadata']);
    const { apiVersion, kind, metadata: _, ...fields } = sent;
    const pruned: string[] = [];
    const reading = version.structural.read({ apiVersion, kind, metadata, ...fields }, pruned);
    if (reading.faults.length > 0) throw new DecodeError(summary(reading.faults));
    return {
      // The root and the metadata belong to this decoding; the parts below are never mutated.
      draft: { ...reading.object, metadata } as Draft<KubeObject>,
      strictErrors: [
        ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
        ...[...unknown, ...pruned].slice(0, maxUnknown).map((path) => `unknown field ${JSON.stringify(path)}`),
      ],
    };
  }

  return {
    decodeText(text) {
      const scanned = scan(version, text);
      return decode(numbersOf64Bits(scanned), () => textOf(text), findDuplicateKeys(scanned));
    },
    decodeValue: (value) => decode(value, () => stringify(value), []),
    decodeMutated(value) {
      const sent = checkedKind(version, value, () => stringify(value));
      const { metadata } = readMetadata(sent['metadata']);
      return { ...version.structural.complete(sent), metadata } as Draft<KubeObject>;
    },
    canonical: withOrderedFields,
    toJson: (object) => stringify(object),
  };
}

function scan(version: CustomVersion, text: Uint8Array | string): ScannedJson {
  try {
    return scanJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognized(version, `couldn't get version/kind; json parse error: ${error.message}`, textOf(text));
  }
}

/** Parses a stored object. */
export function parseStored(bytes: Uint8Array): KubeObject {
  return numbersOf64Bits(scanJson(bytes)) as KubeObject;
}

/** Returns the value of a text; integers beyond 64 bits have the precision of floating-point numbers. */
function numbersOf64Bits(scanned: ScannedJson): unknown {
  const value = exactValue(scanned);
  return scanned.scan.hasLongNumber ? roundLong(value) : value;
}

function roundLong(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(roundLong);
  const rounded = {};
  for (const [name, member] of Object.entries(value)) put(rounded, name, roundLong(member));
  return rounded;
}

function textOf(text: Uint8Array | string): string {
  return typeof text === 'string' ? text : Buffer.from(text).toString();
}

/**
 * Validates apiVersion and kind. Unlike for built-in kinds, the body must contain them, and a mismatch is an error of
 * the object.
 */
function checkedKind(
  version: CustomVersion,
  value: unknown,
  text: () => string,
): { readonly [field: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    throw unrecognized(version, `couldn't get version/kind; json parse error: ${notAnObject(found)}`, text());
  }
  const { apiVersion, kind, metadata } = value as { apiVersion?: unknown; kind?: unknown; metadata?: unknown };
  if (kind === undefined || kind === '' || kind === null) {
    throw unrecognized(version, `Object 'Kind' is missing in '${text()}'`, text());
  }
  if (apiVersion !== undefined && apiVersion !== version.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${version.apiVersion})`,
    );
  }
  if (kind !== version.kind) {
    const { name = '' } = (metadata ?? {}) as { readonly name?: string };
    const cause = invalidField('kind', kind, `must be ${version.kind}`);
    throw invalid({ group: version.apiVersion.split('/')[0]!, kind: String(kind) }, name, [cause]);
  }
  return value as { readonly [field: string]: unknown };
}

function notAnObject(found: string): string {
  return `json: cannot unmarshal ${found} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

/** Maximum number of body bytes in an error message. */
const shownBytes = 30;

function unrecognized({ kind }: CustomVersion, why: string, text: string) {
  const bytes = Buffer.from(text);
  const isText = text.startsWith('{');
  const shown = isText ? bytes.subarray(0, shownBytes).toString() : bytes.subarray(0, shownBytes).toString('hex');
  const cut = bytes.length > shownBytes ? ' ...' : '';
  const summarized = text === '' ? '<empty>' : shown + cut;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summarized})`);
}

function readMetadata(sent: unknown): { readonly metadata: Draft<KubeObject['metadata']>; readonly unknown: string[] } {
  const unknown: string[] = [];
  const metadata = metadataCodec.fromJson(sent ?? {}, { onUnknown: (path) => unknown.push(`metadata.${path}`) });
  return { metadata: metadata as Draft<KubeObject['metadata']>, unknown };
}
