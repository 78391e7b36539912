import type { Counter, Gauge, Histogram, MetricRegistry } from '@kruise/client/metrics';
import type { Core } from '../core.ts';
import type { RequestInfo } from '../request.ts';
import { serverVersion } from '../server-version.ts';

/** What is counted of requests. The names are those that dashboards and alerts for Kubernetes know. */
export type ServerMetrics = {
  /** A request begins; what is returned is called when it is over, with the code of its answer. */
  begin(info: RequestInfo, query: URLSearchParams): (code: number) => void;
  /** Counts the events sent to watchers of a kind. */
  watchEvents(kind: { readonly group: string; readonly version: string; readonly kind: string }): () => void;
  /** A request was refused for want of room. */
  rejected(level: string, schema: string, reason: string): void;
  /** How long a request waited for room. */
  waited(level: string, schema: string, seconds: number): void;
  /** How many seats each level has, before others lend it theirs. */
  allotted(seats: ReadonlyMap<string, number>): void;
};

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const waitBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const longRunning = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);
const readOnly = new Set(['get', 'list', 'watch', 'head', 'options']);

/** Whether a request lasts for as long as its client likes, and so is neither timed out nor counted as in flight. */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || longRunning.has(subresource));
}

/** Labels that distinguish the series of a request. */
export type ServedResource = Pick<RequestInfo, 'group' | 'version' | 'plural' | 'subresource'>;

const unserved: ServedResource = { group: '', version: '', plural: '', subresource: '' };

/** Verbs as the metrics have them: in upper case, some by their methods. */
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

type Sort = {
  readonly labels: readonly string[];
  readonly codes: Map<number, Counter>;
  /** Absent for what lasts as long as its client likes. */
  readonly duration: Histogram | undefined;
  readonly lasting: Gauge | undefined;
};

/**
 * `servedOf` returns the resource that is served at the path of a request, if any: resources and subresources that
 * clients make up share one series, or they could fill the memory.
 */
export function createServerMetrics(
  metrics: MetricRegistry,
  nowMs: () => number,
  servedOf: (info: RequestInfo) => ServedResource | undefined,
): ServerMetrics {
  const about = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
  const total = metrics.counter('apiserver_request_total', 'Requests answered.', [...about, 'code']);
  const duration = metrics.histogram(
    'apiserver_request_duration_seconds',
    'How long requests took, in seconds.',
    about,
    durationBuckets,
  );
  const inflight = metrics.gauge('apiserver_current_inflight_requests', 'Requests being worked on.', ['request_kind']);
  const inflightOf = { readOnly: inflight.of('readOnly'), mutating: inflight.of('mutating') };
  const lasting = metrics.gauge('apiserver_longrunning_requests', 'Requests that last: watches, logs, sessions.', [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'scope',
    'component',
  ]);
  const watchEvents = metrics.counter('apiserver_watch_events_total', 'Events sent to watchers.', [
    'group',
    'version',
    'kind',
  ]);
  const flow = ['priority_level', 'flow_schema'];
  const rejections = metrics.counter(
    'apiserver_flowcontrol_rejected_requests_total',
    'Requests refused for want of room.',
    [...flow, 'reason'],
  );
  const waits = metrics.histogram(
    'apiserver_flowcontrol_request_wait_duration_seconds',
    'How long requests waited for room, in seconds.',
    flow,
    waitBuckets,
  );
  const nominalSeats = metrics.gauge(
    'apiserver_flowcontrol_nominal_limit_seats',
    'Requests of a priority level that are worked on at once, before others lend it room.',
    ['priority_level'],
  );
  metrics
    .gauge('kubernetes_build_info', 'The version of Kubernetes this is.', ['git_version', 'major', 'minor', 'platform'])
    .of(serverVersion.gitVersion, serverVersion.major, serverVersion.minor, serverVersion.platform)
    .set(1);

  /** The series of one sort of request, kept together: labels are written down once. */
  const known = new Map<string, Sort>();

  function seriesOf(info: RequestInfo, query: URLSearchParams): Sort {
    const { group, version, plural, subresource } = servedOf(info) ?? unserved;
    const verb = verbOf(info);
    const scope = scopeOf(info);
    const dryRun = query.get('dryRun') === 'All' ? 'All' : '';
    const id = `${verb} ${dryRun} ${group} ${version} ${plural} ${subresource} ${scope}`;
    let found = known.get(id);
    if (!found) {
      const labels = [verb, dryRun, group, version, plural, subresource, scope, 'apiserver'];
      const lasts = isLongRunning(info);
      found = {
        labels,
        codes: new Map(),
        duration: lasts ? undefined : duration.of(...labels),
        lasting: lasts ? lasting.of(verb, group, version, plural, subresource, scope, 'apiserver') : undefined,
      };
      known.set(id, found);
    }
    return found;
  }

  return {
    begin(info, query) {
      const served = seriesOf(info, query);
      const startedAt = nowMs();
      const current = served.lasting ?? (readOnly.has(info.verb) ? inflightOf.readOnly : inflightOf.mutating);
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

/** How many objects there are of each resource, and how far the caches have come. */
export function addStorageMetrics(metrics: MetricRegistry, core: Pick<Core, 'resources' | 'feed'>): void {
  const objects = metrics.gauge('apiserver_storage_objects', 'Objects stored.', ['resource']);
  const revision = metrics.gauge('apiserver_watch_cache_revision', 'The revision the caches have reached.').of();
  metrics.onRead(() => {
    objects.clear();
    for (const { kind, storage } of core.resources.all()) {
      objects.of(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`).set(storage.cache.size);
    }
    revision.set(core.feed.revision);
  });
}

const storeBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];

/** Times what the store is asked for. */
export function storeTimer(metrics: MetricRegistry): (operation: string) => Histogram {
  const durations = metrics.histogram(
    'etcd_request_duration_seconds',
    'How long the store took, in seconds.',
    ['operation', 'type'],
    storeBuckets,
  );
  return (operation) => durations.of(operation, 'all');
}
