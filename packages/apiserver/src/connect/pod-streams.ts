import type { Pod } from '@kruise/api/core/pod';
import type { PodAttachOptions, PodExecOptions } from '@kruise/api/core/pod-options';
import { badRequest } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { admitConnect } from '../handlers/admit.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Backend } from './backend.ts';
import { needsTranslation, translateCommand } from './command.ts';
import { forwardUpgrade, upgradeHeaders } from './forward.ts';
import type { NodeConnector } from './node-connector.ts';
import { attachOptions, execOptions, portForwardOptions } from './pod-options.ts';
import { containerOf, nodeOf, podOf } from './target.ts';
import { needsTunnel, tunnel } from './tunnel.ts';

/** Common parts of the streaming Pod subresources. */
export type PodStreamRequest = {
  readonly core: Core;
  readonly connector: NodeConnector;
  readonly pods: Resource;
  readonly context: RequestContext;
  readonly httpRequest: HttpRequest;
};

/** Serves the exec subresource: runs a command in a container. */
export async function exec(streamRequest: PodStreamRequest): Promise<void> {
  const options = execOptions(streamRequest.context.query);
  const command = (options.command ?? []).map((each): [string, string] => ['command', each]);
  await converse(streamRequest, 'exec', options, command);
}

/** Serves the attach subresource: attaches to the main process of a container. */
export async function attach(streamRequest: PodStreamRequest): Promise<void> {
  await converse(streamRequest, 'attach', attachOptions(streamRequest.context.query), []);
}

async function converse(
  streamRequest: PodStreamRequest,
  action: 'exec' | 'attach',
  options: PodExecOptions | PodAttachOptions,
  command: [string, string][],
): Promise<void> {
  const { core, httpRequest } = streamRequest;
  await admit(streamRequest, options);
  const pod = await podOf(core, streamRequest.context);
  const container = containerOf(pod, options.container);
  const kubelet = await kubeletOf(streamRequest, pod);
  const { stdin = false, stdout = false, stderr = false, tty = false } = options;
  const query = new URLSearchParams(command);
  for (const [name, wanted] of Object.entries({ error: stderr, input: stdin, output: stdout, tty })) {
    if (wanted) query.set(name, '1');
  }
  const path = `/${action}/${pod.metadata?.namespace}/${pod.metadata?.name}/${container}?${query}`;
  if (needsTranslation(httpRequest)) {
    // A terminal has a single output stream.
    const streams = { stdin, stdout, stderr: stderr && !tty, tty };
    return translateCommand(httpRequest, core.clock, kubelet, { path, streams });
  }
  await pass(streamRequest, kubelet, path);
}

/** Serves the portforward subresource. */
export async function portForward(streamRequest: PodStreamRequest): Promise<void> {
  const { core, context, httpRequest } = streamRequest;
  const options = portForwardOptions(context.query);
  await admit(streamRequest, options);
  const pod = await podOf(core, context);
  const kubelet = await kubeletOf(streamRequest, pod);
  const query = options.ports ? `?port=${options.ports.join('%2C')}` : '';
  const path = `/portForward/${pod.metadata?.namespace}/${pod.metadata?.name}${query}`;
  if (needsTunnel(httpRequest)) return tunnel(httpRequest, kubelet, path);
  await pass(streamRequest, kubelet, path);
}

async function admit({ core, context, pods }: PodStreamRequest, options: { readonly kind?: string }): Promise<void> {
  const kind = { group: '', version: 'v1', kind: options.kind! };
  await admitConnect(core, context, pods, kind, options as KubeObject);
}

async function kubeletOf({ core, connector }: PodStreamRequest, { metadata, spec }: Pod): Promise<Backend> {
  if (!spec?.nodeName) throw badRequest(`pod ${metadata?.name} does not have a host assigned`);
  return connector.kubelet(await nodeOf(core, spec.nodeName));
}

function pass({ httpRequest }: PodStreamRequest, kubelet: Backend, path: string): Promise<void> {
  return forwardUpgrade(httpRequest, kubelet, {
    method: httpRequest.method,
    path,
    headers: upgradeHeaders(httpRequest),
  });
}
