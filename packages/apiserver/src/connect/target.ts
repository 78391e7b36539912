import type { Endpoints } from '@kruise/api/core/endpoints';
import { endpoints } from '@kruise/api/core/endpoints';
import { type Node, node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { containersOf } from '@kruise/api/core/pod-containers';
import { type Service, service } from '@kruise/api/core/service';
import { badRequest, notFound, serviceUnavailable } from '@kruise/machinery/status';
import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Backend } from './backend.ts';
import { isGlobalUnicast, type NodeConnector } from './node-connector.ts';

/** Resolution of the target of a connect request: the container, Pod and node, or the address. */

/** Reads the current object. */
async function current<T extends KubernetesObject>(
  core: Core,
  kind: Kind<T>,
  namespace: string | undefined,
  name: string,
): Promise<T> {
  const { group, version, plural } = kind;
  await core.feed.waitForCurrent();
  const storage = core.resources.find(group, version, plural)?.storage;
  const found = storage?.cache.get(storage.keyOf(namespace, name));
  if (!found) throw notFound(kind, name);
  // The kind is built in, so its storage version is the version it is defined in.
  return found.object as T;
}

export function podOf(core: Core, { info }: RequestContext, name = info.name): Promise<Pod> {
  return current(core, pod, info.namespace, name);
}

export function nodeOf(core: Core, name: string): Promise<Node> {
  return current(core, node, undefined, name);
}

/** Returns the requested container, or the default container. */
export function containerOf({ metadata, spec }: Pod, requested: string | undefined): string {
  const all = spec ? [...containersOf(spec, 'spec')].map(([{ name }]) => name) : [];
  if (requested) {
    if (!all.includes(requested)) throw badRequest(`container ${requested} is not valid for pod ${metadata?.name}`);
    return requested;
  }
  const containers = spec?.containers ?? [];
  if (containers.length === 1) return containers[0]!.name;
  const choice = containers.length === 0 ? '' : `, choose one of: [${all.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${metadata?.name}${choice}`);
}

type ProxyName = { readonly scheme: string; readonly name: string; readonly port: string };

/** Parses `name`, `name:port` or `scheme:name:port`. */
function splitName(what: string, text: string): ProxyName {
  const parts = text.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? ''];
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme!)) {
    throw badRequest(`invalid ${what} request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme!, name, port: port! };
}

/** Resolves the name of a proxied object to a backend. */
export async function proxyTarget(core: Core, connector: NodeConnector, context: RequestContext): Promise<Backend> {
  const { info } = context;
  switch (info.plural) {
    case 'nodes': {
      const { name, ...where } = splitName('node', info.name);
      return connector.proxy(await nodeOf(core, name), where);
    }
    case 'pods':
      return podTarget(core, connector, context);
    default:
      return serviceTarget(core, connector, context);
  }
}

async function podTarget(core: Core, connector: NodeConnector, context: RequestContext): Promise<Backend> {
  const { scheme, name, port } = splitName('pod', context.info.name);
  const { spec, status } = await podOf(core, context, name);
  const first = spec?.containers?.find(({ ports }) => ports && ports.length > 0)?.ports?.[0]?.containerPort;
  const host = status?.podIP || status?.podIPs?.[0]?.ip || '';
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
  return connector.address(locationOf(scheme, host, port || String(first ?? '')));
}

async function serviceTarget(core: Core, connector: NodeConnector, context: RequestContext): Promise<Backend> {
  const { info, random } = context;
  const { scheme, name, port: requested } = splitName('service', info.name);
  let port = requested;
  if (/^[+-]?\d+$/.test(requested)) {
    const { spec } = await current<Service>(core, service, info.namespace, name);
    const found = spec?.ports?.find((each) => each.port === Number(requested));
    if (!found)
      throw serviceUnavailable(`no service port ${Number(requested)} found for service ${JSON.stringify(name)}`);
    port = found.name ?? '';
  }
  const { subsets = [] } = await current<Endpoints>(core, endpoints, info.namespace, name);
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  for (const { addresses = [], ports = [] } of rotated(subsets, random.next())) {
    const found = ports.find((each) => (each.name ?? '') === port);
    if (!found) continue;
    for (const { ip, targetRef } of rotated(addresses, random.next())) {
      // Endpoints that are not Pods could lead to any address.
      if (!targetRef || targetRef.namespace !== info.namespace) continue;
      const target = await podOf(core, context, targetRef.name ?? '').catch(() => undefined);
      if (!target?.status?.podIPs?.some((each) => each.ip === ip)) continue;
      return connector.address(locationOf(scheme, ip, String(found.port)));
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(info.name)}`);
}

/** Rotates a list by a fraction of its length. */
function rotated<T>(items: readonly T[], fraction: number): T[] {
  const start = Math.floor(fraction * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}

function locationOf(scheme: string, host: string, port: string) {
  const secure = scheme === 'https';
  if (port !== '' && !/^\d{1,5}$/.test(port)) {
    throw serviceUnavailable(`error trying to reach service: dial tcp: lookup tcp/${port}: unknown port`);
  }
  return { scheme: secure ? 'https' : 'http', host, port: port === '' ? (secure ? 443 : 80) : Number(port) } as const;
}
