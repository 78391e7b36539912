/** Clears away what runs of a Pod that nobody knows any more. */
import type { RuntimeService } from '../cri/runtime.ts';

/** What nobody asks for is given no more time than it takes to hear that it is to end. */
const graceSeconds = 2;

/** Ends all that runs in a sandbox, and removes it. */
export async function removeSandbox(runtime: RuntimeService, podSandboxId: string, signal: AbortSignal): Promise<void> {
  const { containers } = await runtime.listContainers(
    { filter: { podSandboxId, state: 'CONTAINER_RUNNING' } },
    { signal },
  );
  await Promise.all(
    containers.map(({ id }) => runtime.stopContainer({ containerId: id, timeout: graceSeconds }, { signal })),
  );
  await runtime.stopPodSandbox({ podSandboxId }, { signal });
  await runtime.removePodSandbox({ podSandboxId }, { signal });
}
