import type { Counter, Gauge, Histogram, MetricRegistry } from '@kruise/client/metrics';
import type { Core } from '../core.ts';
import type { RequestInfo } from '../request-info.ts';
import { serverVersion } from '../server-version.ts';

/** Request metrics, with the names of Kubernetes, so that its dashboards and alerts work. */
export type ServerMetrics = {
  /** Records the start of a request. The returned function records its end with the status code. */
  begin(info: RequestInfo, query: URLSearchParams): (code: number) => void;
  /** Returns a counter of watch events of a kind. */
  watchEvents(kind: { readonly group: string; readonly version: string; readonly kind: string }): () => void;
  /** Records a request that priority and fairness rejected. */
  rejected(level: string, schema: string, reason: string): void;
  /** Records the time that a request waited in a queue. */
  waited(level: string, schema: string, seconds: number): void;
  /** Sets the nominal seats of each level, before borrowing. */
  allotted(seats: ReadonlyMap<string, number>): void;
};

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const waitBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const longRunning = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);
const readOnly = new Set(['get', 'list', 'watch', 'head', 'options']);

/** Reports whether a request is long-running, and therefore has no timeout and is not counted as in flight. */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || longRunning.has(subresource));
}

/** Labels that distinguish the series of a request. */
export type ServedResource = Pick<RequestInfo, 'group' | 'version' | 'plural' | 'subresource'>;

const unserved: ServedResource = { group: '', version: '', plural: '', subresource: '' };

/** Verbs in metrics: upper case, some replaced by their methods. */
const verbNames: { readonly [verb: string]: string } = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  post: 'POST',
  put: 'PUT',
  head: 'HEAD',
  options: 'OPTIONS',
};

function verbOf({ verb }: RequestInfo): string {
  return verbNames[verb] ?? 'other';
}

function scopeOf({ isResource, namespace, name, verb }: RequestInfo): string {
  if (!isResource) return '';
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

type RequestSeries = {
  readonly labels: readonly string[];
  readonly codes: Map<number, Counter>;
  /** Histogram of durations; absent for long-running requests. */
  readonly duration: Histogram | undefined;
  readonly longRunningGauge: Gauge | undefined;
};

/**
 * Creates the request metrics. `servedOf` returns the resource that is served at the path of a request, if any. Unknown
 * resources and subresources share one series, or clients could exhaust the memory.
 */
export function createServerMetrics(
  metrics: MetricRegistry,
  nowMs: () => number,
  servedOf: (info: RequestInfo) => ServedResource | undefined,
): ServerMetrics {
  const about = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
  const total = metrics.counter(
    'apiserver_request_total',
    'Number of completed API server requests, by verb, resource and response code.',
    [...about, 'code'],
  );
  const duration = metrics.histogram(
    'apiserver_request_duration_seconds',
    'Latency of API server requests in seconds, except for long-running requests.',
    about,
    durationBuckets,
  );
  const inflight = metrics.gauge(
    'apiserver_current_inflight_requests',
    'Number of in-flight requests, by request kind.',
    ['request_kind'],
  );
  const inflightOf = { readOnly: inflight.of('readOnly'), mutating: inflight.of('mutating') };
  const longRunningGauge = metrics.gauge(
    'apiserver_longrunning_requests',
    'Number of active long-running requests: watches, logs and streams.',
    ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
  );
  const watchEvents = metrics.counter('apiserver_watch_events_total', 'Number of events sent to watch clients.', [
    'group',
    'version',
    'kind',
  ]);
  const flow = ['priority_level', 'flow_schema'];
  const rejections = metrics.counter(
    'apiserver_flowcontrol_rejected_requests_total',
    'Number of requests rejected by API priority and fairness.',
    [...flow, 'reason'],
  );
  const waits = metrics.histogram(
    'apiserver_flowcontrol_request_wait_duration_seconds',
    'Time that requests waited in a queue of their priority level, in seconds.',
    flow,
    waitBuckets,
  );
  const nominalSeats = metrics.gauge(
    'apiserver_flowcontrol_nominal_limit_seats',
    'Nominal number of seats of a priority level, before borrowing.',
    ['priority_level'],
  );
  metrics
    .gauge('kubernetes_build_info', 'Constant 1, labeled with the Kubernetes version of this server.', [
      'git_version',
      'major',
      'minor',
      'platform',
    ])
    .of(serverVersion.gitVersion, serverVersion.major, serverVersion.minor, serverVersion.platform)
    .set(1);

  /** Series by type of request, so that labels are formatted once. */
  const known = new Map<string, RequestSeries>();

  function seriesOf(info: RequestInfo, query: URLSearchParams): RequestSeries {
    const { group, version, plural, subresource } = servedOf(info) ?? unserved;
    const verb = verbOf(info);
    const scope = scopeOf(info);
    const dryRun = query.get('dryRun') === 'All' ? 'All' : '';
    const id = `${verb} ${dryRun} ${group} ${version} ${plural} ${subresource} ${scope}`;
    let found = known.get(id);
    if (!found) {
      const labels = [verb, dryRun, group, version, plural, subresource, scope, 'apiserver'];
      const isLong = isLongRunning(info);
      found = {
        labels,
        codes: new Map(),
        duration: isLong ? undefined : duration.of(...labels),
        longRunningGauge: isLong
          ? longRunningGauge.of(verb, group, version, plural, subresource, scope, 'apiserver')
          : undefined,
      };
      known.set(id, found);
    }
    return found;
  }

  return {
    begin(info, query) {
      const served = seriesOf(info, query);
      const startedAt = nowMs();
      const current = served.longRunningGauge ?? (readOnly.has(info.verb) ? inflightOf.readOnly : inflightOf.mutating);
      current.increase();
      return (code) => {
        current.decrease();
        let counter = served.codes.get(code);
        if (!counter) served.codes.set(code, (counter = total.of(...served.labels, String(code))));
        counter.increase();
        served.duration?.observe((nowMs() - startedAt) / 1000);
      };
    },
    watchEvents({ group, version, kind }) {
      const series = watchEvents.of(group, version, kind);
      return () => series.increase();
    },
    rejected: (level, schema, reason) => rejections.of(level, schema, reason).increase(),
    waited: (level, schema, seconds) => waits.of(level, schema).observe(seconds),
    allotted(seats) {
      nominalSeats.clear();
      for (const [level, count] of seats) nominalSeats.of(level).set(count);
    },
  };
}

/** Returns the resource that the server serves at the path of a request; undefined for paths that are not served. */
export function servedResource(
  { resources, virtual }: Pick<Core, 'resources' | 'virtual'>,
  { group, version, plural, subresource }: RequestInfo,
): ServedResource | undefined {
  const resource = resources.find(group, version, plural);
  const isServed = resource
    ? subresource === '' || resource.subresources.has(subresource)
    : subresource === '' && virtual.has(`${group}/${version}/${plural}`);
  return isServed ? { group, version, plural, subresource } : undefined;
}

/** Adds metrics of object counts per resource, and of the cache revision. */
export function addStorageMetrics(metrics: MetricRegistry, core: Pick<Core, 'resources' | 'feed'>): void {
  const objects = metrics.gauge('apiserver_storage_objects', 'Number of stored objects, by resource.', ['resource']);
  const revision = metrics
    .gauge('apiserver_watch_cache_revision', 'Store revision that the watch cache has reached.')
    .of();
  metrics.onCollect(() => {
    objects.clear();
    for (const { kind, storage } of core.resources.all()) {
      objects.of(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`).set(storage.cache.size);
    }
    revision.set(core.feed.revision);
  });
}

const storeBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];

/** Creates histograms of store operations. */
export function storeTimer(metrics: MetricRegistry): (operation: string) => Histogram {
  const durations = metrics.histogram(
    'etcd_request_duration_seconds',
    'Latency of store operations in seconds, by operation.',
    ['operation', 'type'],
    storeBuckets,
  );
  return (operation) => durations.of(operation, 'all');
}
