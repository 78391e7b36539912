import type { ParamKind } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import type { ParamRef } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { selectorOf } from '@kruise/machinery/label-selector';
import type { KubeObject } from '../../object.ts';
import type { ResourceRegistry } from '../../registry.ts';
import type { Resource } from '../../resource.ts';

/**
 * Error in the configuration of a policy or binding, not in the written object. The policy's failurePolicy decides the
 * outcome.
 */
export class ConfigurationError extends Error {}

/** Finds the resource of a paramKind. */
export function createKinds(resources: ResourceRegistry): (kind: ParamKind) => Resource | undefined {
  let generation = -1;
  let known = new Map<string, Resource>();
  return ({ apiVersion = '', kind = '' }) => {
    if (generation !== resources.generation) {
      generation = resources.generation;
      known = new Map();
      for (const resource of resources.all()) {
        const { group, version, kind: name } = resource.kind;
        known.set(`${group === '' ? version : `${group}/${version}`}, Kind=${name}`, resource);
      }
    }
    return known.get(`${apiVersion}, Kind=${kind}`);
  };
}

/** Returns the params of an evaluation: each object that the binding selects, or no params. */
export async function paramsOf(
  resource: Resource,
  { name, namespace: given, selector, parameterNotFoundAction }: ParamRef,
  namespace: string,
): Promise<readonly KubeObject[]> {
  const found = select(resource, { name, given, selector }, namespace);
  if (found.length === 0 && parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return Promise.all(found.map((object) => resource.conversion.fromStorage(object)));
}

function select(
  { kind, storage }: Resource,
  { name, given, selector }: { name?: string | undefined; given?: string | undefined; selector?: ParamRef['selector'] },
  namespace: string,
): readonly KubeObject[] {
  const isNamespaced = kind.scope === 'Namespaced';
  if (!isNamespaced && given) {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const where = given || namespace;
  if (isNamespaced && where === '') {
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  }
  if (name) {
    if (selector) throw new ConfigurationError('paramRef.name and paramRef.selector are mutually exclusive');
    const cached = storage.cache.get(storage.keyOf(isNamespaced ? where : undefined, name));
    return cached ? [cached.object] : [];
  }
  if (!selector) throw new ConfigurationError('one of name or selector must be provided');
  const { matches } = selectorOf(selector);
  return storage.cache
    .list({ keyPrefix: isNamespaced ? `${storage.prefix}${where}/` : storage.prefix })
    .map(({ object }) => object)
    .filter(({ metadata }) => matches(metadata.labels));
}
