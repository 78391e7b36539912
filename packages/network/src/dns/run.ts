/** Runs a DNS server: informers, sockets, upstream servers, health, readiness and metrics. */
import { type Namespace, namespace } from '@kruise/api/core/namespace';
import { type Service, service } from '@kruise/api/core/service';
import { type EndpointSlice, endpointSlice } from '@kruise/api/discovery/endpointslice';
import type { Client } from '@kruise/client/client';
import { type HttpReply, type HttpServer, metricsReply, notFound, serveHttp } from '@kruise/client/http-server';
import { type Informer, startInformer, withoutManagedFields } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import type { MetricRegistry } from '@kruise/client/metrics';
import type { KubernetesObject } from '@kruise/client/object-key';
import { aborted } from '@kruise/values/aborted';
import { after, type Clock, every } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { defaultReverseZones } from './answer.ts';
import { clusterReader } from './cluster.ts';
import { createDnsMetrics } from './dns-metrics.ts';
import { createForwarder, type Forwarder, type UpstreamGroup } from './forwarder.ts';
import { createQueryHandler, failureResponse, type QueryHandler } from './handler.ts';
import { type DnsListener, listenDns } from './listen.ts';
import { internetClass, lowerCaseName, type Name, parseName, type Question, recordType } from './message.ts';
import { UpstreamError } from './upstream.ts';

export type DnsOptions = {
  /** Client with the permission to list and watch Services, EndpointSlices and Namespaces. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Returns an unpredictable number below 65536, for the IDs of forwarded queries. */
  readonly randomId: () => number;
  readonly log: Log;
  readonly registry: MetricRegistry;
  /** Addresses to listen on, and the port for both protocols; 0 selects a free one. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Ports of `/health`, `/ready` and `/metrics`; undefined disables, 0 selects a free one. */
  readonly healthPort?: number;
  readonly readyPort?: number;
  readonly metricsPort?: number;
  /** Cluster domains; PTR records point into the first. */
  readonly clusterDomains: readonly string[];
  /** Zones of the PTR records; all of IPv4 and IPv6 by default. */
  readonly reverseZones?: readonly string[];
  readonly ttlSeconds: number;
  /** Addresses of this server in the cluster, for the NS records of its zones. */
  readonly localAddresses: readonly string[];
  /** Limits of the cache of forwarded responses. */
  readonly cacheSeconds: number;
  readonly staleSeconds: number;
  /** Returns the upstream servers; the domain without labels is that of all other names. It is called again on reload. */
  readonly readUpstreams: () => Promise<readonly UpstreamGroup[]>;
  readonly reloadMs: number;
  /** Time for which queries are still answered after the signal, while clients learn that the server goes. */
  readonly lameduckMs: number;
  readonly onListening?: (ports: DnsPorts) => void;
};

export type DnsPorts = {
  readonly dns: number;
  readonly health: number | undefined;
  readonly ready: number | undefined;
  readonly metrics: number | undefined;
};

/** A query came back through its upstream server. */
export class ForwardingLoopError extends Error {
  override readonly name = 'ForwardingLoopError';
}

/** Time to wait for the caches before the server starts without them, and to finish pending queries. */
const syncTimeoutMs = 5000;
const graceMs = 5000;

/** Serves DNS until the signal is aborted. Rejects if it cannot listen, or if forwarded queries come back. */
export async function runDns(options: DnsOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, registry, addresses, port } = options;
  // The informers outlive the signal: queries are answered until the end of the lameduck period.
  const stopped = new AbortController();
  const metrics = createDnsMetrics(registry, `dns://:${port}`);
  const caches = startCaches(options, stopped.signal);
  const forwarder = createForwarder({
    clock,
    random: options.random,
    randomId: options.randomId,
    cache: { maxSeconds: options.cacheSeconds, staleSeconds: options.staleSeconds },
    observer: metrics.forwardObserver,
  });
  metrics.attachCache(forwarder);
  const loop = createLoopDetector(options);
  const zones = {
    domains: options.clusterDomains.map((each) => lowerCaseName(parseName(each))),
    reverseZones: options.reverseZones?.map((each) => lowerCaseName(parseName(each))) ?? defaultReverseZones,
    ttlSeconds: options.ttlSeconds,
    localAddresses: options.localAddresses,
  };
  const handler = createQueryHandler({
    cluster: caches.reader,
    zones: () => zones,
    hasSynced: caches.hasSynced,
    forwarder,
    random: options.random,
    observe: metrics.observeQuery,
    onForward: loop.onForward,
  });
  caches.onChange(handler, clock);
  const reload = createReloader(options, forwarder, metrics.reloadFailures);

  const listeners: DnsListener[] = [];
  const servers: HttpServer[] = [];
  let isLeaving = false;
  try {
    await reload();
    await caches.syncedWithin(syncTimeoutMs, signal);
    if (!caches.hasSynced()) log.warn({}, 'starting server with unsynced Kubernetes API');
    const handle = timed(guarded(handler.handle, log, metrics.panics), clock, metrics.observeDuration);
    let dnsPort = port;
    for (const host of addresses) {
      const onError = (error: unknown) => log.error({ error, host }, 'DNS query failed');
      const listener = await listenDns({ host, port: dnsPort, clock, handle, onError });
      listeners.push(listener);
      // With port 0, the port of the first address is that of all.
      dnsPort = listener.port;
    }
    // Probes and scrapes come from other machines, and so the ports are open on all addresses, as those of CoreDNS.
    const serve = async (wanted: number | undefined, served: string, reply: (accept?: string) => HttpReply) => {
      if (wanted === undefined) return undefined;
      const server = await serveHttp({ port: wanted }, ({ path, headers }) =>
        path === served ? reply(headers.accept) : notFound,
      );
      servers.push(server);
      return server.port;
    };
    const ports: DnsPorts = {
      dns: dnsPort,
      health: await serve(options.healthPort, '/health', () => ({ code: 200, body: 'OK' })),
      ready: await serve(options.readyPort, '/ready', () =>
        caches.hasSynced() && !isLeaving ? { code: 200, body: 'OK' } : { code: 503, body: 'kubernetes' },
      ),
      metrics: await serve(options.metricsPort, '/metrics', (accept) => metricsReply(registry, accept)),
    };
    log.info({ addresses, ...ports, domains: options.clusterDomains }, 'serving DNS');
    options.onListening?.(ports);
    every(clock, options.reloadMs, () => void reload(), stopped.signal);
    await loop.check(forwarder);
    await aborted(signal);
    isLeaving = true;
    log.info({ lameduckMs: options.lameduckMs }, 'shutting down');
    if (options.lameduckMs > 0) await after(clock, options.lameduckMs);
  } finally {
    await Promise.all(listeners.map((each) => each.close(graceMs)));
    await Promise.all(servers.map((each) => each.close()));
    forwarder.close();
    stopped.abort();
  }
}

type Caches = {
  readonly reader: ReturnType<typeof clusterReader>;
  hasSynced(): boolean;
  syncedWithin(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Marks answers as stale when their objects change. */
  onChange(handler: QueryHandler, clock: Clock): void;
};

function startCaches({ client, clock, random, log }: DnsOptions, signal: AbortSignal): Caches {
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ error }, 'request to the API server failed');
  };
  const informerOptions = { onError, transform: withoutManagedFields };
  const services: Informer<Service> = startInformer(client, clock, random, service, informerOptions, signal);
  const slices: Informer<EndpointSlice> = startInformer(client, clock, random, endpointSlice, informerOptions, signal);
  const namespaces: Informer<Namespace> = startInformer(client, clock, random, namespace, informerOptions, signal);
  const all = [services, slices, namespaces];
  return {
    reader: clusterReader(services, slices, namespaces),
    hasSynced: () => all.every((each) => each.hasSynced()),
    async syncedWithin(timeoutMs, ending) {
      const waiting = new AbortController();
      await Promise.race([
        Promise.all(all.map(({ synced }) => synced)),
        new Promise<void>((resolve) => clock.setTimer(timeoutMs, resolve, waiting.signal)),
        aborted(ending),
      ]);
      waiting.abort();
    },
    onChange(handler) {
      const setSerial = () => handler.setSerial(Math.floor(clock.now() / 1000));
      const onObject = ({ object }: { readonly object: KubernetesObject }) => {
        handler.onObjectChange(object.metadata.namespace ?? '');
        setSerial();
      };
      setSerial();
      services.handle(onObject);
      slices.handle(onObject);
      namespaces.handle(({ type, object }) => {
        if (type !== 'updated') handler.onNamespaceChange(object.metadata.name ?? '');
      });
    },
  };
}

/** Applies the upstream servers when they have changed. A setting that cannot be read leaves the last one in force. */
function createReloader(
  { readUpstreams, log }: DnsOptions,
  forwarder: Forwarder,
  failures: { increase(): void },
): () => Promise<void> {
  let applied: string | undefined;
  return async () => {
    try {
      const groups = await readUpstreams();
      const text = JSON.stringify(groups);
      if (text === applied) return;
      forwarder.setUpstreams(groups);
      log.info({ upstreams: groups }, applied === undefined ? 'upstream servers' : 'upstream servers reloaded');
      applied = text;
    } catch (error) {
      // Without any setting there is nothing to continue with.
      if (applied === undefined) throw error;
      failures.increase();
      log.error({ error }, 'failed to reload the upstream servers');
    }
  };
}

type LoopDetector = {
  onForward(question: Question): void;
  /** Asks an upstream server for a random name. Rejects if this server receives that question itself. */
  check(forwarder: Forwarder): Promise<void>;
};

function createLoopDetector({ randomId, log }: DnsOptions): LoopDetector {
  const name: Name = [randomId(), randomId(), randomId(), randomId()].map(String);
  const question: Question = { name, type: recordType.HINFO, class: internetClass };
  let seen = 0;
  return {
    onForward(asked) {
      if (asked.type === recordType.HINFO && asked.name.length === 4 && asked.name.join('.') === name.join('.')) seen++;
    },
    async check(forwarder) {
      try {
        await forwarder.probe(question);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        log.warn({ error }, 'upstream server did not answer the loop probe');
      }
      if (seen > 0) {
        throw new ForwardingLoopError(
          'loop detected: the upstream server sends queries back to this server; set --upstream, or a resolv.conf that does not name it',
        );
      }
    },
  };
}

/** A query whose handling fails must not end the server: it is answered with a failure, and counted. */
function guarded(handle: QueryHandler['handle'], log: Log, panics: { increase(): void }): QueryHandler['handle'] {
  const recover = (error: unknown, message: Uint8Array): Uint8Array => {
    panics.increase();
    log.error({ error, query: Buffer.from(message).toString('hex') }, 'DNS query handler failed');
    return failureResponse(message);
  };
  return (message, length, client) => {
    try {
      const response = handle(message, length, client);
      if (!(response instanceof Promise)) return response;
      const copy = message.slice(0, length);
      return response.catch((error: unknown) => recover(error, copy));
    } catch (error) {
      return recover(error, message.subarray(0, length));
    }
  };
}

/** Measures each query until its response is known. */
function timed(
  handle: QueryHandler['handle'],
  clock: Clock,
  observe: (elapsedMs: number) => void,
): QueryHandler['handle'] {
  return (message, length, client) => {
    const startMs = clock.elapsedMs();
    const response = handle(message, length, client);
    if (response instanceof Promise) {
      return response.then((bytes) => {
        observe(clock.elapsedMs() - startMs);
        return bytes;
      });
    }
    observe(clock.elapsedMs() - startMs);
    return response;
  };
}
