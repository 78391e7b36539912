import type { Status } from '@kruise/api/meta/status';
import type { ObjectNode } from '@kruise/schema';
import { apiVersionOf } from '@kruise/schema/kind';
import type { KubeObject } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import type { Listed } from './read.ts';
import type { OpenWatch } from './watch.ts';

/** Result of a request, before encoding. */
export type RequestResult =
  | { readonly type: 'found'; readonly code: number; readonly resource: Resource; readonly found: Found }
  | { readonly type: 'list'; readonly resource: Resource; readonly listed: Listed }
  | { readonly type: 'watch'; readonly resource: Resource; readonly open: OpenWatch }
  | {
      readonly type: 'object';
      readonly code: number;
      readonly object: KubeObject | Status;
      readonly schema?: ObjectNode;
    };

/** Returns the object of a result; undefined for a watch. */
export function objectOf(result: RequestResult): unknown {
  switch (result.type) {
    case 'found':
      return result.found.object;
    case 'object':
      return result.object;
    case 'list': {
      const { kind } = result.resource;
      return {
        kind: kind.listKind,
        apiVersion: apiVersionOf(kind),
        metadata: result.listed.metadata,
        items: result.listed.items.map(({ object }) => object),
      };
    }
    case 'watch':
      return undefined;
  }
}
