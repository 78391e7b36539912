/** Environment of a container: the variables in its spec and the service link variables. */
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import type { Service } from '@kruise/api/core/service';
import { type DownwardContext, fieldOf, resourceFieldOf } from './downward-api.ts';
import { countCharacters, expand } from './expansion.ts';

/** Environment variables by name. */
export type Environment = ReadonlyMap<string, string>;

/** Lookup of the objects that variables refer to; undefined means not found. */
export type EnvironmentObjects = {
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  readonly services: readonly Service[];
};

/** Returns the environment of a container. Throws if a required variable cannot be resolved. */
export function environmentOf(
  pod: Pod,
  container: Container,
  context: DownwardContext,
  objects: EnvironmentObjects,
): Environment {
  const service = serviceVariables(pod, objects.services);
  const own = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const isOptional = configMapRef?.optional ?? secretRef?.optional ?? false;
    const source = configMapRef
      ? findSource('configmap', configMapRef.name ?? '', objects.configMap, isOptional)?.data
      : textsOf(secretRef && findSource('secret', secretRef.name ?? '', objects.secret, isOptional));
    for (const [key, value] of Object.entries(source ?? {})) own.set(prefix + key, value);
  }
  const count = countCharacters();
  const known = (name: string) => own.get(name) ?? service.get(name);
  for (const { name, value = '', valueFrom } of container.env ?? []) {
    const resolved = value !== '' || !valueFrom ? expand(value, known) : resolveReference(pod, container, valueFrom);
    if (resolved === undefined) continue;
    count(resolved);
    own.set(name, resolved);
  }
  for (const [name, value] of service) if (!own.has(name)) own.set(name, value);
  return own;

  type Source = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;
  function resolveReference(of: Pod, within: Container, source: Source): string | undefined {
    const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
    if (fieldRef) return fieldOf(of, fieldRef, context);
    if (resourceFieldRef) return resourceFieldOf(within, resourceFieldRef, context);
    if (configMapKeyRef) {
      const { name = '', key, optional } = configMapKeyRef;
      const data = findSource('configmap', name, objects.configMap, optional ?? false)?.data;
      return keyOf('ConfigMap', of, { name, key, optional: optional ?? false }, data);
    }
    if (secretKeyRef) {
      const { name = '', key, optional } = secretKeyRef;
      const data = textsOf(findSource('secret', name, objects.secret, optional ?? false));
      return keyOf('Secret', of, { name, key, optional: optional ?? false }, data);
    }
    return '';
  }
}

function findSource<T>(
  kind: string,
  name: string,
  get: (name: string) => T | undefined,
  isOptional: boolean,
): T | undefined {
  const object = get(name);
  if (object === undefined && !isOptional) throw new Error(`${kind} ${JSON.stringify(name)} not found`);
  return object;
}

type Texts = { readonly [key: string]: string };

function textsOf(secret: Secret | undefined): Texts | undefined {
  if (!secret) return undefined;
  const texts: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(secret.data ?? {})) texts[key] = Buffer.from(value, 'base64').toString();
  return texts;
}

type KeyReference = { readonly name: string; readonly key: string; readonly optional: boolean };

function keyOf(kind: string, pod: Pod, { name, key, optional }: KeyReference, data: Texts | undefined) {
  const value = data?.[key];
  if (value !== undefined || optional) return value;
  throw new Error(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`);
}

/**
 * Returns the service link variables: the services of the Pod's namespace, if service links are enabled, and the API
 * server.
 */
export function serviceVariables(pod: Pod, services: readonly Service[]): Environment {
  const { namespace } = pod.metadata;
  const isLinked = pod.spec?.enableServiceLinks ?? true;
  const chosen = new Map<string, Service>();
  for (const service of services) {
    const { name = '', namespace: home } = service.metadata;
    const { clusterIP } = service.spec ?? {};
    if (!clusterIP || clusterIP === 'None') continue;
    const isMaster = home === 'default' && name === 'kubernetes';
    // A service of the Pod's namespace takes precedence over the API server's service of the same name.
    if (home === namespace && isLinked) chosen.set(name, service);
    else if (isMaster && !chosen.has(name)) chosen.set(name, service);
  }
  const variables = new Map<string, string>();
  for (const service of chosen.values()) addVariables(variables, service);
  return variables;
}

function addVariables(variables: Map<string, string>, { metadata, spec }: Service): void {
  const { clusterIP = '', ports = [] } = spec ?? {};
  const prefix = variableName(metadata.name ?? '');
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  variables.set(`${prefix}_SERVICE_HOST`, clusterIP);
  for (const [index, { name, port, protocol = 'TCP' }] of ports.entries()) {
    const url = `${protocol.toLowerCase()}://${host}:${port}`;
    if (index === 0) {
      variables.set(`${prefix}_SERVICE_PORT`, String(port));
      variables.set(`${prefix}_PORT`, url);
    }
    if (name) variables.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    variables.set(link, url);
    variables.set(`${link}_PROTO`, protocol.toLowerCase());
    variables.set(`${link}_PORT`, String(port));
    variables.set(`${link}_ADDR`, clusterIP);
  }
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
