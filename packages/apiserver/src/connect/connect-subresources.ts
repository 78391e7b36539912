import type { Core } from '../core.ts';
import { addSubresource } from '../registry.ts';
import type { Resource, Subresource } from '../resource.ts';
import { log } from './log.ts';
import type { NodeConnector } from './node-connector.ts';
import { attach, exec, portForward } from './pod-streams.ts';
import { proxy } from './proxy.ts';

type ConnectHandler = Extract<Subresource, { type: 'connect' }>['connect'];

const streamMethods = ['GET', 'POST'];
const proxyMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Registers the connect subresources: exec, attach, portforward, log and proxy. */
export function addConnectSubresources(core: Core, connector: NodeConnector): void {
  const add = (plural: string, name: string, methods: readonly string[], of: (resource: Resource) => ConnectHandler) =>
    addSubresource(core.resources, '', plural, name, (resource) => ({
      type: 'connect',
      methods,
      connect: of(resource),
    }));

  for (const [name, connect] of Object.entries({ exec, attach, portforward: portForward })) {
    add(
      'pods',
      name,
      streamMethods,
      (pods) => (context, httpRequest) => connect({ core, connector, pods, context, httpRequest }),
    );
  }
  add(
    'pods',
    'log',
    ['GET'],
    () => (context, httpRequest, headers) => log(core, connector, context, httpRequest, headers),
  );
  for (const plural of ['pods', 'services', 'nodes']) {
    add(
      plural,
      'proxy',
      proxyMethods,
      (resource) => (context, httpRequest, headers) => proxy(core, connector, resource, context, httpRequest, headers),
    );
  }
}
