import type { StatusCause } from '@kruise/api/meta/status';
import { forbidden, type StatusError } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { Kind } from '@kruise/schema/kind';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What a kind is called, in one version. */
export type GroupVersionKind = Pick<Kind, 'group' | 'version' | 'kind'>;

/** A write about to happen, as admission sees it. */
export type Attributes = {
  readonly context: RequestContext;
  readonly operation: Operation;
  /** The resource written to: one with objects, or a virtual one such as a review. */
  readonly resource: { readonly kind: Kind };
  /** The kind of `object`, which for some subresources is not the resource's own. */
  readonly kind: GroupVersionKind;
  /** How objects of `kind` are read and written down; absent for CONNECT, whose options nobody may change. */
  readonly serializer?: Serializer;
  readonly subresource: string;
  /** Empty for what belongs to the whole cluster; for a Namespace its own name. */
  readonly namespace: string;
  /** Empty before a name is made up. */
  readonly name: string;
  /** What is about to be written; undefined for a delete. While it is being mutated it is a draft (see `draftOf`). */
  readonly object: KubeObject | undefined;
  /** What is there now; undefined for a create. */
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions as webhooks are shown them; null for CONNECT. */
  readonly options: { readonly [field: string]: unknown } | null;
  readonly dryRun: boolean;
};

/** A rule of the cluster on what may be written. */
export type AdmissionPlugin = {
  readonly name: string;
  /** Whether the plugin has anything to say; called for every write, so it must be quick. */
  handles(attributes: Attributes): boolean;
  /** Changes the draft, or returns another object in its place. Throws a StatusError to refuse. */
  mutate?(attributes: Attributes, passes: Passes): Mutated | Promise<Mutated>;
  /** Throws a StatusError to refuse. */
  validate?(attributes: Attributes): void | Promise<void>;
};

// biome-ignore lint/suspicious/noConfusingVoidType: a plugin that changes the draft in place has nothing to return.
type Mutated = KubeObject | undefined | void;

/**
 * Mutators run once more, all of them, after a webhook changed the object: what they fill in may be missing from what
 * it added. There is no third time.
 */
export type Passes = {
  readonly round: 0 | 1;
  requestAnother(): void;
  /** What a plugin wants to know in the second round, by its name. */
  readonly notes: Map<string, unknown>;
};

/** The whole chain, in order. */
export interface Admission {
  mutate(attributes: Attributes): Promise<KubeObject | undefined>;
  validate(attributes: Attributes): Promise<void>;
}

/** Asks each plugin in turn. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter(({ mutate }) => mutate);
  const validating = plugins.filter(({ validate }) => validate);

  async function pass(attributes: Attributes, passes: Passes): Promise<Attributes> {
    let current = attributes;
    for (const plugin of mutating) {
      if (!plugin.handles(current)) continue;
      const result = plugin.mutate!(current, passes);
      const object = result instanceof Promise ? await result : result;
      if (object !== undefined && object !== current.object) current = { ...current, object };
    }
    return current;
  }

  return {
    async mutate(attributes) {
      let another = false;
      const notes = new Map<string, unknown>();
      const requestAnother = () => {
        another = true;
      };
      const once = await pass(attributes, { round: 0, requestAnother, notes });
      return another ? (await pass(once, { round: 1, requestAnother, notes })).object : once.object;
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

/** The object that is being mutated. It was decoded for this request and nobody else holds it. */
export function draftOf<T>({ object }: Attributes): Draft<T> {
  return object as unknown as Draft<T>;
}

/** Whether a write is to a resource itself, not to a subresource of it. */
export function isAbout({ resource, subresource }: Attributes, kind: Pick<Kind, 'group' | 'plural'>): boolean {
  return subresource === '' && isResource(resource.kind, kind);
}

export function isResource(one: Pick<Kind, 'group' | 'plural'>, other: Pick<Kind, 'group' | 'plural'>): boolean {
  return one.plural === other.plural && one.group === other.group;
}

/** 403, naming the object as far as it has a name yet. */
export function refuse(attributes: Attributes, why: string, causes?: readonly StatusCause[]): StatusError {
  return forbidden(attributes.resource.kind, nameOf(attributes), why, causes);
}

function nameOf({ name, object }: Attributes): string {
  return name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown';
}
