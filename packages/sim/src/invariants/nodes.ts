import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { podRequests } from '@kruise/machinery/pod-resources';
import { isPodFinished, isPodReady } from '@kruise/machinery/pods';
import { milliValue, parseQuantity } from '@kruise/values/quantity';
import { type Invariant, invariant } from './invariant.ts';

const cpuRequests = new WeakMap<Pod, number>();

/** Returns the CPU request of a Pod in millicores. Memoized, because the computation is expensive. */
function cpuRequestOf(found: Pod): number {
  let cpu = cpuRequests.get(found);
  if (cpu === undefined) {
    const asked = podRequests(found.spec!).get('cpu');
    cpu = asked ? milliValue(asked) : 0;
    cpuRequests.set(found, cpu);
  }
  return cpu;
}

export const nodesAreNotOvercommitted = invariant(
  'the CPU requests on a node do not exceed its allocatable CPU',
  (view) => {
    const asked = new Map<string, number>();
    for (const each of view.list(pod)) {
      const name = each.spec?.nodeName;
      if (!name || isPodFinished(each)) continue;
      asked.set(name, (asked.get(name) ?? 0) + cpuRequestOf(each));
    }
    for (const { metadata, status } of view.list(node)) {
      const has = milliValue(parseQuantity(status?.allocatable?.['cpu'] ?? '0'));
      const wanted = asked.get(metadata.name ?? '') ?? 0;
      if (has > 0 && wanted > has) return `${metadata.name} has ${has}m allocatable and ${wanted}m requested`;
    }
    return undefined;
  },
);

export const readyPodsHaveRun: Invariant = {
  name: 'a ready Pod has run',
  observe:
    ({ machines }) =>
    (view) => {
      for (const each of view.list(pod)) {
        if (isPodReady(each) && !machines.hasRun(each.metadata.uid ?? '')) return each.metadata.name;
      }
      return undefined;
    },
};
