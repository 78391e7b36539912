import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { reportConflicts } from '@kruise/machinery/server-side-apply/conflict';
import { applyPatch } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import { badRequest, conflict, failure, StatusError, unclassified } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import { parseYamlText, strictYamlError, YamlError } from '@kruise/schema/yaml-text';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Body } from './body.ts';
import { admitAndStore } from './create.ts';
import { checkNamed, dropRepeatedOwners } from './metadata.ts';
import { apply, decodePatched, type Patch, patched, patchOf, patchValue, settle } from './patching.ts';
import { type Part, trackedKind, tracker, withConversions } from './tracking.ts';
import { type Updated, update } from './update.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

/** Changes an object as a patch says. */
export async function patch(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: Part = { name: '', strategy: resource.strategy },
): Promise<Updated> {
  const sent = patchOf(resource, body);
  const options = writeOptions(context.query, 'PatchOptions', sent.type);
  return sent.type === apply
    ? applyTo(core, context, resource, body, part, options)
    : patchBy(core, context, resource, sent, part, options);
}

function patchBy(
  core: Core,
  context: RequestContext,
  resource: Resource,
  sent: Patch,
  part: Part,
  options: WriteOptions,
): Promise<Updated> {
  const value = patchValue(sent);
  const track = tracker(context, resource, options, part);
  return update(core, context, resource, {
    subresource: part.name,
    strategy: part.strategy,
    options,
    change(live) {
      const made = patched(resource.tracked.type, sent.type, live, value);
      const decoded = decodePatched(resource.serializer, live, made, sent);
      settle(context, decoded, options, sent, made);
      const { draft } = decoded;
      checkNamed(context, resource, draft);
      dropRepeatedOwners(context, draft, false);
      return track.changed(live, draft);
    },
  });
}

/** Server-side apply: the object is made to have what is applied, or created from it. */
function applyTo(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: Part,
  options: WriteOptions,
): Promise<Updated> {
  const applied = appliedObject(resource, body, options);
  const manager = managerOf({ fieldManager: options.fieldManager, userAgent: context.userAgent });
  const merge = async (live: KubeObject | undefined): Promise<Draft<KubeObject>> => {
    const request = {
      live,
      applied,
      manager,
      subresource: part.name,
      force: options.force ?? false,
      now: context.clock.now(),
    };
    const result = await withConversions(resource, (each) => applyPatch(trackedKind(each, part), request));
    if ('conflicts' in result) {
      const { message, causes } = reportConflicts(result.conflicts);
      throw new StatusError(failure({ code: 409, reason: 'Conflict', message, details: { causes } }));
    }
    if ('error' in result) {
      throw result.error.reason === 'BadRequest'
        ? badRequest(result.error.message)
        : unclassified(result.error.message);
    }
    const { draft } = resource.serializer.decodeValue(result.object);
    return draft;
  };
  return update(core, context, resource, {
    subresource: part.name,
    strategy: part.strategy,
    options,
    async change(live) {
      const draft = await merge(live);
      checkNamed(context, resource, draft);
      // What was applied may say which version it was made for; otherwise it is for any.
      const { resourceVersion } = (applied.metadata ?? {}) as { readonly resourceVersion?: string };
      if (resourceVersion) draft.metadata.resourceVersion = resourceVersion;
      return draft;
    },
    ...(part.name === ''
      ? {
          async create() {
            const draft = await merge(undefined);
            checkNamed(context, resource, draft);
            const { uid } = draft.metadata;
            if (uid) {
              throw conflict(
                resource.kind,
                context.info.name,
                `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
              );
            }
            delete draft.metadata.resourceVersion;
            return admitAndStore(core, context, resource, options, draft);
          },
        }
      : {}),
  });
}

function appliedObject({ kind }: Resource, body: Body, options: WriteOptions): JsonObject {
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
