/** Forwards questions about other names to upstream servers, with a cache. Equal questions share one query. */
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import {
  type Edns,
  headerFlag,
  isInZone,
  lowerCaseName,
  type Name,
  type Question,
  type ResourceRecord,
  responseCode,
  type Sections,
} from './message.ts';
import { type CachedResponse, type CacheKind, type CacheSettings, createResponseCache } from './response-cache.ts';
import { createUpstream, type Upstream, type UpstreamAddress, UpstreamError } from './upstream.ts';

/** Upstream servers of a domain; the root domain is that of all other names. */
export type UpstreamGroup = { readonly domain: Name; readonly servers: readonly UpstreamAddress[] };

/** A question with what matters for its forwarding. */
export type ForwardRequest = {
  readonly question: Question;
  readonly flags: number;
  readonly edns: Edns | undefined;
  readonly transport: 'udp' | 'tcp';
};

/** A response: its flags and records, or a code of ours. */
export type Forwarded =
  | (Sections & { readonly outcome: 'response'; readonly flags: number; readonly source: 'cache' | 'forward' })
  | { readonly outcome: 'failure'; readonly code: number };

/** Receives what happens, for metrics. */
export type ForwardObserver = {
  cacheHit(kind: CacheKind): void;
  cacheMiss(): void;
  servedStale(): void;
  response(server: string, code: number, elapsedMs: number): void;
  healthCheckFailure(server: string): void;
  allUnhealthy(): void;
  rejected(): void;
};

export type ForwarderOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly randomId: () => number;
  readonly cache: CacheSettings;
  readonly maxConcurrent?: number;
  readonly observer: ForwardObserver;
};

export type Forwarder = {
  /** Returns the response at once if it is cached. */
  forward(request: ForwardRequest): Forwarded | Promise<Forwarded>;
  /** Replaces the upstream servers, and empties the cache. */
  setUpstreams(groups: readonly UpstreamGroup[]): void;
  /** Sends a query to a server of the root domain, without cache and retries. */
  probe(question: Question): Promise<void>;
  /** Reports whether there is any upstream server. */
  readonly hasUpstreams: boolean;
  readonly pendingCount: number;
  cacheSize(kind: CacheKind): number;
  cacheEvictions(kind: CacheKind): number;
  close(): void;
};

/** As in the usual Corefile: more would only wait for upstream servers that do not keep up. */
const defaultMaxConcurrent = 1000;
const deadlineMs = 5000;
/** Attempts with each server. A server that refuses connections would be asked without end otherwise. */
const maxRounds = 2;
const opcodeBits = 0x7800;
const forwardedFlags =
  opcodeBits | headerFlag.recursionDesired | headerFlag.checkingDisabled | headerFlag.authenticated;
const failed: Forwarded = { outcome: 'failure', code: responseCode.serverFailure };
const refused: Forwarded = { outcome: 'failure', code: responseCode.refused };

type Group = { readonly domain: Name; readonly upstreams: readonly Upstream[] };

/** Creates a forwarder without upstream servers. */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { clock, random, randomId, observer, maxConcurrent = defaultMaxConcurrent } = options;
  const cache = createResponseCache(options.cache);
  const pending = new Map<string, Promise<Forwarded>>();
  let groups: readonly Group[] = [];

  function findGroup(name: Name): Group | undefined {
    const key = lowerCaseName(name);
    return groups.find(({ domain }) => isInZone(key, domain));
  }

  /** Returns the servers in random order; those that are down only if all are. */
  function candidates({ upstreams }: Group): readonly Upstream[] {
    const healthy = upstreams.filter(({ isDown }) => !isDown);
    if (healthy.length === 0) observer.allUnhealthy();
    const order = [...(healthy.length === 0 ? upstreams : healthy)];
    for (let index = order.length - 1; index > 0; index--) {
      const other = Math.floor(random.next() * (index + 1));
      [order[index], order[other]] = [order[other]!, order[index]!];
    }
    return order;
  }

  async function ask(key: string, request: ForwardRequest): Promise<Forwarded> {
    const { question, flags, edns, transport } = request;
    const startMs = clock.elapsedMs();
    for (let round = 0; round < maxRounds; round++) {
      // The servers may have been replaced since the last round.
      const group = findGroup(question.name);
      for (const upstream of group ? candidates(group) : []) {
        if (clock.elapsedMs() - startMs >= deadlineMs) return failed;
        try {
          const askedMs = clock.elapsedMs();
          const query = { question, flags: flags & forwardedFlags, edns };
          const message = await upstream.exchange(query, transport);
          observer.response(upstream.address, message.flags & 0xf, clock.elapsedMs() - askedMs);
          const { answers, authority, additional } = message;
          const sizeBytes = sizeOf([...answers, ...authority, ...additional]);
          const response: CachedResponse = { flags: message.flags, answers, authority, additional, sizeBytes };
          const ttlSeconds = cache.store(key, response, clock.elapsedMs());
          return respond(response, request, response.flags, ttlSeconds, 'forward');
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
          upstream.checkHealth();
        }
      }
    }
    return failed;
  }

  function askOnce(key: string, request: ForwardRequest): Promise<Forwarded> {
    // The names in a response have the case of the question: only equal spellings share it.
    const spelling = `${key} ${request.question.name.join('.')}`;
    const shared = pending.get(spelling);
    if (shared) return shared;
    if (pending.size >= maxConcurrent) {
      observer.rejected();
      return Promise.resolve(refused);
    }
    const asked = ask(key, request).finally(() => pending.delete(spelling));
    pending.set(spelling, asked);
    return asked;
  }

  return {
    forward(request) {
      const group = findGroup(request.question.name);
      if (!group || group.upstreams.length === 0) return failed;
      const key = keyOf(request);
      const hit = cache.find(key, clock.elapsedMs());
      if (!hit) {
        observer.cacheMiss();
        return askOnce(key, request);
      }
      observer.cacheHit(hit.kind);
      if (hit.isStale) {
        observer.servedStale();
        void askOnce(key, request);
      }
      // As in CoreDNS, responses from the cache are authoritative: some clients discard others without recursion.
      const flags = hit.response.flags | headerFlag.authoritative;
      return respond(hit.response, request, flags, hit.ttlSeconds, 'cache');
    },
    setUpstreams(wanted) {
      const previous = groups;
      groups = wanted
        .map(({ domain, servers }) => ({
          domain: lowerCaseName(domain),
          upstreams: servers.map((server) => {
            const upstream: Upstream = createUpstream(server, {
              clock,
              randomId,
              onHealthCheckFailure: () => observer.healthCheckFailure(upstream.address),
            });
            return upstream;
          }),
        }))
        .sort((a, b) => b.domain.length - a.domain.length);
      cache.clear();
      for (const { upstreams } of previous) for (const upstream of upstreams) upstream.close();
    },
    async probe(question) {
      const upstream = findGroup([])?.upstreams[0];
      await upstream?.exchange({ question, flags: headerFlag.recursionDesired, edns: undefined }, 'udp');
    },
    get hasUpstreams() {
      return groups.some(({ upstreams }) => upstreams.length > 0);
    },
    get pendingCount() {
      return pending.size;
    },
    cacheSize: cache.sizeOf,
    cacheEvictions: (kind) => cache.evictions[kind],
    close() {
      for (const { upstreams } of groups) for (const upstream of upstreams) upstream.close();
      groups = [];
    },
  };
}

/** Responses differ by the name, type and class, by the flags that are forwarded, and by the size that the client accepts. */
function keyOf({ question, flags, edns, transport }: ForwardRequest): string {
  const isSigned = ((edns?.flags ?? 0) & 0x8000) !== 0;
  const checks = flags & (opcodeBits | headerFlag.checkingDisabled | headerFlag.recursionDesired);
  const name = lowerCaseName(question.name)
    .map((label) => String.fromCharCode(label.length) + label)
    .join('');
  return `${question.type} ${question.class} ${checks} ${isSigned} ${transport} ${edns?.size ?? 0} ${name}`;
}

function respond(
  response: CachedResponse,
  { flags: asked, edns }: ForwardRequest,
  flags: number,
  ttl: number,
  source: 'cache' | 'forward',
): Forwarded {
  const withTtl = (records: readonly ResourceRecord[]) => records.map((each) => ({ ...each, ttl }));
  const knowsSignatures = (asked & headerFlag.authenticated) !== 0 || ((edns?.flags ?? 0) & 0x8000) !== 0;
  const copied =
    headerFlag.authoritative |
    headerFlag.truncated |
    headerFlag.recursionAvailable |
    (knowsSignatures ? headerFlag.authenticated : 0) |
    (source === 'forward' ? headerFlag.recursionDesired | headerFlag.checkingDisabled : 0) |
    0xf;
  return {
    outcome: 'response',
    source,
    flags: flags & copied,
    answers: withTtl(response.answers),
    authority: withTtl(response.authority),
    additional: withTtl(response.additional),
  };
}

/** Estimated memory of records. */
function sizeOf(records: readonly ResourceRecord[]): number {
  return records.reduce((sum, { data }) => sum + 400 + (data.kind === 'bytes' ? data.bytes.length : 200), 400);
}
