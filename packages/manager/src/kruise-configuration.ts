/** What administrators allow, in a ConfigMap beside kruise-manager. */
import { configMap } from '@kruise/api/core/configmap';
import { kruiseConfigurationName } from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import type { Selection } from '@kruise/client/reflector';
import { isObject } from '@kruise/machinery/json-value';
import { ParseError } from '@kruise/values/parse-error';

/** That ConfigMap and no other, whatever namespaces kruise-manager looks at otherwise. */
export function configurationIn(namespace: string): Selection {
  return { namespace, fieldSelector: `metadata.name=${kruiseConfigurationName}` };
}

/** What is said under a key of it. */
export function configured(caches: Caches, namespace: string, key: string): string | undefined {
  const reference = { namespace, name: kruiseConfigurationName };
  return caches.of(configMap, configurationIn(namespace)).get(reference)?.data?.[key];
}

/** What is listed under a key of it, none where there is no such key; throws `ParseError` if that cannot be read. */
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

/** The members of an object by their names in lower case: as Go reads them, it does not matter how they are written. */
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
