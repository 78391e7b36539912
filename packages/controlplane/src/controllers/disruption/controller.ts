import { type Pod, pod } from '@kruise/api/core/pod';
import { type PodDisruptionBudget, podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { createScaleTargets } from '@kruise/client/scale-targets';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodReady } from '@kruise/machinery/pods';
import { memoizeByObject } from '@kruise/values/memoize';
import { podsMatching } from '@kruise/workload-kit/pod-indexes';
import { decide, dependsOnWorkloads } from './decide.ts';
import { staleDisruptionController } from './stale-target.ts';
import { allWorkloads, knownWorkloads, workloadKinds } from './workloads.ts';

const none = { found: new Map() };

/** Disruption controllers: maintain the status of PodDisruptionBudgets, which the eviction subresource checks. */
export function disruptionControllers(): readonly Controller[] {
  const targets = createScaleTargets();
  const budgets = defineController({
    name: 'disruption',
    component: 'controllermanager',
    for: podDisruptionBudget,
    watches: [watch(pod, budgetsOf)],
    uses: workloadKinds,
    observe(caches, key) {
      const budget = caches.of(podDisruptionBudget).get(key);
      if (!budget) return undefined;
      const pods = podsMatching(caches, budget.metadata.namespace ?? '', selectorOfBudget(budget));
      return { budget, pods, workloads: dependsOnWorkloads(budget) ? knownWorkloads(caches, pods) : none };
    },
    async fetch(observed, client, signal) {
      const { budget, pods, workloads } = observed;
      if (!dependsOnWorkloads(budget)) return observed;
      return { ...observed, workloads: await allWorkloads(targets, client, pods, workloads, signal) };
    },
    decide,
  });
  return [budgets, staleDisruptionController];
}

const selectorOfBudget = memoizeByObject(({ spec }: PodDisruptionBudget) => selectorOf(spec?.selector));

/** Returns the budgets that select the Pod, before or after the change. */
function budgetsOf({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  if (type === 'updated' && previous && !countsDifferently(previous, object)) return [];
  const candidates = caches.of(podDisruptionBudget).list({ namespace: object.metadata.namespace ?? '' });
  return candidates
    .filter((budget) => {
      const { matches } = selectorOfBudget(budget);
      return matches(object.metadata.labels) || (previous && matches(previous.metadata.labels));
    })
    .map(keyOf);
}

function countsDifferently(previous: Pod, current: Pod): boolean {
  return (
    isPodReady(previous) !== isPodReady(current) ||
    previous.metadata.deletionTimestamp !== current.metadata.deletionTimestamp ||
    !isSame(previous.metadata.labels, current.metadata.labels) ||
    !isSame(previous.metadata.ownerReferences, current.metadata.ownerReferences)
  );
}
