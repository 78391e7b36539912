import { pod } from '@kruise/api/core/pod';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import type { Client } from '@kruise/client/client';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { createScaleTargets, type ScaleTargets } from '@kruise/client/scale-targets';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { knownWorkloads } from './association.ts';
import { decide, type Observed } from './decide.ts';
import { budgetsOfPod, budgetsOfWorkload } from './mappers.ts';
import { type Found, readWorkload } from './uncached-workloads.ts';
import { podsOfUncachedWorkload, protectedBy, type UncachedWorkload } from './workloads.ts';

type CachedState = Observed & {
  readonly strangers: readonly UncachedWorkload[];
  readonly podsOfUncachedWorkload: (found: Found) => Observed['pods'];
};

export function podUnavailableBudgetController(settings: ManagerSettings): Controller {
  const { gates } = settings;
  const targets = createScaleTargets();
  return defineController({
    ...workSettings(settings, 'podunavailablebudget'),
    for: podUnavailableBudget,
    watches: [watch(pod, budgetsOfPod(gates)), ...knownWorkloads.map((kind) => watch(kind, budgetsOfWorkload))],
    observe(caches, key): CachedState | undefined {
      const budget = caches.of(podUnavailableBudget).get(key);
      if (!budget) return undefined;
      const { namespace = '' } = budget.metadata;
      const found = protectedBy(budget, caches);
      return {
        budget,
        ...found,
        hasUncachedWorkloads: found.strangers.length > 0,
        podsOfUncachedWorkload: (workload) => podsOfUncachedWorkload(caches, namespace, workload),
      };
    },
    fetch: (cached, client, signal) => readUncachedWorkloads(cached, targets, client, signal),
    decide: (observed, now) => decide(observed, gates, now),
  });
}

/** Adds the workloads that are not cached, with live reads. */
async function readUncachedWorkloads(
  cached: CachedState,
  targets: ScaleTargets,
  client: Client,
  signal: AbortSignal,
): Promise<CachedState> {
  const { budget, strangers } = cached;
  const { namespace = '' } = budget.metadata;
  let { pods, replicas } = cached;
  for (const workload of strangers) {
    const found = await readWorkload(targets, client, workload, namespace, signal);
    if (!found || found.replicas === 0) continue;
    if (budget.spec.targetRef) {
      pods = cached.podsOfUncachedWorkload(found);
      ({ replicas } = found);
    } else {
      // A workload without a known number of replicas does not count.
      replicas += Math.max(0, found.replicas);
    }
  }
  return { ...cached, pods, replicas };
}
