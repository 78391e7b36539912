import { applyJsonPatch, asJsonPatch, JsonPatchError } from '@kruise/machinery/json-patch';
import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import {
  badRequest,
  failure,
  invalid,
  StatusError,
  unclassified,
  unsupportedMediaType,
} from '@kruise/machinery/status';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { invalid as invalidField } from '@kruise/schema/field-error';
import { JsonSyntaxError, parseJson } from '@kruise/schema/json-text';
import type { MergeType } from '@kruise/schema/merge-type';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Decoded, Serializer } from '../resource.ts';
import { type Body, mediaType } from './body.ts';
import type { WriteOptions } from './write-options.ts';

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
export const apply = 'application/apply-patch+yaml';

/** The kinds of patches a resource takes. */
function patchTypesOf({ custom }: { readonly custom: boolean }): readonly string[] {
  return custom ? [jsonPatch, mergePatch, apply] : [jsonPatch, mergePatch, strategicPatch, apply];
}

/** A patch as it came. */
export type Patch = {
  readonly type: string;
  readonly body: Body;
  /** The patch as the text it came as, for messages. */
  text(): string;
};

/** The patch of a request, of a kind the resource takes. */
export function patchOf(resource: { readonly custom: boolean }, body: Body): Patch {
  const type = mediaType(body.contentType ?? mergePatch);
  const types = patchTypesOf(resource);
  if (!types.includes(type)) throw unsupportedMediaType(types);
  return {
    type,
    body,
    text: () => (body.type === 'value' ? JSON.stringify(body.value) : Buffer.from(body.bytes).toString()),
  };
}

/** The value of a patch that is not to be applied by the server. */
export function patchValue({ body }: Patch): unknown {
  return body.type === 'value' ? body.value : parsePatch(body.bytes);
}

function parsePatch(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

/** What a patch makes of an object. */
export function patched(mergeType: MergeType, type: string, live: KubeObject, value: unknown): unknown {
  if (type === jsonPatch) {
    try {
      return applyJsonPatch(live, asJsonPatch(value));
    } catch (error) {
      if (error instanceof JsonPatchError) throw rejected(error.message);
      throw error;
    }
  }
  if (!isObject(value)) {
    throw badRequest('json: cannot unmarshal array into Go value of type map[string]interface {}');
  }
  if (type === mergePatch) return applyMergePatch(live, value);
  try {
    return applyStrategicMergePatch(live as JsonObject, value, mergeType);
  } catch (error) {
    if (error instanceof StrategicMergeError) throw strategicRefusal(error);
    throw error;
  }
}

/** What a patch that cannot be applied is answered with. */
function rejected(_why: string): StatusError {
  return new StatusError(
    failure({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    }),
  );
}

function strategicRefusal(error: StrategicMergeError): StatusError {
  switch (error.reason) {
    case 'BadRequest':
      return badRequest(error.message);
    case 'Invalid':
      return rejected(error.message);
    default:
      return unclassified(error.message);
  }
}

/** The object a patch made, read as if a client had sent it. */
export function decodePatched(serializer: Serializer, value: unknown, { text }: Patch): Decoded {
  try {
    return serializer.decodeValue(value);
  } catch (error) {
    throw faultyPatch(text(), (error as Error).message);
  }
}

function faultyPatch(text: string, why: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidField('patch', text, why)]);
}

/** Refuses or warns of what strict decoding has against the object a patch made. */
export function settle(
  context: RequestContext,
  { strictErrors }: Decoded,
  options: WriteOptions,
  { text }: Patch,
): void {
  if (strictErrors.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Strict') {
    throw faultyPatch(text(), `strict decoding error: ${strictErrors.join(', ')}`);
  }
  for (const error of strictErrors) context.warnings.add(error);
}
