/**
 * A correct server of one kind behind a transport with fault injection: responses are rejected, delayed, corrupted or
 * lost; watches break, end, fall silent or have an expired resourceVersion.
 */
import type { ConfigMap } from '@kruise/api/core/configmap';
import { expired, failure, StatusError, tooLargeResourceVersion, tooManyRequests } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import { pick, type Random, randomInteger } from '@kruise/values/random';
import type { ApiRequest, Transport, WatchEvent } from '../api/transport.ts';

/** A change that the server has acknowledged. */
export type LoggedChange = {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ConfigMap;
};

export type FaultyServer = Transport & {
  /** Creates or updates an object. */
  put(name: string): void;
  remove(name: string): void;
  /** Compacts all changes up to now. */
  compact(): void;
  /** Stops fault injection. */
  stopFaults(): void;
  /** All changes since the start, including compacted ones. */
  readonly log: readonly LoggedChange[];
  stateAt(revision: number): readonly ConfigMap[];
  readonly revision: number;
  /** Number of injected faults by name. */
  readonly faults: ReadonlyMap<string, number>;
};

const listFaults = ['none', 'none', 'later', 'broken', 'expired', 'ahead', 'garbage', 'hang', 'slow'] as const;
const watchFaults = ['none', 'later', 'broken', 'expired', 'garbage', 'silent', 'cut', 'end', 'slow'] as const;

const firstRevision = 100;

/** Creates an empty server at a revision above zero. */
export function startFaultyServer(clock: Clock, random: Random, pageLimit: number): FaultyServer {
  const log: LoggedChange[] = [];
  const faults = new Map<string, number>();
  let revision = firstRevision;
  let oldest = firstRevision;
  let isCalm = false;
  let uids = 0;
  let wakers: (() => void)[] = [];

  const chance = <F extends string>(choices: readonly F[]): F | 'none' => {
    if (isCalm) return 'none';
    const fault = pick(random, choices);
    faults.set(fault, (faults.get(fault) ?? 0) + 1);
    return fault;
  };
  const stateAt = (at: number): readonly ConfigMap[] => {
    const objects = new Map<string, ConfigMap>();
    for (const { revision: changed, type, object } of log) {
      if (changed > at) break;
      if (type === 'DELETED') objects.delete(object.metadata.name!);
      else objects.set(object.metadata.name!, object);
    }
    return [...objects.values()];
  };
  const commit = (type: LoggedChange['type'], object: ConfigMap) => {
    revision++;
    const { metadata } = object;
    log.push({ revision, type, object: { ...object, metadata: { ...metadata, resourceVersion: String(revision) } } });
    const waiting = wakers;
    wakers = [];
    for (const wake of waiting) wake();
  };
  const broken = () => new StatusError(failure({ code: 500, reason: 'InternalError', message: 'etcd is gone' }));

  function list({ query = {} }: ApiRequest): unknown {
    const token = typeof query['continue'] === 'string' ? query['continue'] : '';
    const wanted = Number(query['resourceVersion'] ?? '') || 0;
    const [at, from] = token === '' ? [0, 0] : (token.split(':').map(Number) as [number, number]);
    if (wanted > revision) throw tooLargeResourceVersion(wanted, revision);
    if (at > 0 && at < oldest) throw expired('The provided continue parameter is too old');
    // A server cache may lag unless a newer version is requested.
    const lagged = query['resourceVersion'] === '0' ? Math.max(firstRevision, revision - randomInteger(random, 4)) : 0;
    const served = at || Math.max(wanted, lagged || revision);
    const items = stateAt(served);
    const isPaged = token !== '' || (query['limit'] !== undefined && query['resourceVersion'] !== '0');
    const page = isPaged ? items.slice(from, from + pageLimit) : items;
    const more = isPaged && from + page.length < items.length;
    return {
      metadata: {
        resourceVersion: String(served),
        ...(more ? { continue: `${served}:${from + page.length}` } : {}),
      },
      // Like real servers, items of a list have no apiVersion and kind.
      items: page.map(({ kind: _, apiVersion: __, ...rest }) => rest),
    };
  }

  return {
    log,
    faults,
    stateAt,
    get revision() {
      return revision;
    },
    put(name) {
      const present = stateAt(revision).find(({ metadata }) => metadata.name === name);
      const uid = present?.metadata.uid ?? `uid-${uids++}`;
      const metadata = { name, namespace: 'default', uid };
      commit(present ? 'MODIFIED' : 'ADDED', { kind: 'ConfigMap', apiVersion: 'v1', metadata });
    },
    remove(name) {
      const present = stateAt(revision).find(({ metadata }) => metadata.name === name);
      if (present) commit('DELETED', present);
    },
    compact() {
      oldest = revision;
    },
    stopFaults() {
      isCalm = true;
    },
    async request(request) {
      const fault = chance(listFaults);
      if (fault === 'hang') return new Promise(() => {});
      if (fault === 'slow') await after(clock, 5000);
      if (fault === 'later') throw tooManyRequests('not now', 2);
      if (fault === 'broken') throw broken();
      if (fault === 'expired') throw expired('too old');
      if (fault === 'ahead') throw tooLargeResourceVersion(revision + 1, revision);
      const object = fault === 'garbage' ? { items: [{ metadata: {} }] } : list(request);
      return { code: 200, object, warnings: [] };
    },
    async *watch({ query = {}, signal }): AsyncGenerator<WatchEvent> {
      const fault = chance(watchFaults);
      let left = fault === 'none' || fault === 'slow' ? Number.POSITIVE_INFINITY : randomInteger(random, 4);
      let at = Number(query['resourceVersion']);
      if (query['sendInitialEvents'] === true) {
        // The initial state, the bookmark that completes it, then changes: the watch may break at any of them.
        at = revision;
        for (const object of stateAt(at)) {
          if (left-- <= 0) throw broken();
          yield { type: 'ADDED', object };
        }
        if (left-- <= 0) return;
        const metadata = { resourceVersion: String(at), annotations: { 'k8s.io/initial-events-end': 'true' } };
        yield { type: 'BOOKMARK', object: { metadata } };
      }
      if (fault === 'later') throw tooManyRequests('not now', 2);
      if (fault === 'broken' && left === 0) throw broken();
      if (at < oldest) {
        yield { type: 'ERROR', object: expired('too old resource version').status };
        return;
      }
      for (;;) {
        if (fault === 'slow') await after(clock, 3000);
        const next = log.find((logged) => logged.revision > at);
        if (left <= 0) {
          if (fault === 'silent') await new Promise(() => {});
          if (fault === 'cut') throw new Error('the connection broke in the middle of an event');
          if (fault === 'broken') yield { type: 'ERROR', object: broken().status };
          if (fault === 'expired') yield { type: 'ERROR', object: expired('too old').status };
          // Sends a corrupted event.
          if (fault === 'garbage') yield pick(random, garbage) as WatchEvent;
          return;
        }
        left--;
        if (next) {
          at = next.revision;
          yield { type: next.type, object: next.object };
        } else if (left < 2 || randomInteger(random, 3) === 0) {
          at = revision;
          yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(at) } } };
        }
        if (revision > at) continue;
        // Sometimes ignores the signal, as a dead connection does.
        const heeded = randomInteger(random, 2) === 0 ? signal : undefined;
        await Promise.race([
          new Promise<void>((resolve) => wakers.push(resolve)),
          after(clock, 50_000, heeded).catch(() => {}),
        ]);
      }
    },
  };
}

const garbage = [
  { type: 'ADDED', object: { metadata: {} } },
  { type: 'ADDED', object: null },
  { type: 'CHANGED', object: { metadata: { name: 'a', resourceVersion: '1' } } },
  { type: 'MODIFIED', object: { metadata: { name: 'a' } } },
  { type: 'BOOKMARK', object: { metadata: {} } },
  { type: 'BOOKMARK', object: 7 },
  { type: 'ERROR', object: null },
  {},
];
