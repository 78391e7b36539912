import { type Node, node } from '@kruise/api/core/node';
import { type LoadBalancerStatus, type Service, service } from '@kruise/api/core/service';
import type { Client } from '@kruise/client/client';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Effect } from '@kruise/client/execute';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { exponentialBackoff } from '@kruise/client/rate-limiter';
import { isSame } from '@kruise/machinery/json-value';
import { isNotFound } from '@kruise/machinery/status';
import { errorText } from '@kruise/values/error-text';
import type { LoadBalancers } from '../provider.ts';
import {
  type AppliedState,
  decide,
  isBalanced,
  loadBalancerEvent,
  needsCleanup,
  needsReconcile,
  noNodes,
  type Observed,
  wantsLoadBalancer,
} from './decide.ts';

/** Service controller of the cloud: provisions load balancers for Services of type LoadBalancer. */
export function cloudServiceController(loadBalancers: LoadBalancers): Controller {
  const applied = new Map<Key, AppliedState>();
  let isRestored = false;

  function observe(caches: Caches, key: Key): Observed | undefined {
    const services = caches.of(service);
    if (!isRestored) loadBalancers.restore?.(services.list());
    isRestored = true;
    const found = services.get(key);
    if (!found) {
      applied.delete(key);
      return undefined;
    }
    const isOurs = wantsLoadBalancer(found) || needsCleanup(found) || applied.has(key);
    return isOurs
      ? { service: found, nodes: caches.of(node).list().filter(isBalanced), applied: applied.get(key) }
      : undefined;
  }

  const ensure: Effect = async (input, signal, { client, record }) => {
    // `decide` sets the input.
    const wanted = input as AppliedState;
    const about = wanted.service;
    try {
      const status = await loadBalancers.ensure(about, wanted.nodes, signal);
      applied.set(keyOf(about), wanted);
      record(loadBalancerEvent(about, 'Ensured').event);
      await writeStatus(client, about, status);
    } catch (error) {
      const message = `Error syncing load balancer: failed to ensure load balancer: ${errorText(error)}`;
      record({ about, type: 'Warning', reason: 'SyncLoadBalancerFailed', message });
      throw error;
    }
  };

  const updateNodes: Effect = async (input, signal, { record }) => {
    const { service: about, nodes } = input as AppliedState;
    try {
      await loadBalancers.updateNodes(about, nodes, signal);
    } catch (error) {
      const names = nodes.map(({ metadata }) => metadata.name).sort();
      const shown = names.length > 20 ? [...names.slice(0, 20), `<${names.length - 20} more>`] : names;
      const hosts = `[${shown.join(' ')}] [node names limited, total number of nodes: ${names.length}]`;
      const message = `Error updating load balancer with new hosts ${hosts}, error: ${errorText(error)}`;
      record({ about, type: 'Warning', reason: 'UpdateLoadBalancerFailed', message });
      throw error;
    }
    const before = applied.get(keyOf(about));
    applied.set(keyOf(about), { service: before?.service ?? about, nodes });
    record(nodes.length === 0 ? noNodes(about).event : loadBalancerEvent(about, 'Updated').event);
  };

  const release: Effect = async (input, signal, { record }) => {
    const about = input as Service;
    try {
      if (await loadBalancers.find(about, signal)) {
        record(loadBalancerEvent(about, 'Deleting').event);
        await loadBalancers.remove(about, signal);
      }
    } catch (error) {
      const message = `Error syncing load balancer: failed to delete load balancer: ${errorText(error)}`;
      record({ about, type: 'Warning', reason: 'SyncLoadBalancerFailed', message });
      throw error;
    }
    applied.delete(keyOf(about));
  };

  return defineController({
    name: 'service',
    for: service,
    predicate: ({ object, previous }) => !previous || needsReconcile(previous, object),
    watches: [watch(node, servicesOfChangedNode)],
    rateLimiter: () => exponentialBackoff({ initialMs: 5_000, maxMs: 300_000 }),
    effects: { ensure, updateNodes, release },
    observe,
    decide,
  });
}

/** Writes the load balancer status if it changed. A Service that is already deleted is not an error. */
async function writeStatus(client: Client, about: Service, loadBalancer: LoadBalancerStatus): Promise<void> {
  if (isSame(about.status?.loadBalancer ?? {}, loadBalancer)) return;
  const { name = '', namespace = '', uid } = about.metadata;
  const patch = { metadata: { uid }, status: { loadBalancer } };
  try {
    await client.patch(service, { name, namespace }, patch, {
      type: 'merge',
      subresource: 'status',
      fieldManager: 'cloud-controller-manager',
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function balanced(found: Service): readonly string[] {
  return wantsLoadBalancer(found) ? ['yes'] : [];
}

/** Enqueues all balanced Services when a node is added, deleted, or backed by another instance. */
function servicesOfChangedNode({ type, object, previous }: Change<Node>, caches: Caches): readonly Key[] {
  const isSameInstance =
    previous && isBalanced(previous) === isBalanced(object) && previous.spec?.providerID === object.spec?.providerID;
  if (type === 'updated' && isSameInstance) return [];
  return caches.of(service).byIndex(balanced, 'yes').map(keyOf);
}
