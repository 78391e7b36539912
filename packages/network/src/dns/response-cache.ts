/** Cache of the responses of upstream servers: bounded in number and size, least recently used out first. */
import {
  headerFlag,
  opcodeOf,
  queryOpcode,
  type ResourceRecord,
  recordType,
  responseCode,
  type Sections,
} from './message.ts';

/** A cached response. */
export type CachedResponse = Sections & { readonly flags: number; readonly sizeBytes: number };

export type CacheKind = 'success' | 'denial';

export type CacheHit = {
  readonly response: CachedResponse;
  readonly kind: CacheKind;
  /** Remaining time to live; 0 for a stale response. */
  readonly ttlSeconds: number;
  readonly isStale: boolean;
};

export type CacheSettings = {
  /** Upper limit of the time to live of positive and of negative responses; 0 disables the cache. */
  readonly maxSeconds: number;
  /** Time for which an expired response is still served while it is refreshed. */
  readonly staleSeconds: number;
};

export type ResponseCache = {
  find(key: string, nowMs: number): CacheHit | undefined;
  /** Stores a response if it may be stored, and returns the time to live that its records get. */
  store(key: string, response: CachedResponse, nowMs: number): number;
  clear(): void;
  sizeOf(kind: CacheKind): number;
  readonly evictions: { readonly [kind in CacheKind]: number };
};

/** As many entries as CoreDNS keeps of each kind, and a limit on their size, because a response may have 64 KiB. */
const maxEntries = 10_000;
const maxBytes = 32 * 1024 * 1024;
/** Lower limit of the time to live, and the time to live of failures. */
const minSeconds = 5;

type Entry = { readonly response: CachedResponse; readonly storedMs: number; readonly ttlSeconds: number };

/** Creates an empty cache. */
export function createResponseCache({ maxSeconds, staleSeconds }: CacheSettings): ResponseCache {
  const entries = { success: new Map<string, Entry>(), denial: new Map<string, Entry>() };
  const bytes = { success: 0, denial: 0 };
  const evictions = { success: 0, denial: 0 };

  function remove(kind: CacheKind, key: string): void {
    const entry = entries[kind].get(key);
    if (!entry) return;
    entries[kind].delete(key);
    bytes[kind] -= entry.response.sizeBytes;
  }

  return {
    find(key, nowMs) {
      for (const kind of ['denial', 'success'] as const) {
        const entry = entries[kind].get(key);
        if (!entry) continue;
        const ttlSeconds = entry.ttlSeconds - Math.floor((nowMs - entry.storedMs) / 1000);
        if (ttlSeconds <= -staleSeconds) {
          remove(kind, key);
          continue;
        }
        entries[kind].delete(key);
        entries[kind].set(key, entry);
        const isStale = ttlSeconds <= 0;
        return { response: entry.response, kind, ttlSeconds: Math.max(0, ttlSeconds), isStale };
      }
      return undefined;
    },
    store(key, response, nowMs) {
      const kind = kindOf(response);
      const code = response.flags & 0xf;
      const isFailure = code === responseCode.serverFailure || code === responseCode.notImplemented;
      const lowest = isFailure ? minSeconds : lowestTtl(response);
      const ttlSeconds = Math.min(Math.max(lowest, minSeconds), Math.max(maxSeconds, minSeconds));
      if (kind === undefined || maxSeconds === 0) return lowest;
      remove('success', key);
      remove('denial', key);
      entries[kind].set(key, { response, storedMs: nowMs, ttlSeconds });
      bytes[kind] += response.sizeBytes;
      while (entries[kind].size > maxEntries || bytes[kind] > maxBytes) {
        remove(kind, entries[kind].keys().next().value!);
        evictions[kind]++;
      }
      return ttlSeconds;
    },
    clear() {
      for (const kind of ['success', 'denial'] as const) {
        entries[kind].clear();
        bytes[kind] = 0;
      }
    },
    sizeOf: (kind) => entries[kind].size,
    evictions,
  };
}

/** Classifies a response; undefined if it must not be cached. */
function kindOf({ flags, answers, authority }: CachedResponse): CacheKind | undefined {
  const code = flags & 0xf;
  if (flags & headerFlag.truncated || opcodeOf(flags) !== queryOpcode) return undefined;
  const hasSoa = authority.some(({ type }) => type === recordType.SOA);
  if (code === responseCode.success) return answers.length === 0 && hasSoa ? 'denial' : 'success';
  if (code === responseCode.nameError) return hasSoa ? 'denial' : undefined;
  return code === responseCode.serverFailure || code === responseCode.notImplemented ? 'denial' : undefined;
}

/** Returns the lowest time to live of all records; that of a negative response is limited by its SOA record, too. */
function lowestTtl({ answers, authority, additional }: CachedResponse): number {
  const records = [...answers, ...authority, ...additional];
  if (records.length === 0) return minSeconds;
  return Math.min(...records.map((each) => (answers.length === 0 ? denialTtl(each) : each.ttl)));
}

function denialTtl({ ttl, data }: ResourceRecord): number {
  return data.kind === 'soa' ? Math.min(ttl, data.minimum) : ttl;
}
