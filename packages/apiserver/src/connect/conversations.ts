import type { Core } from '../core.ts';
import { addSubresource } from '../registry.ts';
import type { Resource, Subresource } from '../resource.ts';
import { log } from './log.ts';
import type { NodeConnector } from './node-connector.ts';
import { attach, exec, portForward } from './pod-streams.ts';
import { proxy } from './proxy.ts';

type Converse = Extract<Subresource, { type: 'connect' }>['converse'];

const talk = ['GET', 'POST'];
const anything = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Registers the connect subresources: exec, attach, portforward, log and proxy. */
export function addConversations(core: Core, connector: NodeConnector): void {
  const add = (plural: string, name: string, methods: readonly string[], of: (resource: Resource) => Converse) =>
    addSubresource(core.resources, '', plural, name, (resource) => ({
      type: 'connect',
      methods,
      converse: of(resource),
    }));

  for (const [name, converse] of Object.entries({ exec, attach, portforward: portForward })) {
    add('pods', name, talk, (pods) => (context, exchange) => converse({ core, connector, pods, context, exchange }));
  }
  add('pods', 'log', ['GET'], () => (context, exchange, headers) => log(core, connector, context, exchange, headers));
  for (const plural of ['pods', 'services', 'nodes']) {
    add(
      plural,
      'proxy',
      anything,
      (resource) => (context, exchange, headers) => proxy(core, connector, resource, context, exchange, headers),
    );
  }
}
