import type { Readable } from 'node:stream';
import type { PodLogOptions } from '@kruise/api/core/pod-options';
import { isWebSocket, UpgradeRejectedError } from '@kruise/client/streaming/upgrade';
import { type AcceptedWebSocket, acceptWebSocket } from '@kruise/client/streaming/websocket';
import { badRequest, failure, internalError, StatusError, unclassified } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Headers, HttpRequest } from '../http/http-request.ts';
import type { BackendResponse } from './backend.ts';
import { copyTo } from './copy.ts';
import { takeUpgrade } from './forward.ts';
import type { NodeConnector } from './node-connector.ts';
import { logOptions } from './pod-options.ts';
import { containerOf, nodeOf, podOf } from './target.ts';

/** Serves the log subresource: streams the log of a container. */
export async function log(
  core: Core,
  connector: NodeConnector,
  context: RequestContext,
  httpRequest: HttpRequest,
  headers: Headers,
): Promise<void> {
  const { name, namespace } = context.info;
  const options = logOptions(context.query, name);
  const pod = await podOf(core, context);
  const container = containerOf(pod, options.container);
  const nodeName = pod.spec?.nodeName;
  if (!nodeName) {
    httpRequest.begin(204, headers).end();
    return;
  }
  const unchecked = options.insecureSkipTLSVerifyBackend ?? false;
  const kubelet = connector.kubelet(await nodeOf(core, nodeName), { unchecked });
  const query = kubeletQuery(options);
  const path = `/containerLogs/${namespace}/${name}/${container}${query === '' ? '' : `?${query}`}`;
  const { signal } = httpRequest;
  const answer = await kubelet.send({ method: 'GET', path, headers: {}, signal }).catch((error: Error) => {
    throw unclassified(`Get "${kubelet.url}${path}": ${error.message}`);
  });
  if (answer.code < 200 || answer.code > 206) throw await toKubeletError(answer, name);
  if (httpRequest.upgrade && isWebSocket(httpRequest.headers)) return overWebSocket(httpRequest, answer.body);
  await copyTo(httpRequest.begin(200, { ...headers, 'content-type': 'text/plain' }), answer.body, signal);
}

/** Returns the options as a kubelet query, sorted by name. */
function kubeletQuery(options: PodLogOptions): string {
  const query = new URLSearchParams();
  for (const name of [
    'follow',
    'limitBytes',
    'previous',
    'sinceSeconds',
    'sinceTime',
    'tailLines',
    'timestamps',
  ] as const) {
    const value = options[name];
    if (value != null) query.set(name, String(value));
  }
  return query.toString();
}

const maxRefusalBytes = 50_000;

/** Reason and message of each status code that a kubelet may return. */
const statusMessages: { readonly [code: number]: { readonly reason: string; readonly message: string } } = {
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
};

async function toKubeletError({ code, body }: BackendResponse, name: string): Promise<StatusError> {
  const text = await textOf(body);
  if (code === 500) return internalError(text);
  if (code === 400) return badRequest(text);
  const { reason, message } = statusMessages[code] ?? toStatusError(code, text);
  return new StatusError(
    failure({ code, reason, message: `${message} ( pods/log ${name})`, details: { name, kind: 'pods/log' } }),
  );
}

function toStatusError(code: number, text: string): { readonly reason: string; readonly message: string } {
  if (code === 403) return { reason: 'Forbidden', message: text };
  if (code > 500) {
    const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
    return { reason: 'InternalError', message };
  }
  return {
    reason: '',
    message: `the server responded with the status code ${code} but did not return more information`,
  };
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxRefusalBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxRefusalBytes).toString();
}

/** Serves logs over WebSocket, for browsers: each message is a piece of the log. */
async function overWebSocket(httpRequest: HttpRequest, body: Readable): Promise<void> {
  let accepted: AcceptedWebSocket;
  try {
    accepted = await acceptWebSocket(takeUpgrade(httpRequest), ['', 'binary.k8s.io', 'base64.binary.k8s.io']);
  } catch (error) {
    body.destroy();
    if (error instanceof UpgradeRejectedError) return;
    throw error;
  }
  const { socket, protocol } = accepted;
  const encoded = protocol.startsWith('base64');
  const send = (chunk: Buffer) =>
    new Promise<void>((resolve, reject) => {
      socket.send(encoded ? chunk.toString('base64') : chunk, (error) => (error ? reject(error) : resolve()));
    });
  socket.on('error', () => {});
  socket.once('close', () => body.destroy());
  try {
    // The first message signals that the connection is open.
    await send(Buffer.alloc(0));
    for await (const chunk of body as AsyncIterable<Buffer>) await send(chunk);
  } catch {
    // One side has disconnected, so there is no client to report an error to.
  } finally {
    socket.close(1000);
  }
}
