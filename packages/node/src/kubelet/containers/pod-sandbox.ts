/** Pod sandboxes and image pull secrets. */
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import type { PodSandboxConfig } from '../../cri/messages.ts';
import type { NodeContext } from '../node/node-context.ts';
import { rpcTextOf } from '../runtime/runtime-error.ts';
import { logDirectoryOf, sandboxConfigOf } from './sandbox-config.ts';

/**
 * Returns the sandbox configuration of a Pod, with a user namespace if the Pod requests one. Returns undefined and
 * records an event if the user namespace is not available: a Pod with `hostUsers: false` must not run as the node's
 * users.
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

/** Creates a sandbox; returns undefined and records an event on failure. */
export async function createSandbox(
  node: NodeContext,
  pod: Pod,
  config: PodSandboxConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { runtime, metrics } = node;
  metrics.countPodStart();
  try {
    const handler = await runtimeHandlerOf(node, pod);
    await runtime.files.makeDirectory(logDirectoryOf(pod, node.settings), { mode: 0o755 });
    const request = { config, ...(handler === '' ? {} : { runtimeHandler: handler }) };
    return (await runtime.runPodSandbox(request, { signal })).podSandboxId;
  } catch (error) {
    signal.throwIfAborted();
    metrics.countPodStartFailure();
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

/** Returns the image pull secrets of a Pod. Missing Secrets are recorded and skipped. */
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
