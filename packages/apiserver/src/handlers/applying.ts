import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { reportConflicts } from '@kruise/machinery/server-side-apply/conflict';
import { applyPatch } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import type { TrackedKind } from '@kruise/machinery/server-side-apply/updater';
import { badRequest, failure, StatusError, unclassified } from '@kruise/machinery/status';
import { DecodeError } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Kind } from '@kruise/schema/kind';
import { parseYamlText, strictYamlError, YamlError } from '@kruise/schema/yaml-text';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';
import type { Body } from './body.ts';
import type { WriteOptions } from './write-options.ts';

/** Merges an applied configuration (server-side apply); fails on conflicts with other field managers. */
export function mergeApplied(
  context: RequestContext,
  tracked: TrackedKind,
  {
    live,
    applied,
    options,
  }: { readonly live: KubeObject | undefined; readonly applied: JsonObject; readonly options: WriteOptions },
  subresource = context.info.subresource,
): JsonObject {
  const result = applyPatch(tracked, {
    live,
    applied,
    manager: managerOf({ fieldManager: options.fieldManager, userAgent: context.userAgent }),
    subresource,
    force: options.force ?? false,
    now: context.clock.now(),
  });
  if ('conflicts' in result) {
    const { message, causes } = reportConflicts(result.conflicts);
    throw new StatusError(failure({ code: 409, reason: 'Conflict', message, details: { causes } }));
  }
  if ('error' in result) {
    throw result.error.reason === 'BadRequest' ? badRequest(result.error.message) : unclassified(result.error.message);
  }
  return result.object;
}

export function decodeApplied(serializer: Serializer, object: JsonObject): Draft<KubeObject> {
  try {
    return serializer.decodeValue(object).draft;
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
}

/** Decodes the applied configuration: a complete or partial object. */
export function appliedObject({ kind }: { readonly kind: Kind }, body: Body, options: WriteOptions): JsonObject {
  const value = body.type === 'value' ? body.value : parseApplied(body.bytes, options);
  if (!isObject(value)) throw badRequest('error decoding YAML: an object is expected');
  const { apiVersion, kind: named } = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  const name = typeof named === 'string' ? named : '';
  const [group, last] = version.includes('/') ? version.split('/') : ['', version];
  if (name !== kind.kind || group !== kind.group) {
    throw badRequest(`invalid object type: ${group}/${last}, Kind=${name}`);
  }
  return value;
}

function parseApplied(bytes: Uint8Array, { fieldValidation }: WriteOptions): unknown {
  try {
    const { value, duplicates } = parseYamlText(bytes);
    if (duplicates.length > 0 && fieldValidation === 'Strict') {
      throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strictYamlError(duplicates)}`);
    }
    return value;
  } catch (error) {
    if (error instanceof YamlError) {
      throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
    }
    throw error;
  }
}
