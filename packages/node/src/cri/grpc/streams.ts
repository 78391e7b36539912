/** Exec, attach and port-forward for runtimes that return a streaming URL. */
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Backend, createNetwork, hasSwitched, type Switched } from '@kruise/apiserver/connect/backend';
import { joinSockets } from '@kruise/client/streaming/join';
import { portForwardProtocol } from '@kruise/client/streaming/port-forward';
import { openRemoteCommand, spdyCommandProtocols } from '@kruise/client/streaming/remote-command';
import { createSpdyConnection, type SpdyConnection } from '@kruise/client/streaming/spdy';
import type { Clock } from '@kruise/values/clock';
import type { AttachRequest, PortForwardResponse, ProcessStreams } from '../runtime.ts';

export type StreamingClient = {
  /** Connects the streams of a process; resolves with its exit code once all output is written. */
  runCommand(url: string, request: AttachRequest, streams: ProcessStreams): Promise<number>;
  forwardPorts(url: string): PortForwardResponse;
};

export function createStreamingClient(clock: Clock): StreamingClient {
  const network = createNetwork(clock, {});

  async function upgrade(url: string, protocols: readonly string[], signal: AbortSignal): Promise<Switched> {
    const { protocol, hostname, port, pathname, search } = new URL(url);
    const scheme = protocol === 'https:' ? 'https' : 'http';
    const backend: Backend = network.at({
      scheme,
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (scheme === 'https' ? 443 : 80),
    });
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': [...protocols] };
    const response = await backend.upgrade({ method: 'POST', path: `${pathname}${search}`, headers, signal });
    if (!hasSwitched(response)) throw new Error(`unable to upgrade connection: HTTP status ${response.code}`);
    return response;
  }

  return {
    async runCommand(url, { tty = false, stdin = false, stdout = false, stderr = false }, streams) {
      const { socket, head, headers } = await upgrade(url, spdyCommandProtocols, streams.signal);
      const protocol = String(headers['x-stream-protocol-version'] ?? 'channel.k8s.io');
      const command = await openRemoteCommand(socket, clock, {
        protocol,
        head,
        streams: { tty, stdin, stdout, stderr },
      });
      try {
        streams.onResize(command.resize);
        // Input after the command has exited is discarded; that is no error.
        if (command.stdin && streams.stdin) pipeline(streams.stdin, command.stdin).catch(() => {});
        const outputs = [
          command.stdout && streams.stdout ? pipeline(command.stdout, streams.stdout, { end: false }) : undefined,
          command.stderr && streams.stderr ? pipeline(command.stderr, streams.stderr, { end: false }) : undefined,
        ];
        const [status] = await Promise.all([command.status, ...outputs]);
        if (status.status === 'Success') return 0;
        const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
        if (code === undefined) throw new Error(status.message ?? 'the command failed');
        return Number(code);
      } finally {
        command.close();
      }
    },
    forwardPorts(url) {
      const closed = new AbortController();
      let connecting: Promise<SpdyConnection> | undefined;
      let requests = 0;
      const connection = () => {
        connecting ??= upgrade(url, [portForwardProtocol], closed.signal).then(({ socket, head }) =>
          createSpdyConnection(socket, { role: 'client', clock, head }),
        );
        return connecting;
      };
      return {
        async connect(port, near) {
          const spdy = await connection();
          const headers = { port: String(port), requestid: String(requests++) };
          const error = await spdy.open({ ...headers, streamtype: 'error' });
          error.data.end();
          const { data } = await spdy.open({ ...headers, streamtype: 'data' });
          const failure = readText(error.data);
          await Promise.race([joinSockets(near, data), failure.then((text) => rejectWithError(text, near, data))]);
        },
        close() {
          closed.abort();
          connecting?.then(
            (spdy) => spdy.close(),
            () => {},
          );
        },
      };
    },
  };
}

/** Rejects if the error stream contains a message; an empty error stream means nothing. */
async function rejectWithError(text: string, near: Duplex, data: Duplex): Promise<void> {
  if (text === '') return new Promise(() => {});
  near.destroy();
  data.destroy();
  throw new Error(text);
}

async function readText(stream: Duplex): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
