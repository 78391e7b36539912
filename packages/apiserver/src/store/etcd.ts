import assert from 'node:assert/strict';
import { createChannel } from '@kruise/client/grpc/channel';
import { parseEndpoints, type TlsOptions } from '@kruise/client/grpc/connection';
import { type Method, methodOf } from '@kruise/client/grpc/method';
import { GrpcError } from '@kruise/client/grpc/status';
import { after, type Clock } from '@kruise/values/clock';
import { storeErrorOf } from './etcd/errors.ts';
import {
  Compare_CompareResult,
  Compare_CompareTarget,
  type KeyValue,
  KV,
  Lease,
  Maintenance,
} from './etcd/generated/etcd_pb.ts';
import { entryOf, markerOf, rangeOf } from './etcd/keys.ts';
import { createLeases } from './etcd/leases.ts';
import { createEtcdWatch, type EtcdWatch, type ProgressSource } from './etcd/watch.ts';
import {
  CompactedError,
  type RangeRequest,
  type RangeResult,
  type Store,
  StoreClosedError,
  type WriteRequest,
} from './store.ts';

export type EtcdStoreOptions = {
  readonly clock: Clock;
  /** Endpoints of etcd members: `http://10.0.0.1:2379`, `https://…`, `unix:///path`. */
  readonly endpoints: readonly string[];
  /** TLS settings for `https` endpoints: CA and client certificate. */
  readonly tls?: TlsOptions;
};

const methods = {
  range: methodOf(KV.method.range),
  txn: methodOf(KV.method.txn),
  put: methodOf(KV.method.put),
  compact: methodOf(KV.method.compact),
  leaseGrant: methodOf(Lease.method.leaseGrant),
  status: methodOf(Maintenance.method.status),
};

const timeoutMs = 30_000;
/**
 * Page size of the first request of a range. etcd allows values of 1.5 MB, so the first page may be large; the size of
 * later pages adapts.
 */
const firstPageKeys = 100;
const maxPageKeys = 10_000;
/** Target size of a page: decoding blocks the event loop for about 5 ms per megabyte. */
const pageBytes = 2 ** 20;
const maxMessageBytes = 256 * 2 ** 20;
const attempts = 4;
const retryAfterMs = 150;

/** Opens a store on an etcd cluster, which other API servers may use concurrently. */
export function openEtcdStore({ clock, endpoints, tls }: EtcdStoreOptions): Store {
  const channel = createChannel({ clock, ...parseEndpoints(endpoints, tls), maxMessageBytes });
  const closing = new AbortController();
  const calls = new Set<Promise<unknown>>();
  const watches = new Set<EtcdWatch>();
  const leases = createLeases(clock, async (ttlSeconds) => {
    const { ID } = await call(methods.leaseGrant, { TTL: BigInt(ttlSeconds) }, 'may be repeated');
    return ID;
  });
  let version: Promise<string> | undefined;

  /** Calls etcd; safe calls are retried. */
  async function call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    repetition: 'may be repeated' | 'must not be repeated',
  ): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await channel.unary(method, request, { timeoutMs });
      } catch (error) {
        const isRepeatable = error instanceof GrpcError && (!error.wasSent || repetition === 'may be repeated');
        if (!isRepeatable || error.code !== 'UNAVAILABLE' || attempt === attempts) throw error;
        await after(clock, retryAfterMs);
      }
    }
  }

  /** Runs a store operation and converts its errors to those of the store interface. */
  async function runOperation<Result>(work: () => Promise<Result>, revision?: number): Promise<Result> {
    if (closing.signal.aborted) throw new StoreClosedError();
    const result = work();
    calls.add(result);
    try {
      return await result;
    } catch (error) {
      throw storeErrorOf(error, revision);
    } finally {
      calls.delete(result);
    }
  }

  async function readRange({
    prefix,
    start,
    limit = Number.POSITIVE_INFINITY,
    revision: requested = 0,
  }: RangeRequest): Promise<RangeResult> {
    const { key: first, rangeEnd } = rangeOf(prefix, start);
    const keyValues: KeyValue[] = [];
    let revision = requested;
    let count: number | undefined;
    let sizeBytes = 0;
    for (let key = first, more = true; more; ) {
      const averageBytes = sizeBytes / keyValues.length;
      const pageKeys = keyValues.length === 0 ? firstPageKeys : Math.ceil(pageBytes / (1 + averageBytes));
      const pageLimit = Math.min(limit - keyValues.length, maxPageKeys, pageKeys);
      const page = await call(
        methods.range,
        { key, rangeEnd, limit: BigInt(pageLimit), revision: BigInt(revision), countOnly: limit === 0 },
        'may be repeated',
      );
      // Later pages read the revision of the first page.
      revision ||= Number(page.header?.revision);
      count ??= Number(page.count);
      for (const keyValue of page.kvs) {
        sizeBytes += keyValue.value.length;
        keyValues.push(keyValue);
      }
      more = page.more && keyValues.length < limit;
      key = Buffer.of(...(page.kvs.at(-1)?.key ?? key), 0);
    }
    assert(count !== undefined);
    return { entries: keyValues.map(entryOf), count, more: count > keyValues.length, revision };
  }

  async function write(request: WriteRequest) {
    const key = Buffer.from(request.key);
    const isDeletion = 'delete' in request;
    const ttlSeconds = isDeletion ? undefined : request.ttlSeconds;
    const lease = ttlSeconds === undefined ? 0n : await leases.leaseFor(ttlSeconds);
    try {
      const { succeeded, header, responses } = await call(
        methods.txn,
        {
          compare: [
            {
              key,
              result: Compare_CompareResult.EQUAL,
              target: Compare_CompareTarget.MOD,
              targetUnion: { case: 'modRevision', value: BigInt(request.expected) },
            },
          ],
          success: [
            {
              request: isDeletion
                ? { case: 'requestDeleteRange', value: { key } }
                : { case: 'requestPut', value: { key, value: request.value, lease } },
            },
          ],
          failure: [{ request: { case: 'requestRange', value: { key } } }],
        },
        'must not be repeated',
      );
      const revision = Number(header?.revision);
      if (succeeded) return { ok: true as const, revision };
      const response = responses[0]?.response;
      const [found] = response?.case === 'responseRange' ? response.value.kvs : [];
      return { ok: false as const, revision, ...(found && { current: entryOf(found) }) };
    } catch (error) {
      if (lease !== 0n) leases.discard(lease);
      throw error;
    }
  }

  const progress: ProgressSource = {
    async isOrdered() {
      version ??= call(methods.status, {}, 'may be repeated').then((status) => status.version);
      try {
        return ordersProgress(await version);
      } catch (error) {
        version = undefined;
        throw error;
      }
    },
    async writeMarker(prefix) {
      await call(methods.put, { key: markerOf(prefix) }, 'may be repeated');
    },
  };

  return {
    currentRevision: () =>
      runOperation(async () => {
        // Every read returns the revision; this read matches no key.
        const { header } = await call(methods.range, { key: Buffer.from('/'), countOnly: true }, 'may be repeated');
        const revision = Number(header?.revision);
        for (const watch of watches) watch.reach(revision);
        return revision;
      }),

    get: (key, at) =>
      runOperation(async () => {
        const revision = at?.revision ?? 0;
        const request = { key: Buffer.from(key), revision: BigInt(revision) };
        const { header, kvs } = await call(methods.range, request, 'may be repeated');
        return { revision: revision || Number(header?.revision), ...(kvs[0] && { entry: entryOf(kvs[0]) }) };
      }, at?.revision),

    range: (request) =>
      runOperation(async () => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await readRange(request);
          } catch (error) {
            // The revision was compacted between two pages; without a requested revision, the range restarts at the
            // newest.
            const isReplaceable = request.revision === undefined && isCompacted(error);
            if (!isReplaceable || attempt === attempts) throw error;
          }
        }
      }, request.revision),

    write: (request) =>
      runOperation(() => {
        assert(request.key !== '' && request.key.isWellFormed(), 'a key is not empty and has a UTF-8 form');
        return write(request);
      }),

    watch: (request) => ({
      async *[Symbol.asyncIterator]() {
        const signal = AbortSignal.any([request.signal, closing.signal]);
        if (signal.aborted) return;
        const watch = createEtcdWatch(channel, clock, progress, { ...request, signal });
        watches.add(watch);
        try {
          yield* watch.batches;
        } finally {
          watches.delete(watch);
        }
      },
    }),

    compact: (revision) =>
      runOperation(async () => {
        try {
          await call(methods.compact, { revision: BigInt(revision) }, 'may be repeated');
        } catch (error) {
          if (!isCompacted(error)) throw error;
        }
      }, revision),

    async close() {
      closing.abort();
      await Promise.allSettled(calls);
      channel.close();
    },
  };
}

function isCompacted(error: unknown): boolean {
  return storeErrorOf(error) instanceof CompactedError;
}

/**
 * Reports whether this etcd version orders progress notifications after events. In older versions a notification could
 * precede events, and a cache that trusted it would miss them.
 */
export function ordersProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 3) return major > 3;
  const firstPatches = new Map([
    [4, 31],
    [5, 13],
  ]);
  return patch >= (firstPatches.get(minor) ?? (minor > 5 ? 0 : Number.POSITIVE_INFINITY));
}
