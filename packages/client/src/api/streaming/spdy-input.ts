/**
 * Received bytes of a socket that are not decoded yet. A socket that fails drops its own buffer, so the bytes are kept
 * here.
 */
import type { Duplex } from 'node:stream';

/** Input of a connection. */
export type SocketInput = {
  /** Returns the next received bytes; undefined if there are none. */
  take(): Buffer | undefined;
  /** Returns how the socket has ended; undefined while it is open. */
  ended(): { readonly error: Error | undefined } | undefined;
  /** Resolves when bytes arrive or the socket ends. */
  arrival(): Promise<void>;
};

/** Dependencies of an input. */
export type InputContext = {
  /** Reports whether further bytes are dropped. */
  readonly isClosed: () => boolean;
  /** Called when the socket has failed. */
  readonly onFailed: (error: Error) => void;
};

/** Limit of received bytes that wait for the frames before them. */
const maxReceivedBytes = 64 * 1024;

/** Starts to read a socket. */
export function readSocket(socket: Duplex, { isClosed, onFailed }: InputContext): SocketInput {
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  let onArrival = (): void => {};
  let ended: { readonly error: Error | undefined } | undefined;

  function add(chunk: Buffer): void {
    if (isClosed()) return;
    chunks.push(chunk);
    receivedBytes += chunk.length;
    if (receivedBytes >= maxReceivedBytes) socket.pause();
    onArrival();
  }

  function end(error?: Error): void {
    if (ended) return;
    ended = { error };
    if (error) onFailed(error);
    onArrival();
  }

  socket.on('data', add);
  socket.once('end', () => end());
  socket.on('error', end);
  socket.once('close', () => end(new Error('connection lost')));

  return {
    take() {
      const chunk = chunks.shift();
      receivedBytes -= chunk?.length ?? 0;
      return chunk;
    },
    ended: () => ended,
    arrival() {
      socket.resume();
      return new Promise((resolve) => {
        onArrival = resolve;
      });
    },
  };
}
