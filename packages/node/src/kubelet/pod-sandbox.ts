/** What has to be there before a Pod's containers can start: its sandbox, and what its images are pulled with. */
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import type { PodSandboxConfig } from '../cri/messages.ts';
import type { NodeContext } from './node-context.ts';
import { rpcTextOf } from './runtime-error.ts';
import { logDirectoryOf, sandboxConfigOf } from './sandbox-config.ts';

/**
 * Returns the configuration of a Pod's sandbox, with a user namespace if the Pod requests one. Undefined if it cannot
 * have one, which is recorded: a Pod that requested its own users must not run with the node's.
 */
export async function configureSandbox(
  node: NodeContext,
  pod: Pod,
  attempt: number,
): Promise<PodSandboxConfig | undefined> {
  if (pod.spec?.hostUsers !== false) return sandboxConfigOf(pod, attempt, node.settings);
  try {
    const userNamespace = await node.userNamespaces.get(pod, await runtimeHandlerOf(node, pod));
    return sandboxConfigOf(pod, attempt, node.settings, userNamespace);
  } catch (error) {
    recordFailure(node, pod, error);
    return undefined;
  }
}

function recordFailure(node: NodeContext, pod: Pod, error: unknown): void {
  node.record(pod, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${rpcTextOf(error)}`);
}

/** Makes a sandbox; undefined if that cannot be, which is told. */
export async function createSandbox(
  node: NodeContext,
  pod: Pod,
  config: PodSandboxConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { runtime, metrics } = node;
  metrics.podStarts();
  try {
    const handler = await runtimeHandlerOf(node, pod);
    await runtime.files.makeDirectory(logDirectoryOf(pod, node.settings), { mode: 0o755 });
    const request = { config, ...(handler === '' ? {} : { runtimeHandler: handler }) };
    return (await runtime.runPodSandbox(request, { signal })).podSandboxId;
  } catch (error) {
    signal.throwIfAborted();
    metrics.podStartFailed();
    recordFailure(node, pod, error);
    return undefined;
  }
}

async function runtimeHandlerOf({ sources }: NodeContext, { spec }: Pod): Promise<string> {
  const name = spec?.runtimeClassName;
  if (!name) return '';
  const found = await sources.runtimeClass(name);
  if (!found) throw new Error(`runtimeclass.node.k8s.io ${JSON.stringify(name)} not found`);
  return found.handler ?? '';
}

/** The Secrets a Pod's images are pulled with. Those that are missing are told, and done without. */
export async function pullSecretsOf({ sources, record }: NodeContext, pod: Pod): Promise<readonly Secret[]> {
  const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name }) => (name ? [name] : []));
  if (names.length === 0) return [];
  const { namespace = '' } = pod.metadata;
  const found = await Promise.all(names.map((name) => sources.secret(namespace, name)));
  const missing = names.filter((_, index) => !found[index]);
  if (missing.length > 0) {
    const which = `Unable to retrieve some image pull secrets (${missing.join(', ')})`;
    const message = `${which}; attempting to pull the image may not succeed.`;
    record(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message);
  }
  return found.filter((each) => each !== undefined);
}
