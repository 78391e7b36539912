import type { Status } from '@kruise/api/meta/status';
import type { Kind } from '@kruise/schema/kind';
import type { RequestContext } from './context.ts';
import type { KubeObject } from './object.ts';
import type { Serializer } from './resource.ts';

/**
 * A resource that holds no objects: a question asked by POST and answered at once (reviews), something done to another
 * object (bindings), or a list made up on the spot (component statuses).
 */
export type VirtualResource = {
  readonly kind: Kind;
  readonly serializer: Serializer;
  /** A text each answer carries in a Warning header: the version is deprecated. */
  readonly deprecation?: string;
  create?(context: RequestContext, object: KubeObject): Promise<KubeObject | Status>;
  get?(context: RequestContext): Promise<KubeObject>;
  list?(context: RequestContext): Promise<readonly KubeObject[]>;
};
