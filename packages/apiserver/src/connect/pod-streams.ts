import type { Pod } from '@kruise/api/core/pod';
import type { PodAttachOptions, PodExecOptions } from '@kruise/api/core/pod-options';
import { badRequest } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { admitConnect } from '../handlers/admit.ts';
import type { Exchange } from '../http/exchange.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Backend } from './backend.ts';
import { needsTranslation, translateCommand } from './command.ts';
import { passUpgrade, upgradeHeaders } from './forward.ts';
import type { NodeConnector } from './node-connector.ts';
import { attachOptions, execOptions, portForwardOptions } from './pod-options.ts';
import { containerOf, nodeOf, podOf } from './target.ts';
import { needsTunnel, tunnel } from './tunnel.ts';

/** Common parts of the streaming Pod subresources. */
export type PodConversation = {
  readonly core: Core;
  readonly connector: NodeConnector;
  readonly pods: Resource;
  readonly context: RequestContext;
  readonly exchange: Exchange;
};

/** Serves the exec subresource: runs a command in a container. */
export async function exec(conversation: PodConversation): Promise<void> {
  const options = execOptions(conversation.context.query);
  const command = (options.command ?? []).map((each): [string, string] => ['command', each]);
  await converse(conversation, 'exec', options, command);
}

/** Serves the attach subresource: attaches to the main process of a container. */
export async function attach(conversation: PodConversation): Promise<void> {
  await converse(conversation, 'attach', attachOptions(conversation.context.query), []);
}

async function converse(
  conversation: PodConversation,
  action: 'exec' | 'attach',
  options: PodExecOptions | PodAttachOptions,
  command: [string, string][],
): Promise<void> {
  const { core, exchange } = conversation;
  await admit(conversation, options);
  const pod = await podOf(core, conversation.context);
  const container = containerOf(pod, options.container);
  const kubelet = await kubeletOf(conversation, pod);
  const { stdin = false, stdout = false, stderr = false, tty = false } = options;
  const query = new URLSearchParams(command);
  for (const [name, wanted] of Object.entries({ error: stderr, input: stdin, output: stdout, tty })) {
    if (wanted) query.set(name, '1');
  }
  const path = `/${action}/${pod.metadata?.namespace}/${pod.metadata?.name}/${container}?${query}`;
  if (needsTranslation(exchange)) {
    // A terminal has a single output stream.
    const streams = { stdin, stdout, stderr: stderr && !tty, tty };
    return translateCommand(exchange, core.clock, kubelet, { path, streams });
  }
  await pass(conversation, kubelet, path);
}

/** Serves the portforward subresource. */
export async function portForward(conversation: PodConversation): Promise<void> {
  const { core, context, exchange } = conversation;
  const options = portForwardOptions(context.query);
  await admit(conversation, options);
  const pod = await podOf(core, context);
  const kubelet = await kubeletOf(conversation, pod);
  const query = options.ports ? `?port=${options.ports.join('%2C')}` : '';
  const path = `/portForward/${pod.metadata?.namespace}/${pod.metadata?.name}${query}`;
  if (needsTunnel(exchange)) return tunnel(exchange, kubelet, path);
  await pass(conversation, kubelet, path);
}

async function admit({ core, context, pods }: PodConversation, options: { readonly kind?: string }): Promise<void> {
  const kind = { group: '', version: 'v1', kind: options.kind! };
  await admitConnect(core, context, pods, kind, options as KubeObject);
}

async function kubeletOf({ core, connector }: PodConversation, { metadata, spec }: Pod): Promise<Backend> {
  if (!spec?.nodeName) throw badRequest(`pod ${metadata?.name} does not have a host assigned`);
  return connector.kubelet(await nodeOf(core, spec.nodeName));
}

function pass({ exchange }: PodConversation, kubelet: Backend, path: string): Promise<void> {
  return passUpgrade(exchange, kubelet, { method: exchange.method, path, headers: upgradeHeaders(exchange) });
}
