import type { Duplex } from 'node:stream';

/**
 * Connects two sockets until one is closed. Resolves when both are closed.
 *
 * ```ts
 * await joinSockets(one, other);
 * ```
 */
export async function joinSockets(one: Duplex, other: Duplex): Promise<void> {
  one.on('error', () => one.destroy());
  other.on('error', () => other.destroy());
  one.pipe(other);
  other.pipe(one);
  one.once('close', () => endAfterFlush(other));
  other.once('close', () => endAfterFlush(one));
  await Promise.all([closed(one), closed(other)]);
}

/** Closes a socket after its pending writes. */
function endAfterFlush(socket: Duplex): void {
  if (socket.destroyed) return;
  if (socket.writableFinished) socket.destroy();
  else socket.end(() => socket.destroy());
}

/** Resolves when a socket is closed in both directions. */
export function closed(socket: Duplex): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
}
