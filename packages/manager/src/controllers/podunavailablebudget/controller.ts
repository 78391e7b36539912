import { pod } from '@kruise/api/core/pod';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import type { Client } from '@kruise/client/client';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { createScaleTargets, type ScaleTargets } from '@kruise/client/scale-targets';
import { knownWorkloads } from '../../budget/association.ts';
import { type ManagerSettings, workSettings } from '../../settings.ts';
import { decide, type Observed } from './decide.ts';
import { askFor, type Found } from './strangers.ts';
import { budgetsOfPod, budgetsOfWorkload } from './wake.ts';
import { podsOfStranger, protectedBy, type Stranger } from './workloads.ts';

type Seen = Observed & {
  readonly strangers: readonly Stranger[];
  readonly podsOfStranger: (found: Found) => Observed['pods'];
};

export function podUnavailableBudgetController(settings: ManagerSettings): Controller {
  const { gates } = settings;
  const targets = createScaleTargets();
  return defineController({
    ...workSettings(settings, 'podunavailablebudget'),
    for: podUnavailableBudget,
    watches: [watch(pod, budgetsOfPod(gates)), ...knownWorkloads.map((kind) => watch(kind, budgetsOfWorkload))],
    observe(caches, key): Seen | undefined {
      const budget = caches.of(podUnavailableBudget).get(key);
      if (!budget) return undefined;
      const { namespace = '' } = budget.metadata;
      const found = protectedBy(budget, caches);
      return {
        budget,
        ...found,
        hasStrangers: found.strangers.length > 0,
        podsOfStranger: (stranger) => podsOfStranger(caches, namespace, stranger),
      };
    },
    fetch: (seen, client, signal) => withStrangers(seen, targets, client, signal),
    decide: (observed, now) => decide(observed, gates, now),
  });
}

/** Adds the workloads that are not cached, with live reads. */
async function withStrangers(seen: Seen, targets: ScaleTargets, client: Client, signal: AbortSignal): Promise<Seen> {
  const { budget, strangers } = seen;
  const { namespace = '' } = budget.metadata;
  let { pods, replicas } = seen;
  for (const stranger of strangers) {
    const found = await askFor(targets, client, stranger, namespace, signal);
    if (!found || found.replicas === 0) continue;
    if (budget.spec.targetRef) {
      pods = seen.podsOfStranger(found);
      ({ replicas } = found);
    } else {
      // A workload without a known number of replicas does not count.
      replicas += Math.max(0, found.replicas);
    }
  }
  return { ...seen, pods, replicas };
}
