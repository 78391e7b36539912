import { applyJsonPatch, asJsonPatch, JsonPatchError, maxOperations } from '@kruise/machinery/json-patch';
import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import {
  badRequest,
  failure,
  invalid,
  StatusError,
  tooLarge,
  unclassified,
  unsupportedMediaType,
} from '@kruise/machinery/status';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import type { Known } from '@kruise/schema/codec';
import { invalid as invalidField } from '@kruise/schema/field-error';
import { JsonSyntaxError, parseJson } from '@kruise/schema/json-text';
import type { MergeType } from '@kruise/schema/merge-type';
import { stringify } from '@kruise/values/go-json';
import { formatValue } from '@kruise/values/go-syntax';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Decoded, Serializer } from '../resource.ts';
import { type Body, mediaType } from './body.ts';
import type { WriteOptions } from './write-options.ts';

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
export const apply = 'application/apply-patch+yaml';

/** Returns the patch types that a resource supports. */
function patchTypesOf({ custom }: { readonly custom: boolean }): readonly string[] {
  return custom ? [jsonPatch, mergePatch, apply] : [jsonPatch, mergePatch, strategicPatch, apply];
}

/** Patch as received. */
export type Patch = { readonly type: string; readonly body: Body };

/** Returns the patch of a request; rejects unsupported patch types. */
export function patchOf(resource: { readonly custom: boolean }, body: Body): Patch {
  const type = mediaType(body.contentType ?? mergePatch);
  const types = patchTypesOf(resource);
  if (!types.includes(type)) {
    if (resource.custom) throw unsupportedMediaType(types);
    const details = { reason: 'UnsupportedMediaType', details: {} };
    throw new StatusError(failure({ code: 415, message: '415: Unsupported Media Type', ...details }));
  }
  return { type, body };
}

/** Parses a patch other than an apply patch. */
export function patchValue({ type, body }: Patch): unknown {
  return body.type === 'value' ? body.value : parsePatch(type, body.bytes);
}

/** Go type of each patch type, for error messages. */
const goTypes: { readonly [type: string]: string } = {
  [jsonPatch]: '[]handlers.jsonPatchOp',
  [mergePatch]: 'map[string]interface {}',
  [strategicPatch]: 'map[string]interface {}',
};

function parsePatch(type: string, bytes: Uint8Array): unknown {
  const context = type === strategicPatch ? '' : 'error decoding patch: ';
  try {
    const value = parseJson(bytes);
    // A null patch changes nothing, except in the library for merge patches.
    if (value === null) {
      if (type === mergePatch) throw badRequest('Invalid JSON Patch');
      return type === jsonPatch ? [] : {};
    }
    const fits = type === jsonPatch ? Array.isArray(value) : isObject(value);
    if (fits) return value;
    throw badRequest(`${context}json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goTypes[type]}`);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`${context}${error.message}`);
    throw error;
  }
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Applies a patch to an object. */
export function patched(mergeType: MergeType, type: string, live: KubeObject, value: unknown): unknown {
  if (type === jsonPatch) {
    const operations = asJsonPatch(value);
    if (operations.length > maxOperations) {
      throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`);
    }
    try {
      return applyJsonPatch(live, operations);
    } catch (error) {
      if (error instanceof JsonPatchError) throw rejected();
      throw error;
    }
  }
  if (type === mergePatch) return applyMergePatch(live, value);
  try {
    return applyStrategicMergePatch(live as JsonObject, value as JsonObject, mergeType);
  } catch (error) {
    if (error instanceof StrategicMergeError) throw strategicMergeError(error);
    throw error;
  }
}

/** Creates the error for a patch that cannot be applied. */
function rejected(): StatusError {
  return new StatusError(
    failure({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    }),
  );
}

function strategicMergeError(error: StrategicMergeError): StatusError {
  switch (error.reason) {
    case 'BadRequest':
      return badRequest(error.message);
    case 'Invalid':
      return rejected();
    default:
      return unclassified(error.message);
  }
}

/** Decodes a patched object as if a client had sent it. `known` are the parts of the old object that it may share. */
export function decodePatched(
  serializer: Serializer,
  live: KubeObject,
  value: unknown,
  patch: Patch,
  known?: Known,
): Decoded {
  const { kind = live.kind, apiVersion = live.apiVersion } = (value ?? {}) as Partial<KubeObject>;
  if (kind !== live.kind || apiVersion !== live.apiVersion) {
    throw faultyPatch(patch, value, 'the kind and apiVersion of an object cannot be changed');
  }
  try {
    const { draft, strictErrors } = serializer.decodeValue(value, known);
    return { draft: Object.assign(draft, { kind, apiVersion }), strictErrors: [...strictErrors].sort() };
  } catch (error) {
    const { message } = error as Error;
    throw faultyPatch(patch, value, patch.type === strategicPatch ? asConversion(message) : message);
  }
}

const goKinds: { readonly [json: string]: string } = { object: 'map', array: 'slice', number: 'int64' };

/**
 * Rewrites an error message: Kubernetes converts the result of a strategic merge patch instead of decoding it, and
 * words errors differently.
 */
function asConversion(message: string): string {
  const match = /^json: cannot unmarshal (\w+)( [\d.eE+-]+)? into Go (?:struct field \S+|value) of type (.+)$/.exec(
    message,
  );
  if (!match) return message;
  const [, given = '', fraction, wanted = ''] = match;
  const kind = fraction ? 'float64' : (goKinds[given] ?? given);
  if (wanted.startsWith('[]')) return `cannot restore slice from ${kind}`;
  if (wanted.startsWith('map[')) return `cannot restore map from ${kind}`;
  return /^(string|bool|u?int\d*|float\d+)$/.test(wanted)
    ? `cannot convert ${kind} to ${wanted}`
    : `cannot restore struct from: ${kind}`;
}

/** Error messages contain the patched object; for strategic merge patches they contain the patch. */
function faultyPatch(patch: Patch, made: unknown, why: string): StatusError {
  const shown = patch.type === strategicPatch ? formatValue(patchValue(patch)) : stringify(made);
  return invalid({ group: '', kind: '' }, '', [invalidField('patch', shown, why)]);
}

/** Rejects or warns about strict decoding errors of a patched object. */
export function reportStrictErrors(
  context: RequestContext,
  { strictErrors }: Decoded,
  options: WriteOptions,
  patch: Patch,
  made: unknown,
): void {
  if (strictErrors.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Strict') {
    throw faultyPatch(patch, made, `strict decoding error: ${strictErrors.join(', ')}`);
  }
  for (const error of strictErrors) context.warnings.add(error);
}
