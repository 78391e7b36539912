import { applyJsonPatch, asJsonPatch, JsonPatchError } from '@kruise/machinery/json-patch';
import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import { applyPatch } from '@kruise/machinery/server-side-apply/managed-fields';
import {
  badRequest,
  conflict,
  failure,
  invalid,
  StatusError,
  unclassified,
  unsupportedMediaType,
} from '@kruise/machinery/status';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import type { Draft } from '@kruise/schema/draft';
import { invalid as invalidField } from '@kruise/schema/field-error';
import { JsonSyntaxError, parseJson } from '@kruise/schema/json-text';
import { apiVersionOf } from '@kruise/schema/kind';
import { parseYaml, YamlError } from '@kruise/schema/yaml-text';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Decoded, Resource, Strategy } from '../resource.ts';
import { type Body, mediaType } from './body.ts';
import { admitAndStore } from './create.ts';
import { checkNamed, dropRepeatedOwners } from './metadata.ts';
import { tracker } from './put.ts';
import { type Updated, update } from './update.ts';
import { managerName, type WriteOptions, writeOptions } from './write-options.ts';

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
const apply = 'application/apply-patch+yaml';

/** The kinds of patches a resource takes. */
export function patchTypesOf(resource: Resource): readonly string[] {
  return resource.custom ? [jsonPatch, mergePatch, apply] : [jsonPatch, mergePatch, strategicPatch, apply];
}

type Part = { readonly name: string; readonly strategy: Strategy };

/** Changes an object as a patch says. */
export async function patch(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: Part = { name: '', strategy: resource.strategy },
): Promise<Updated> {
  const type = mediaType(body.contentType ?? mergePatch);
  const types = patchTypesOf(resource);
  if (!types.includes(type)) throw unsupportedMediaType(types);
  const options = writeOptions(context.query, 'PatchOptions', type);
  return type === apply
    ? applyTo(core, context, resource, body, part, options)
    : patchBy(core, context, resource, body, part, options, type);
}

function patchBy(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: Part,
  options: WriteOptions,
  type: string,
): Promise<Updated> {
  const patchValue = body.type === 'value' ? body.value : parsePatch(body.bytes);
  const text = () => (body.type === 'value' ? JSON.stringify(body.value) : Buffer.from(body.bytes).toString());
  const track = tracker(context, resource, options, part);
  return update(core, context, resource, {
    subresource: part.name,
    strategy: part.strategy,
    options,
    change(live) {
      const patched = applyOne(resource, type, live, patchValue);
      const decoded = decodePatched(resource, patched, text);
      settle(context, decoded, options, text);
      const { draft } = decoded;
      checkNamed(context, resource, draft);
      dropRepeatedOwners(context, draft, false);
      return track(live, draft);
    },
  });
}

function parsePatch(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

function applyOne(resource: Resource, type: string, live: KubeObject, value: unknown): unknown {
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
    return applyStrategicMergePatch(live as JsonObject, value, resource.mergeType);
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

function decodePatched(resource: Resource, patched: unknown, text: () => string): Decoded {
  try {
    return resource.serializer.decodeValue(patched);
  } catch (error) {
    throw faultyPatch(text(), (error as Error).message);
  }
}

function faultyPatch(text: string, why: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidField('patch', text, why)]);
}

function settle(context: RequestContext, { strictErrors }: Decoded, options: WriteOptions, text: () => string): void {
  if (strictErrors.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Strict') {
    throw faultyPatch(text(), `strict decoding error: ${strictErrors.join(', ')}`);
  }
  for (const error of strictErrors) context.warnings.add(error);
}
