import { type Node, node } from '@kruise/api/core/node';
import { type ControllerContext, type Runnable, whenSynced } from '@kruise/client/controller';
import { isNotFound } from '@kruise/machinery/status';
import { parseLegacyPrefix } from '@kruise/values/address';
import { after } from '@kruise/values/clock';
import { errorText } from '@kruise/values/error-text';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import { formatTime } from '@kruise/values/time';
import type { Routes } from '../provider.ts';
import { networkCondition, planRoutes } from './decide.ts';

const periodSeconds = 10;
const maxConcurrentCalls = 20;

/** Route controller: creates a route to the Pod CIDRs of each node and deletes obsolete routes. */
export function routeController(routes: Routes, clusterRanges: readonly string[]): Runnable {
  const ranges = clusterRanges.map(parseLegacyPrefix);
  const sources = { watches: [], uses: [node] };

  async function reconcile(context: ControllerContext, signal: AbortSignal): Promise<void> {
    const { log, record, caches, clock } = context;
    const present = await routes.list(signal);
    const nodes = caches.of(node).list();
    const plan = planRoutes(nodes, present, ranges);
    await mapConcurrently(plan.remove, maxConcurrentCalls, (route) =>
      routes.remove(route, signal).catch((error) => log.warn({ route: route.name, error }, 'failed to delete route')),
    );
    const nodesWithoutRoute = new Set<Node>();
    await mapConcurrently(plan.create, maxConcurrentCalls, async ({ node: target, destination }) => {
      const { name = '', uid = '' } = target.metadata;
      const startedAt = clock.now();
      try {
        const targetAddresses = target.status?.addresses ?? [];
        await routes.create(uid, { targetNode: name, targetAddresses, destination }, signal);
      } catch (error) {
        nodesWithoutRoute.add(target);
        const elapsed = `${clock.now() - startedAt}ms`;
        const message = `Could not create route ${uid} ${destination} for node ${name} after ${elapsed}: ${errorText(error)}`;
        record({ about: target, type: 'Warning', reason: 'FailedToCreateRoute', message });
      }
    });
    await mapConcurrently(nodes, maxConcurrentCalls, async (each) => {
      if (each.spec?.podCIDRs?.length) await updateNodeCondition(context, each, !nodesWithoutRoute.has(each));
    });
  }

  return {
    name: 'route',
    component: 'route_controller',
    ...sources,
    async run(context, signal) {
      const { clock, caches, log } = context;
      await whenSynced(sources, caches, signal);
      while (!signal.aborted) {
        await reconcile(context, signal).catch((error) => {
          if (!signal.aborted) log.warn({ error }, 'failed to reconcile routes');
        });
        await after(clock, periodSeconds * 1000, signal).catch(() => {});
      }
    },
  };
}

async function updateNodeCondition(
  { client, clock }: ControllerContext,
  about: Node,
  hasRoutes: boolean,
): Promise<void> {
  const condition = networkCondition(about, hasRoutes);
  if (!condition) return;
  const time = formatTime(clock.now());
  const updated = { ...condition, lastHeartbeatTime: time, lastTransitionTime: time };
  try {
    await client.patch(
      node,
      { name: about.metadata.name ?? '' },
      { status: { conditions: [updated] } },
      {
        type: 'strategic',
        subresource: 'status',
        fieldManager: 'cloud-controller-manager',
      },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
