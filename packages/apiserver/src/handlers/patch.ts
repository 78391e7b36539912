import { conflict } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { appliedObject, decodeApplied, mergeApplied } from './applying.ts';
import type { Body } from './body.ts';
import { admitAndStore } from './create.ts';
import { checkName, dropRepeatedOwners } from './metadata.ts';
import { apply, decodePatched, type Patch, patched, patchOf, patchValue, reportStrictErrors } from './patching.ts';
import { type Part, trackedKind, tracker, withConversions } from './tracking.ts';
import { keptParts, type Updated, update } from './update.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

/** Patches an object. */
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
      const decoded = decodePatched(resource.serializer, live, made, sent, keptParts(live, part.name));
      reportStrictErrors(context, decoded, options, sent, made);
      const { draft } = decoded;
      checkName(context, resource, draft);
      dropRepeatedOwners(context, draft, false);
      return track.changed(live, draft);
    },
  });
}

/** Server-side apply: merges the applied configuration into the object, or creates the object. */
function applyTo(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: Part,
  options: WriteOptions,
): Promise<Updated> {
  const applied = appliedObject(resource, body, options);
  const merge = async (live: KubeObject | undefined): Promise<Draft<KubeObject>> => {
    const request = { live, applied, options };
    const result = await withConversions(resource, (each) =>
      mergeApplied(context, trackedKind(each, part), request, part.name),
    );
    return decodeApplied(resource.serializer, result);
  };
  return update(core, context, resource, {
    subresource: part.name,
    strategy: part.strategy,
    options,
    async change(live) {
      const draft = await merge(live);
      checkName(context, resource, draft);
      // The applied configuration may contain a resourceVersion as a precondition.
      const { resourceVersion } = (applied.metadata ?? {}) as { readonly resourceVersion?: string };
      if (resourceVersion) draft.metadata.resourceVersion = resourceVersion;
      return draft;
    },
    ...(part.name === ''
      ? {
          async create() {
            const draft = await merge(undefined);
            checkName(context, resource, draft);
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
