import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { ThreadOptions } from './sqlite-messages.ts';
import { StoreError } from './store.ts';

/** The thread that owns a database. What it says waits in the port until someone listens. */
export type SqliteThread = { readonly worker: Worker; readonly port: MessagePort };

/**
 * Has a thread open a database, which is made if it does not exist, as is its directory. A thread takes half as long to
 * start as a whole server, so whoever has much to do before they open the store starts its thread first.
 */
export function startSqliteThread(options: ThreadOptions): SqliteThread {
  const { path } = options;
  try {
    // Secrets are stored as they come: nobody else may look. SQLite's other files take after this one.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new StoreError(`${path} cannot be made: ${(error as Error).message}`);
  }
  // Source, bundle and package have the thread beside them, under the ending that each has.
  const file = `./sqlite-thread${extname(import.meta.url)}`;
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: { ...options, port: port2 },
    transferList: [port2],
    name: 'store',
    // Messages pass through the thread and leave nothing behind, so it needs little room for what is new.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  return { worker, port: port1 };
}
