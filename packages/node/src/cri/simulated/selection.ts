/** Which sandboxes and containers a filter asks for. */
import type { ContainerStatsFilter, StringMap } from '../messages.ts';
import type { SimulatedContainer } from './container.ts';

/** By all that the filter says. */
export function selectsContainer(
  { id, podSandboxId, labelSelector }: ContainerStatsFilter,
  { id: own, sandbox, config }: SimulatedContainer,
): boolean {
  return matchesId(id, own) && matchesId(podSandboxId, sandbox.id) && matchesLabels(labelSelector, config.labels);
}

/** By id or the beginning of one; an empty one asks for all. */
export function matchesId(wanted: string | undefined, id: string): boolean {
  return wanted === undefined || wanted === '' || id.startsWith(wanted);
}

/** Equal in every label asked for. */
export function matchesLabels(selector: StringMap | undefined, labels: StringMap | undefined): boolean {
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}
