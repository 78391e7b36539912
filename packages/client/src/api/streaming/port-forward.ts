import type { Duplex } from 'node:stream';
import type { Clock } from '@kruise/values/clock';
import { createSpdyConnection } from './spdy.ts';
import type { SpdyStream } from './spdy-streams.ts';
import { acceptSpdy } from './spdy-upgrade.ts';
import { isWebSocket, rejectUpgrade, type Upgrade, UpgradeRejectedError } from './upgrade.ts';
import { acceptWebSocket, createChannels } from './websocket.ts';

/** A forwarded connection, from the view of the side that has the port. */
export type ForwardedConnection = {
  readonly port: number;
  readonly data: Duplex;
  /** Reports an error to the client and closes the connection. */
  fail(message: string): void;
};

/** A client that forwards ports. */
export type PortForward = {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
};

/** Protocol of port forwarding over SPDY, also tunneled in a WebSocket. */
export const portForwardProtocol = 'portforward.k8s.io';
/** Prefix of WebSocket protocols that tunnel SPDY. */
export const tunnelPrefix = 'SPDY/3.1+';
const webSocketProtocols = ['', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'];
const pairingMs = 30_000;

/**
 * Accepts a port-forward request: over SPDY any number of connections, over WebSocket one for each of `ports`.
 *
 * ```ts
 * const connect = ({ data }: ForwardedConnection) => void joinSockets(data, other);
 * await acceptPortForward(upgrade, clock, { ports: [8080], connect });
 * ```
 */
export async function acceptPortForward(
  upgrade: Upgrade,
  clock: Clock,
  { ports, connect }: { readonly ports: readonly number[]; connect(connection: ForwardedConnection): void },
): Promise<PortForward> {
  return isWebSocket(upgrade.headers)
    ? forwardOverWebSocket(upgrade, ports, connect)
    : forwardOverSpdy(upgrade, clock, connect);
}

function forwardOverSpdy(
  upgrade: Upgrade,
  clock: Clock,
  connect: (connection: ForwardedConnection) => void,
): PortForward {
  acceptSpdy(upgrade, [portForwardProtocol]);
  type Pair = { error?: SpdyStream; data?: SpdyStream; cancel(): void };
  const pairs = new Map<string, Pair>();
  const gone = new AbortController();
  const connection = createSpdyConnection(upgrade.socket, {
    role: 'server',
    clock,
    head: upgrade.head,
    accept(stream) {
      const { streamtype, port, requestid } = stream.headers;
      if (streamtype !== 'error' && streamtype !== 'data') return false;
      const number = portOf(String(port ?? ''));
      if (number === undefined) return false;
      // Old clients send no request id; they open both streams of a connection directly after each other.
      const id =
        requestid === undefined ? String(streamtype === 'error' ? stream.id : stream.id - 2) : String(requestid);
      let pair = pairs.get(id);
      if (!pair) {
        const cancel = clock.setTimer(pairingMs, () => {
          pairs.delete(id);
          stream.data.destroy();
        });
        pair = { cancel };
        pairs.set(id, pair);
      }
      if (pair[streamtype]) return false;
      pair[streamtype] = stream;
      if (pair.error && pair.data) {
        pair.cancel();
        pairs.delete(id);
        const connection = forwarded(number, pair.data.data, pair.error.data);
        // Connecting starts after the stream was accepted.
        queueMicrotask(() => connect(connection));
      }
      return true;
    },
  });
  connection.closed.then(() => {
    for (const { cancel } of pairs.values()) cancel();
    gone.abort();
  });
  return { signal: gone.signal };
}

function forwarded(port: number, data: Duplex, error: Duplex): ForwardedConnection {
  error.resume();
  // The client waits for the end of the error stream. After all data has been sent, no error is possible.
  data.once('finish', () => error.end());
  data.once('close', () => error.end());
  return {
    port,
    data,
    fail(message) {
      error.end(message);
      data.destroy();
    },
  };
}

async function forwardOverWebSocket(
  upgrade: Upgrade,
  ports: readonly number[],
  connect: (connection: ForwardedConnection) => void,
): Promise<PortForward> {
  if (ports.length === 0) throw rejectUpgrade(upgrade, 400, 'query parameter "port" is required');
  const { socket, protocol } = await acceptWebSocket(upgrade, webSocketProtocols);
  const { channels, close, closed } = createChannels(socket, {
    count: 2 * ports.length,
    encoding: protocol.includes('base64') ? 'base64' : 'binary',
    closable: false,
  });
  const gone = new AbortController();
  closed.then(() => gone.abort());
  let open = ports.length;
  for (const [index, port] of ports.entries()) {
    const [data, error] = [channels[2 * index]!, channels[2 * index + 1]!];
    const number = Buffer.of(port & 0xff, port >> 8);
    data.write(number);
    error.write(number);
    data.once('close', () => {
      open--;
      if (open === 0) close();
    });
    connect(forwarded(port, data, error));
  }
  return { signal: gone.signal };
}

/** Parses a port; undefined if it is invalid. */
function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : undefined;
}

/** Parses the ports of a query: numbers, also separated by commas. Throws on an invalid port. */
export function portsOf(values: readonly string[]): number[] {
  return values.flatMap((value) =>
    value.split(',').map((text) => {
      const port = portOf(text);
      if (port === undefined) throw new UpgradeRejectedError(400, `invalid port ${JSON.stringify(text)}`);
      return port;
    }),
  );
}
