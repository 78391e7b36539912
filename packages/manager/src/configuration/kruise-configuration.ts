/** The kruise-configuration ConfigMap, in which administrators extend the allowlists. */
import { configMap } from '@kruise/api/core/configmap';
import { kruiseConfigurationName } from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import type { Selection } from '@kruise/client/reflector';
import { isObject } from '@kruise/machinery/json-value';
import { ParseError } from '@kruise/values/parse-error';

/** Selects only this ConfigMap, whatever namespaces kruise-manager watches otherwise. */
export function configurationIn(namespace: string): Selection {
  return { namespace, fieldSelector: `metadata.name=${kruiseConfigurationName}` };
}

/** Returns the value of a key of the ConfigMap. */
export function configured(caches: Caches, namespace: string, key: string): string | undefined {
  const reference = { namespace, name: kruiseConfigurationName };
  return caches.of(configMap, configurationIn(namespace)).get(reference)?.data?.[key];
}

/**
 * Returns the list under a key of the ConfigMap; empty if the key is missing. Throws `ParseError` if it cannot be
 * parsed.
 */
export function readConfigured<T>(
  caches: Caches,
  namespace: string,
  key: string,
  read: (value: unknown) => readonly T[],
): readonly T[] {
  const text = configured(caches, namespace, key);
  return text === undefined ? [] : read(parse(text));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ParseError((error as Error).message);
  }
}

/** The members of an object by lower-case name. Go matches field names without regard to case. */
export type Members = ReadonlyMap<string, unknown>;

export function membersOf(value: unknown): Members {
  if (value === null) return new Map();
  if (!isObject(value)) throw new ParseError(`no object, but ${JSON.stringify(value)}`);
  return new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
}

export function listIn(members: Members, name: string): readonly unknown[] {
  const list = members.get(name.toLowerCase()) ?? [];
  if (!Array.isArray(list)) throw new ParseError(`${name} is no list`);
  return list;
}

export function textIn(members: Members, name: string): string {
  const text = members.get(name.toLowerCase()) ?? '';
  if (typeof text !== 'string') throw new ParseError(`${name} is no string`);
  return text;
}

/** A kind in a version. */
export type KindName = { readonly group: string; readonly version: string; readonly kind: string };

export function kindNameIn(members: Members): KindName {
  return { group: textIn(members, 'group'), version: textIn(members, 'version'), kind: textIn(members, 'kind') };
}
