import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import { trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import type { TrackedKind, Versioned } from '@kruise/machinery/server-side-apply/updater';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Strategy } from '../resource.ts';
import type { WriteOptions } from './write-options.ts';

/** The part of an object a request writes: the object itself, or a subresource with rules of its own. */
export type Part = { readonly name: string; readonly strategy: Strategy };

/** A kind as the fields it lets be written through a part of it are tracked. */
export function trackedKind({ tracked }: Resource, { strategy }: Part): TrackedKind {
  const { resetFields } = strategy;
  return resetFields === undefined ? tracked : { ...tracked, resetFields: { [tracked.apiVersion]: resetFields } };
}

/** Records who wrote which fields. */
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
        // The draft has not been validated yet, so a converter may fail on it. Validation reports the reason; an object
        // that is valid is stored without managed fields, as in Kubernetes.
        () => withoutManagedFields(draft),
      ),
  };
}

function withoutManagedFields(draft: Draft<KubeObject>): Draft<KubeObject> {
  const { managedFields: _, ...metadata } = draft.metadata;
  return { ...draft, metadata };
}

/** Thrown where a conversion has yet to be made. */
class ConversionPending extends Error {
  override readonly name = 'ConversionPending';
  readonly made: Promise<void>;

  constructor(made: Promise<void>) {
    super('a conversion is under way');
    this.made = made;
  }
}

/**
 * Does something that may need objects in other versions at once. Where these take time to make, it is done again when
 * they are there: what it does depends on its arguments alone. A conversion that fails is thrown, unless there is
 * something to return in that case.
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
