import type { Status } from '@kruise/api/meta/status';
import type { Kind } from '@kruise/schema/kind';
import type { RequestContext } from './context.ts';
import type { KubeObject } from './object.ts';
import type { Serializer } from './resource.ts';

/**
 * Resource without stored objects: a review that is answered at once, an action on another object (bindings), or a
 * computed list (component statuses).
 */
export type VirtualResource = {
  readonly kind: Kind;
  readonly serializer: Serializer;
  /** Deprecation warning for every response. */
  readonly deprecation?: string;
  create?(context: RequestContext, object: KubeObject): Promise<KubeObject | Status>;
  get?(context: RequestContext): Promise<KubeObject>;
  list?(context: RequestContext): Promise<readonly KubeObject[]>;
};
