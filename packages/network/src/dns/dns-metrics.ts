/** Metrics under the names of CoreDNS, so that its dashboards and alerts work. */
import { type Counter, exponentialBounds, type Histogram, type MetricRegistry } from '@kruise/client/metrics';
import type { Forwarder, ForwardObserver } from './forwarder.ts';
import type { QueryObserver } from './handler.ts';
import { recordType } from './message.ts';

export type DnsMetrics = {
  readonly observeQuery: QueryObserver;
  /** Observes the time that a batch of queries took. */
  readonly observeDuration: (elapsedMs: number) => void;
  readonly forwardObserver: ForwardObserver;
  /** Counts the entries of the cache at each collection. */
  attachCache(forwarder: Pick<Forwarder, 'cacheSize' | 'cacheEvictions'>): void;
  readonly reloadFailures: Counter;
  /** Queries whose handling failed. */
  readonly panics: Counter;
};

/** From 0.25 ms to 8 s, doubling. */
const timeBuckets = exponentialBounds(0.00025, 2, 16);
const sizeBuckets = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16e3, 32e3, 48e3, 64e3];

const codeNames = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
/** Types with a label of their own; all others are counted together, because clients choose them. */
const typeNames = new Map<number, string>(Object.entries(recordType).map(([name, number]) => [number, name]));
for (const [name, number] of [
  ['DS', 43],
  ['DNSKEY', 48],
  ['RRSIG', 46],
  ['NSEC', 47],
  ['HTTPS', 65],
  ['SVCB', 64],
  ['ANY', 255],
] as const) {
  typeNames.set(number, name);
}
const zone = '.';
const view = '';

/** Registers the metrics of a server, whose address is a label of each, for example `dns://:53`. */
export function createDnsMetrics(registry: MetricRegistry, server: string): DnsMetrics {
  const requests = registry.counter(
    'coredns_dns_requests_total',
    'Counter of DNS requests made per zone, protocol and family.',
    ['server', 'zone', 'view', 'proto', 'family', 'type'],
  );
  const responses = registry.counter('coredns_dns_responses_total', 'Counter of response status codes.', [
    'server',
    'zone',
    'view',
    'rcode',
    'plugin',
  ]);
  const dnssec = registry
    .counter('coredns_dns_do_requests_total', 'Counter of DNS requests with DO bit set per zone.', [
      'server',
      'zone',
      'view',
    ])
    .of(server, zone, view);
  const duration = registry
    .histogram(
      'coredns_dns_request_duration_seconds',
      'Histogram of the time (in seconds) each request took per zone.',
      ['server', 'zone', 'view'],
      timeBuckets,
    )
    .of(server, zone, view);
  const sizeLabels = ['server', 'zone', 'view', 'proto'];
  const requestSize = registry.histogram(
    'coredns_dns_request_size_bytes',
    'Size of the EDNS0 UDP buffer in bytes (64K for TCP) per zone and protocol.',
    sizeLabels,
    sizeBuckets,
  );
  const responseSize = registry.histogram(
    'coredns_dns_response_size_bytes',
    'Size of the returned response in bytes.',
    sizeLabels,
    sizeBuckets,
  );
  const cacheLabels = ['server', 'zones', 'view'];
  const cacheRequests = registry
    .counter('coredns_cache_requests_total', 'The count of cache requests.', cacheLabels)
    .of(server, zone, view);
  const cacheMisses = registry
    .counter(
      'coredns_cache_misses_total',
      'The count of cache misses. Deprecated, derive misses from cache hits/requests counters.',
      cacheLabels,
    )
    .of(server, zone, view);
  const servedStale = registry
    .counter('coredns_cache_served_stale_total', 'The number of requests served from stale cache entries.', cacheLabels)
    .of(server, zone, view);
  const cacheHits = registry.counter('coredns_cache_hits_total', 'The count of cache hits.', [
    'server',
    'type',
    'zones',
    'view',
  ]);
  const proxyDuration = registry.histogram(
    'coredns_proxy_request_duration_seconds',
    'Histogram of the time each request took.',
    ['proxy_name', 'to', 'rcode'],
    timeBuckets,
  );
  const healthFailures = registry.counter(
    'coredns_proxy_healthcheck_failures_total',
    'Counter of the number of failed healthchecks.',
    ['proxy_name', 'to'],
  );
  const broken = registry
    .counter(
      'coredns_forward_healthcheck_broken_total',
      'Counter of the number of complete failures of the healthchecks.',
    )
    .of();
  const rejects = registry
    .counter(
      'coredns_forward_max_concurrent_rejects_total',
      'Counter of the number of queries rejected because the concurrent queries were at maximum.',
    )
    .of();
  const reloadFailures = registry
    .counter('coredns_reload_failed_total', 'Counter of the number of failed reload attempts.')
    .of();
  const panics = registry.counter('coredns_panics_total', 'A metrics that counts the number of panics.').of();
  const enabled = registry.gauge(
    'coredns_plugin_enabled',
    'A metric that indicates whether a plugin is enabled on per server and zone basis.',
    ['server', 'zone', 'view', 'name'],
  );
  for (const plugin of [
    'cache',
    'errors',
    'forward',
    'health',
    'kubernetes',
    'loadbalance',
    'loop',
    'prometheus',
    'ready',
    'reload',
  ]) {
    enabled.of(server, zone, view, plugin).set(1);
  }

  // Series by a number that stands for their labels, so that a query creates no string.
  const byRequest = new Map<number, Counter>();
  const byResponse = new Map<string, (Counter | undefined)[]>();
  const sizesOf = (transport: 'udp' | 'tcp'): readonly [Histogram, Histogram] => [
    requestSize.of(server, zone, view, transport),
    responseSize.of(server, zone, view, transport),
  ];
  const udpSizes = sizesOf('udp');
  const tcpSizes = sizesOf('tcp');

  return {
    observeQuery({ transport, family }, { type, sizeBytes, isDnssecOk }, { code, sizeBytes: responseBytes, source }) {
      const typeName = typeNames.get(type);
      const key = ((typeName === undefined ? 0 : type) << 4) | (family << 1) | (transport === 'udp' ? 0 : 1);
      let counted = byRequest.get(key);
      if (!counted) {
        counted = requests.of(server, zone, view, transport, family === 4 ? '1' : '2', typeName ?? 'other');
        byRequest.set(key, counted);
      }
      counted.increase();
      let ofSource = byResponse.get(source);
      if (!ofSource) byResponse.set(source, (ofSource = new Array<Counter | undefined>(16).fill(undefined)));
      let answered = ofSource[code];
      if (!answered)
        ofSource[code] = answered = responses.of(server, zone, view, codeNames[code] ?? String(code), source);
      answered.increase();
      const sizes = transport === 'udp' ? udpSizes : tcpSizes;
      sizes[0].observe(sizeBytes);
      sizes[1].observe(responseBytes);
      if (isDnssecOk) dnssec.increase();
    },
    observeDuration: (elapsedMs) => duration.observe(elapsedMs / 1000),
    forwardObserver: {
      cacheHit(kind) {
        cacheRequests.increase();
        cacheHits.of(server, kind, zone, view).increase();
      },
      cacheMiss() {
        cacheRequests.increase();
        cacheMisses.increase();
      },
      servedStale: () => servedStale.increase(),
      response: (to, code, elapsedMs) =>
        proxyDuration.of('forward', to, codeNames[code] ?? String(code)).observe(elapsedMs / 1000),
      healthCheckFailure: (to) => healthFailures.of('forward', to).increase(),
      allUnhealthy: () => broken.increase(),
      rejected: () => rejects.increase(),
    },
    attachCache(forwarder) {
      const entries = registry.gauge('coredns_cache_entries', 'The number of elements in the cache.', [
        'server',
        'type',
        'zones',
        'view',
      ]);
      const evicted = registry.counter('coredns_cache_evictions_total', 'The count of cache evictions.', [
        'server',
        'type',
        'zones',
        'view',
      ]);
      const counted = { success: 0, denial: 0 };
      registry.onCollect(() => {
        for (const kind of ['success', 'denial'] as const) {
          entries.of(server, kind, zone, view).set(forwarder.cacheSize(kind));
          evicted.of(server, kind, zone, view).increase(forwarder.cacheEvictions(kind) - counted[kind]);
          counted[kind] = forwarder.cacheEvictions(kind);
        }
      });
    },
    reloadFailures,
    panics,
  };
}
