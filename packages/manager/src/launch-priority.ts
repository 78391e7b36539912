/** In which order the containers of a Pod are started (pod-admission.md §4), and updated. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { launchBarrierEnv } from '@kruise/api/kruise/well-known';

const prefix = 'p_';

/** The ConfigMap whose keys let the containers of a Pod start. */
export function barrierName({ metadata }: Pod): string {
  return `${metadata.name}-barrier`;
}

/** The key that containers of a priority wait for. */
export function barrierKey(priority: number): string {
  return `${prefix}${priority}`;
}

/** The launch priority of a container; none if it has no barrier to wait at. */
export function launchPriorityOf({ env = [] }: Container): number | undefined {
  const barrier = env.find(({ name }) => name === launchBarrierEnv);
  if (!barrier) return undefined;
  const text = barrier.valueFrom?.configMapKeyRef?.key?.slice(prefix.length) ?? '';
  return /^[-+]?\d+$/.test(text) ? Number(text) : 0;
}
