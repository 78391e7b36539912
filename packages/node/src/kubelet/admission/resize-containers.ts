/** In-place resize of running containers. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { podLimits } from '@kruise/machinery/pod-resources';
import { parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { RuntimeService } from '../../cri/runtime.ts';
import { findContainer } from '../containers/containers.ts';
import { type ContainerLimitSettings, resizableResources } from '../containers/linux-resources.ts';
import type { RuntimeContainer } from '../runtime/runtime-pod.ts';
import type { Allocations } from './allocations.ts';

/** Dependencies of a resize. */
export type ResizeContext = {
  readonly runtime: Pick<RuntimeService, 'updateContainerResources' | 'podSandboxStats'>;
  readonly allocations: Pick<Allocations, 'actuate'>;
  readonly settings: ContainerLimitSettings;
};

type Resized = { readonly container: Container; readonly target: RuntimeContainer };

/**
 * Updates the resources of containers in the runtime. Throws at the first failure and leaves the remaining containers
 * unchanged.
 */
export async function resizeContainers(
  { runtime, allocations, settings }: ResizeContext,
  pod: Pod,
  targets: readonly RuntimeContainer[],
): Promise<void> {
  const resized = targets.flatMap((target): Resized[] => {
    const container = findContainer(pod, target.name)?.container;
    return container ? [{ container, target }] : [];
  });
  const [first] = resized;
  if (!first) return;
  if (resized.some(({ container, target }) => memoryOf(container) !== target.resources?.memoryLimitBytes)) {
    await checkMemory(runtime, pod, first.target.sandboxId);
  }
  // Shrinks containers first, so that the growing ones find the freed memory.
  for (const { container, target } of resized.toSorted((a, b) => growth(a) - growth(b))) {
    const linux = resizableResources(container.resources ?? undefined, settings);
    await runtime.updateContainerResources({ containerId: target.id, linux });
    allocations.actuate(pod.metadata.uid ?? '', container);
  }
}

function memoryOf({ resources }: Container): number | undefined {
  const limit = resources?.limits?.memory;
  return limit === undefined ? undefined : quantityValue(parseQuantity(limit)) || undefined;
}

function growth({ container, target }: Resized): number {
  return (memoryOf(container) ?? 0) - (target.resources?.memoryLimitBytes ?? 0);
}

/** A Pod whose memory limit is set below its usage would be OOM-killed. */
async function checkMemory(
  runtime: ResizeContext['runtime'],
  { metadata, spec }: Pod,
  podSandboxId: string,
): Promise<void> {
  const isLimited = spec?.containers.every(({ resources }) => resources?.limits?.memory !== undefined);
  const limit = spec && podLimits(spec).get('memory');
  if (!isLimited || !limit) return;
  const { stats } = await runtime.podSandboxStats({ podSandboxId });
  if ((stats.linux?.memory?.usageBytes ?? 0) < quantityValue(limit)) return;
  throw new Error(`aborting attempt to set pod memory limit less than current memory usage for pod ${metadata.name}`);
}
