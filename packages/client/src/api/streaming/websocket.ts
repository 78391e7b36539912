import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { parseHeaderList, rejectUpgrade, type Upgrade } from './upgrade.ts';

/** Message limit of the Go implementation. */
const maxMessageBytes = 32 * 1024 * 1024;
/** Maximum size of a sent message; some clients read into a buffer of this size. */
const maxChunkBytes = 32 * 1024;

/** A WebSocket and its negotiated protocol; empty if there is none. */
export type AcceptedWebSocket = { readonly socket: WebSocket; readonly protocol: string };

/**
 * Accepts a WebSocket with the first protocol of the client that is supported. An empty text in `supported` accepts
 * clients without a protocol.
 *
 * ```ts
 * const { socket } = await acceptWebSocket(upgrade, ['v5.channel.k8s.io']);
 * ```
 */
export function acceptWebSocket(upgrade: Upgrade, supported: readonly string[]): Promise<AcceptedWebSocket> {
  const offered = parseHeaderList(upgrade.headers['sec-websocket-protocol']);
  const chosen = offered.length === 0 && supported.includes('') ? '' : offered.find((each) => supported.includes(each));
  if (chosen === undefined) {
    const message = `requested protocol(s) are not supported: [${offered.join(' ')}]; supports [${supported.join(' ')}]`;
    return Promise.reject(rejectUpgrade(upgrade, 403, message));
  }
  return new Promise((resolve, reject) => {
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      perMessageDeflate: false,
    });
    // The library rejects protocol names with a slash, which Kubernetes uses.
    const { 'sec-websocket-protocol': _, ...headers } = upgrade.headers;
    if (chosen !== '') server.once('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${chosen}`));
    server.once('wsClientError', (error) => reject(rejectUpgrade(upgrade, 400, error.message)));
    // The library uses only the method and the headers of the request.
    const request = { method: upgrade.method, headers, url: '/' } as IncomingMessage;
    server.handleUpgrade(request, upgrade.socket, upgrade.head, (socket) => resolve({ socket, protocol: chosen }));
  });
}

/** Channels in one WebSocket: each message starts with the number of its channel. */
export type Channels = {
  readonly channels: readonly Duplex[];
  /** Closes the WebSocket after all pending writes. */
  close(): void;
  /** Resolves when the WebSocket is closed by either side. */
  readonly closed: Promise<void>;
};

/** Number and encoding of channels. */
export type ChannelsOptions = {
  readonly count: number;
  /** Binary messages with a prefix byte, or text messages with a prefix digit and base64. */
  readonly encoding: 'binary' | 'base64';
  /** Set if a message on channel 255 closes the channel that it names. */
  readonly closable: boolean;
};

const closeChannel = 255;

/** Splits a WebSocket into channels. A channel that is not read blocks the others: TCP slows the sender down. */
export function createChannels(socket: WebSocket, { count, encoding, closable }: ChannelsOptions): Channels {
  const closed = Promise.withResolvers<void>();
  const full = new Set<number>();
  const ended = new Set<number>();

  const channels = Array.from({ length: count }, (_, index) => {
    const channel = new Duplex({
      read() {
        if (full.delete(index) && full.size === 0) socket.resume();
      },
      write(chunk: Buffer, _encoding, callback) {
        send(index, chunk, callback);
      },
      destroy(error, callback) {
        ended.add(index);
        if (full.delete(index) && full.size === 0) socket.resume();
        callback(error);
      },
    });
    channel.on('error', () => {});
    return channel;
  });

  function send(index: number, chunk: Buffer, callback: (error?: Error | null) => void): void {
    let at = 0;
    const next = (error?: Error | null): void => {
      if (error || (at >= chunk.length && at > 0)) {
        callback(error);
        return;
      }
      const piece = chunk.subarray(at, at + maxChunkBytes);
      at += Math.max(1, piece.length);
      if (encoding === 'base64') socket.send(`${index}${piece.toString('base64')}`, next);
      else socket.send(Buffer.concat([Buffer.of(index), piece]), next);
    };
    next();
  }

  function end(index: number): void {
    if (ended.has(index)) return;
    ended.add(index);
    channels[index]?.push(null);
  }

  socket.on('message', (message: Buffer, isBinary: boolean) => {
    if (message.length === 0) return;
    let index = message[0]!;
    let data = message.subarray(1);
    if (encoding === 'base64' && !isBinary) {
      index -= 48;
      data = Buffer.from(data.toString('latin1'), 'base64');
    } else if (closable && index === closeChannel) {
      if (data.length === 1) end(data[0]!);
      return;
    }
    const channel = channels[index];
    if (!channel || ended.has(index) || data.length === 0) return;
    if (!channel.push(data)) {
      full.add(index);
      socket.pause();
    }
  });
  // The library closes the socket after a frame error.
  socket.on('error', () => {});
  socket.once('close', () => {
    for (const index of channels.keys()) end(index);
    closed.resolve();
  });

  return { channels, close: () => socket.close(1000), closed: closed.promise };
}
