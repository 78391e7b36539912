import { pipeline } from 'node:stream/promises';
import type { Status } from '@kruise/api/meta/status';
import {
  acceptRemoteCommand,
  type CommandStreams,
  closableCommandProtocol,
  openRemoteCommand,
  type RunningCommand,
  spdyCommandProtocols,
} from '@kruise/client/streaming/remote-command';
import { isWebSocket, parseHeaderList, UpgradeRejectedError } from '@kruise/client/streaming/upgrade';
import { internalError, StatusError } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import type { HttpRequest } from '../http/http-request.ts';
import { type Backend, hasSwitched } from './backend.ts';
import { takeUpgrade } from './forward.ts';

/** Reports whether the client speaks the WebSocket protocol v5, which kubelets do not. */
export function needsTranslation({ headers }: HttpRequest): boolean {
  return isWebSocket(headers) && parseHeaderList(headers['sec-websocket-protocol']).includes(closableCommandProtocol);
}

/**
 * Translates a command stream between a client with the newest WebSocket protocol and a kubelet with SPDY. The
 * WebSocket is open before the kubelet is called, so errors are sent on the error channel.
 */
export async function translateCommand(
  httpRequest: HttpRequest,
  clock: Clock,
  backend: Backend,
  { path, streams }: { readonly path: string; readonly streams: CommandStreams },
): Promise<void> {
  let client: Awaited<ReturnType<typeof acceptRemoteCommand>>;
  try {
    client = await acceptRemoteCommand(takeUpgrade(httpRequest), clock, streams, [closableCommandProtocol]);
  } catch (error) {
    if (error instanceof UpgradeRejectedError) return;
    throw error;
  }
  const signal = AbortSignal.any([httpRequest.signal, client.signal]);
  let command: RunningCommand | undefined;
  try {
    command = await openCommand(backend, clock, { path, streams, signal });
    signal.throwIfAborted();
    const { stdin, stdout, stderr, status } = command;
    signal.addEventListener('abort', command.close, { once: true });
    client.onResize(command.resize);
    // Input after the end of the command is discarded without an error.
    if (stdin && client.stdin) pipeline(client.stdin, stdin, { signal }).catch(() => {});
    const outputs = [
      stdout && client.stdout ? pipeline(stdout, client.stdout, { end: false, signal }) : undefined,
      stderr && client.stderr ? pipeline(stderr, client.stderr, { end: false, signal }) : undefined,
    ];
    const [ended] = await Promise.all([status, ...outputs]);
    client.end(toClientStatus(ended));
  } catch (error) {
    const failure = error instanceof StatusError ? error : internalError((error as Error).message);
    client.end(withoutType(failure.status));
  } finally {
    command?.close();
  }
}

/** Opens a command stream to a kubelet over SPDY. */
async function openCommand(
  backend: Backend,
  clock: Clock,
  { path, streams, signal }: { readonly path: string; readonly streams: CommandStreams; readonly signal: AbortSignal },
): Promise<RunningCommand> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': [...spdyCommandProtocols],
  };
  const answer = await backend.upgrade({ method: 'POST', path, headers, signal }).catch((error: Error) => {
    throw new Error(`error sending request: Post "${backend.url}${path}": ${error.message}`, { cause: error });
  });
  if (!hasSwitched(answer)) throw await toKubeletError(answer.body);
  // A kubelet that selects no protocol speaks the first version.
  const protocol = String(answer.headers['x-stream-protocol-version'] ?? 'channel.k8s.io');
  return openRemoteCommand(answer.socket, clock, { protocol, head: answer.head, streams });
}

const maxRefusalBytes = 64 * 1024;

async function toKubeletError(body: AsyncIterable<Buffer>): Promise<Error> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxRefusalBytes) break;
  }
  const text = Buffer.concat(chunks).toString().trim();
  try {
    const status = JSON.parse(text) as Status & { readonly kind?: string };
    if (status.kind === 'Status') return new StatusError(status);
  } catch {
    // Kubelets return errors as plain text.
  }
  return new Error(`unable to upgrade connection: ${text}`);
}

/** Returns the exit status of a command as sent to the client. */
function toClientStatus(status: Status): Status {
  if (status.status === 'Success') return { metadata: {}, status: 'Success' };
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (status.reason !== 'NonZeroExitCode' || code === undefined) {
    return withoutType(internalError(status.message ?? 'unknown failure').status);
  }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: code }] },
  };
}

/** Removes the type fields: a Status on the error channel has none. */
function withoutType({ kind: _kind, apiVersion: _apiVersion, ...status }: Status): Status {
  return status;
}
