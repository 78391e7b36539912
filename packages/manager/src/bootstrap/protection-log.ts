import { appendFileSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ProtectionEvent } from '../webhooks/context.ts';

/**
 * Opens a log with one line for each refused deletion and its user. Only the owner of the file may read the log,
 * because it names users.
 */
export function openProtectionLog(directory: string): (event: ProtectionEvent) => void {
  mkdirSync(directory, { recursive: true });
  const file = openSync(join(directory, 'protection.log'), 'a', 0o600);
  return ({ event, kind, namespace, name, username }) => {
    const line = { Event: event, Kind: kind, Namespace: namespace, Name: name, UserAgent: username };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
}
