import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { serverItself } from '../user.ts';

/** Field manager of the server's own writes. */
const manager = 'kube-apiserver';

/** Creates the context of a request that the server makes itself. */
export function internalRequest(
  core: Core,
  { kind }: Resource,
  verb: string,
  object: KubeObject,
  subresource = '',
): RequestContext {
  const { group, version, plural } = kind;
  const { name = '', namespace = '' } = object.metadata;
  return {
    info: { isResource: true, path: '', verb, group, version, namespace, plural, subresource, name, rest: [] },
    query: new URLSearchParams(),
    user: serverItself,
    userAgent: manager,
    clock: core.clock,
    random: core.random,
    signal: core.signal,
    warnings: new Set(),
    auditAnnotations: new Map(),
  };
}

/** Write options of the server's own writes. */
export const internalOptions = {
  dryRun: false,
  fieldManager: manager,
  fieldValidation: 'Ignore',
  force: undefined,
} as const;
