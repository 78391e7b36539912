import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { ThreadOptions } from './sqlite-messages.ts';
import { StoreError } from './store.ts';

/** Database thread with its message port. Messages queue in the port until a listener is attached. */
export type SqliteThread = { readonly worker: Worker; readonly port: MessagePort };

/**
 * Starts a thread that opens a database; creates the file and its directory if needed. Starting the thread takes half
 * as long as starting a server, so callers with other startup work start the thread first.
 */
export function startSqliteThread(options: ThreadOptions): SqliteThread {
  const { path } = options;
  try {
    // Secrets are stored unencrypted, so only the owner may read the file. SQLite's other files inherit its mode.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new StoreError(`${path} cannot be made: ${(error as Error).message}`);
  }
  // In the source, the bundle and the package, the thread's file is in the same directory with the same extension.
  const file = `./sqlite-thread${extname(import.meta.url)}`;
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: { ...options, port: port2 },
    transferList: [port2],
    name: 'store',
    // Messages leave no long-lived garbage in the thread, so a small young generation suffices.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  return { worker, port: port1 };
}
