/** Writers that record acknowledged writes, to compare them with the stored objects after crashes. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import type { Client } from '@kruise/client/client';
import { TransportError } from '@kruise/client/http-transport';
import { StatusError } from '@kruise/machinery/status';

/** Records of the writers: acknowledged writes and their resourceVersions. */
export type AcknowledgedWrites = {
  readonly created: Map<string, string>;
  readonly counted: Map<string, Count>;
  readonly revisions: Set<string>;
};
export type Count = { acknowledged: number; tried: number };

export const createAcknowledgedWrites = (): AcknowledgedWrites => ({
  created: new Map(),
  counted: new Map(),
  revisions: new Set(),
});

/** Long enough to be torn, and different at each position. */
const payload = (name: string) => `${name} `.repeat(300);

/** Runs a request; returns undefined if the server is down or starting, because the outcome is unknown. */
export async function attempt<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    const isPassing = error instanceof TransportError || (error instanceof StatusError && error.code >= 500);
    if (!isPassing) throw error;
    await sleep(5);
    return undefined;
  }
}

/**
 * Creates objects and increments counters as fast as responses arrive, until it is stopped. It continues through every
 * crash.
 */
export async function write(
  client: Client,
  writer: number,
  writes: AcknowledgedWrites,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const counter = `counter-${writer}`;
  const count = { acknowledged: 0, tried: 0 };
  writes.counted.set(counter, count);
  const noted = async (act: () => Promise<ConfigMap>) => {
    const written = await attempt(act);
    if (written) writes.revisions.add(written.metadata.resourceVersion!);
    return written;
  };
  for (let index = 1; !signal.aborted; index++) {
    const name = `writer-${writer}-${index}`;
    const created = await noted(() =>
      client.create(configMap, { metadata: { name, namespace }, data: { payload: payload(name) } }),
    );
    if (created) writes.created.set(name, created.metadata.resourceVersion!);
    count.tried = index;
    const applied = await noted(() =>
      client.apply(
        configMap,
        { metadata: { name: counter, namespace }, data: { count: String(index) } },
        { fieldManager: 'e2e' },
      ),
    );
    if (applied) count.acknowledged = index;
  }
}

/** Asserts that no acknowledged write is lost, no object is torn, and no unknown object exists. */
export function assertStored({ created, counted }: AcknowledgedWrites, items: readonly ConfigMap[]): void {
  const stored = new Map(items.map((item) => [item.metadata.name!, item]));
  const lost = [...created].filter(([name, revision]) => stored.get(name)?.metadata.resourceVersion !== revision);
  assert.deepEqual(lost, []);
  const torn = items.filter(
    ({ metadata: { name = '' }, data }) => name.startsWith('writer-') && data?.payload !== payload(name),
  );
  assert.deepEqual(torn, []);
  for (const [name, count] of counted) assertCounted(name, count, Number(stored.get(name)?.data?.count ?? 0));
}

export function assertCounted(name: string, { acknowledged, tried }: Count, found: number): void {
  assert.ok(acknowledged <= found && found <= tried, `${name}: ${acknowledged} ≤ ${found} ≤ ${tried}`);
}
