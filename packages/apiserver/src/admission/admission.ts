import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A write about to happen, as admission sees it. */
export type Attributes = {
  readonly context: RequestContext;
  readonly operation: Operation;
  readonly resource: Resource;
  /** The kind of `object`, which for some subresources is not the resource's own. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** What is about to be written; undefined for a delete. */
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
  /** A changed object, or nothing. Throws a StatusError to refuse. */
  mutate?(attributes: Attributes): KubeObject | undefined | Promise<KubeObject | undefined>;
  /** Throws a StatusError to refuse. */
  validate?(attributes: Attributes): void | Promise<void>;
};

/** The whole chain, in order. */
export interface Admission {
  mutate(attributes: Attributes): Promise<KubeObject | undefined>;
  validate(attributes: Attributes): Promise<void>;
}

/** Asks each plugin in turn. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes) {
      let current = attributes;
      for (const plugin of plugins) {
        if (!plugin.mutate || !plugin.handles(current)) continue;
        const result = plugin.mutate(current);
        const object = result instanceof Promise ? await result : result;
        if (object !== undefined && object !== current.object) current = { ...current, object };
      }
      return current.object;
    },
    async validate(attributes) {
      for (const plugin of plugins) {
        if (!plugin.validate || !plugin.handles(attributes)) continue;
        const result = plugin.validate(attributes);
        if (result instanceof Promise) await result;
      }
    },
  };
}
