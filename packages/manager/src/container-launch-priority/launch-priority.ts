/** Launch order of the containers of a Pod, which is also the order of their in-place updates. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { launchBarrierEnv } from '@kruise/api/kruise/well-known';

const prefix = 'p_';

/** Returns the name of the ConfigMap whose keys let the containers of a Pod start. */
export function barrierName({ metadata }: Pod): string {
  return `${metadata.name}-barrier`;
}

/** Returns the key that containers of a priority wait for. */
export function barrierKey(priority: number): string {
  return `${prefix}${priority}`;
}

/** Returns the launch priority of a container; undefined if it has no barrier. */
export function launchPriorityOf({ env = [] }: Container): number | undefined {
  const barrier = env.find(({ name }) => name === launchBarrierEnv);
  if (!barrier) return undefined;
  const text = barrier.valueFrom?.configMapKeyRef?.key?.slice(prefix.length) ?? '';
  return /^[-+]?\d+$/.test(text) ? Number(text) : 0;
}
