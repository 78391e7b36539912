import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import { trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import type { TrackedKind, Versioned } from '@kruise/machinery/server-side-apply/updater';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Strategy } from '../resource.ts';
import type { WriteOptions } from './write-options.ts';

/** Part of an object that a request writes: the object itself, or a subresource with its own strategy. */
export type Part = { readonly name: string; readonly strategy: Strategy };

/** Returns a kind with the fields that a write to a part may own. */
export function trackedKind({ tracked }: Resource, { strategy }: Part): TrackedKind {
  const { resetFields } = strategy;
  return resetFields === undefined ? tracked : { ...tracked, resetFields: { [tracked.apiVersion]: resetFields } };
}

/** Tracks field ownership. */
export type Tracker = {
  created(draft: Draft<KubeObject>): Draft<KubeObject>;
  changed(live: KubeObject, draft: Draft<KubeObject>): Draft<KubeObject> | Promise<Draft<KubeObject>>;
};

export function tracker(
  context: RequestContext,
  resource: Resource,
  { fieldManager }: WriteOptions,
  part: Part,
): Tracker {
  const manager = managerOf({ fieldManager, userAgent: context.userAgent });
  const track = (each: Resource, live: KubeObject | undefined, draft: Draft<KubeObject>) =>
    trackUpdate(trackedKind(each, part), {
      live,
      updated: draft as KubeObject,
      manager,
      subresource: part.name,
      now: context.clock.now(),
    }) as Draft<KubeObject>;
  return {
    created: (draft) => track(resource, undefined, draft),
    changed: (live, draft) =>
      withConversions(
        resource,
        (each) => track(each, live, draft),
        // The draft has not been validated yet, so a converter may fail on it. Validation reports the reason; a valid
        // object is stored without managed fields, as in Kubernetes.
        () => withoutManagedFields(draft),
      ),
  };
}

function withoutManagedFields(draft: Draft<KubeObject>): Draft<KubeObject> {
  const { managedFields: _, ...metadata } = draft.metadata;
  return { ...draft, metadata };
}

/** Thrown if a conversion is not available yet. */
class ConversionPending extends Error {
  override readonly name = 'ConversionPending';
  readonly made: Promise<void>;

  constructor(made: Promise<void>) {
    super('a conversion is under way');
    this.made = made;
  }
}

/**
 * Runs a synchronous function that needs objects in other versions. If a conversion is asynchronous, the function runs
 * again once the result is available, so it must be pure. A failed conversion is thrown, unless there is a fallback.
 */
export function withConversions<T>(
  resource: Resource,
  act: (resource: Resource) => T,
  onFailedConversion?: () => T,
): T | Promise<T> {
  const { toVersion } = resource.conversion;
  if (!toVersion) return act(resource);
  const made: { readonly object: JsonObject; readonly apiVersion: string; readonly versioned: Versioned }[] = [];
  const convert = (object: JsonObject, apiVersion: string): Versioned | undefined => {
    const known = made.find((each) => each.apiVersion === apiVersion && isSame(each.object, object));
    if (known) return known.versioned;
    const pending = toVersion(object as KubeObject, apiVersion);
    if (!pending) return undefined;
    throw new ConversionPending(pending.then((versioned) => void made.push({ object, apiVersion, versioned })));
  };
  const ready = { ...resource, tracked: { ...resource.tracked, convert } };
  const attempt = async (): Promise<T> => {
    for (;;) {
      try {
        return act(ready);
      } catch (error) {
        if (!(error instanceof ConversionPending)) throw error;
        try {
          await error.made;
        } catch (failure) {
          if (!onFailedConversion) throw failure;
          return onFailedConversion();
        }
      }
    }
  };
  return attempt();
}
