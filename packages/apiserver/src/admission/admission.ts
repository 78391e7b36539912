import type { StatusCause } from '@kruise/api/meta/status';
import { forbidden, type StatusError } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { Kind } from '@kruise/schema/kind';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Group, version and kind of an object. */
export type GroupVersionKind = Pick<Kind, 'group' | 'version' | 'kind'>;

/** Attributes of a write that admission decides on. */
export type Attributes = {
  readonly context: RequestContext;
  readonly operation: Operation;
  /** Resource of the request: a stored resource, or a virtual one such as a review. */
  readonly resource: { readonly kind: Kind };
  /** The kind of `object`, which for some subresources is not the resource's own. */
  readonly kind: GroupVersionKind;
  /** Serializer for objects of `kind`. Absent for CONNECT, whose options are immutable. */
  readonly serializer?: Serializer;
  readonly subresource: string;
  /** Namespace of the object. Empty for cluster-scoped objects; for a Namespace, the Namespace's own name. */
  readonly namespace: string;
  /** Name of the object. Empty until a name is generated. */
  readonly name: string;
  /** New object; undefined for a delete. The object is a draft while the plugins mutate it (see `draftOf`). */
  readonly object: KubeObject | undefined;
  /** Existing object; undefined for a create. */
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions as sent to webhooks; null for CONNECT. */
  readonly options: { readonly [field: string]: unknown } | null;
  readonly dryRun: boolean;
};

/** Admission plugin: mutates or validates writes. */
export type AdmissionPlugin = {
  readonly name: string;
  /** Reports whether the plugin handles the write. Runs for every write, so the check must be fast. */
  handles(attributes: Attributes): boolean;
  /** Changes the draft, or returns an object that replaces the draft. Throws a StatusError to deny the write. */
  mutate?(attributes: Attributes, reinvocation: Reinvocation): Mutated | Promise<Mutated>;
  /** Throws a StatusError to deny the write. */
  validate?(attributes: Attributes): void | Promise<void>;
};

// biome-ignore lint/suspicious/noConfusingVoidType: a plugin that changes the draft in place has nothing to return.
type Mutated = KubeObject | undefined | void;

/**
 * State of the mutating phase. All mutating plugins are reinvoked once after a webhook changed the object, because the
 * fields that the webhook added may lack defaults. There is no second reinvocation.
 */
export type Reinvocation = {
  readonly round: 0 | 1;
  requestAnother(): void;
  /** State that a plugin keeps for the reinvocation, by plugin name. */
  readonly notes: Map<string, unknown>;
};

/** Admission chain, in order. */
export interface Admission {
  mutate(attributes: Attributes): Promise<KubeObject | undefined>;
  validate(attributes: Attributes): Promise<void>;
}

/** Builds an admission chain that calls the plugins in order. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter(({ mutate }) => mutate);
  const validating = plugins.filter(({ validate }) => validate);

  async function runMutators(attributes: Attributes, reinvocation: Reinvocation): Promise<Attributes> {
    let current = attributes;
    for (const plugin of mutating) {
      if (!plugin.handles(current)) continue;
      const result = plugin.mutate!(current, reinvocation);
      const object = result instanceof Promise ? await result : result;
      if (object !== undefined && object !== current.object) current = { ...current, object };
    }
    return current;
  }

  return {
    async mutate(attributes) {
      let isRequested = false;
      const notes = new Map<string, unknown>();
      const requestAnother = () => {
        isRequested = true;
      };
      const once = await runMutators(attributes, { round: 0, requestAnother, notes });
      return isRequested ? (await runMutators(once, { round: 1, requestAnother, notes })).object : once.object;
    },
    async validate(attributes) {
      for (const plugin of validating) {
        if (!plugin.handles(attributes)) continue;
        const result = plugin.validate!(attributes);
        if (result instanceof Promise) await result;
      }
    },
  };
}

/** Returns the object that is being mutated. The object was decoded for this request and has no other references. */
export function draftOf<T>({ object }: Attributes): Draft<T> {
  return object as unknown as Draft<T>;
}

/** Reports whether a write is to the resource itself rather than to one of its subresources. */
export function isWriteTo({ resource, subresource }: Attributes, kind: Pick<Kind, 'group' | 'plural'>): boolean {
  return subresource === '' && isResource(resource.kind, kind);
}

export function isResource(one: Pick<Kind, 'group' | 'plural'>, other: Pick<Kind, 'group' | 'plural'>): boolean {
  return one.plural === other.plural && one.group === other.group;
}

/** Creates a 403 Forbidden error that names the object, if the object already has a name. */
export function forbiddenWrite(attributes: Attributes, why: string, causes?: readonly StatusCause[]): StatusError {
  return forbidden(attributes.resource.kind, nameOf(attributes), why, causes);
}

function nameOf({ name, object }: Attributes): string {
  return name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown';
}
