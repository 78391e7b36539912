import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { serverItself } from '../user.ts';

/** The name the server's own changes are recorded under. */
const manager = 'kube-apiserver';

/** A request the server makes of itself about an object. */
export function ownRequest(
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

/** How the server writes its own objects. */
export const ownOptions = {
  dryRun: false,
  fieldManager: manager,
  fieldValidation: 'Ignore',
  force: undefined,
} as const;
