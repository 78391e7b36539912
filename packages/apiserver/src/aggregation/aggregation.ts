import { type APIService, apiService as apiServiceKind } from '@kruise/api/apiregistration/apiservice';
import { service as serviceKind } from '@kruise/api/core/service';
import { endpointSlice as endpointSliceKind } from '@kruise/api/discovery/endpointslice';
import { statusErrorOf } from '@kruise/client/http/status-error';
import type { Transport } from '@kruise/client/transport';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { every } from '@kruise/values/clock';
import { createLookup } from '../admission/lookup.ts';
import type { WatchEvent } from '../cache/watchers.ts';
import type { Dial } from '../connect/node-connector.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { RemoteVersion } from '../discovery/discovery.ts';
import type { EndpointHandler } from '../http/non-resource-endpoints.ts';
import type { KubeObject } from '../object.ts';
import { escapePath } from '../url-path.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { type Aggregated, aggregatedVersions } from './aggregated.ts';
import { type Availability, checkAvailability } from './availability.ts';
import type { InProcessServers } from './in-process-servers.ts';
import { proxyToAggregated } from './proxy.ts';
import { type OpenApiV2, type RemoteDocuments, readRemote } from './remote-documents.ts';
import { createRemoteRequest, type RemoteResponse } from './remote-request.ts';
import { createRemotes, type FrontProxyClient } from './remotes.ts';

/** Aggregation layer: other API servers behind this one, each of which serves a group version. */
export type Aggregation = {
  /**
   * Returns the handler of a decoded path that an aggregated server serves; undefined if this server serves the path.
   */
  find(path: string): EndpointHandler | undefined;
  /** Returns a function that forwards a GET to an aggregated server; undefined if this server serves the request. */
  reader(context: RequestContext): (() => Promise<unknown>) | undefined;
  /** Group versions of the aggregated servers, for discovery. */
  versions(): readonly RemoteVersion[];
  /** Paths and hashes of the aggregated OpenAPI v3 documents. */
  openApiV3(): ReadonlyMap<string, string>;
  openApiV2(): readonly OpenApiV2[];
  /** Generation that increases with every change of the aggregated documents. */
  readonly generation: number;
  close(): void;
};

export type AggregationOptions = {
  readonly client: FrontProxyClient | undefined;
  /** API servers in this process. */
  readonly servers: InProcessServers;
  readonly send: Transport['request'];
  /** Connects to Services whose network is not that of this machine. */
  readonly dial: Dial | undefined;
  readonly onError: (error: unknown) => void;
};

const checkPeriodMs = 30_000;

/**
 * Starts the aggregation layer: watches the APIServices with a Service reference, and periodically checks the
 * availability and the documents of their servers.
 */
export function startAggregation(core: Core, options: AggregationOptions): Aggregation {
  const { servers, send, onError } = options;
  const lookup = createLookup(core.resources, core.feed);
  const services = lookup.of(apiServiceKind);
  const aggregated = aggregatedVersions(lookup);
  const remotes = createRemotes(core.clock, { ...options, resolve: createServiceResolver(lookup, core.random) });
  const requestRemote = createRemoteRequest(remotes, core.clock);
  const documents = new Map<string, RemoteDocuments>();
  const checking = new Set<string>();
  const changed = new Set<string>();
  let generation = 0;

  async function check(each: Aggregated): Promise<void> {
    if (checking.has(each.name)) {
      changed.add(each.name);
      return;
    }
    checking.add(each.name);
    try {
      const availability = await checkAvailability(lookup, servers, requestRemote, each);
      if (availability.status === 'True') {
        const read = await readRemote(requestRemote, each);
        if (JSON.stringify(read) !== JSON.stringify(documents.get(each.name))) {
          documents.set(each.name, read);
          generation++;
        }
      }
      if (await report(each.name, availability)) generation++;
    } finally {
      checking.delete(each.name);
    }
    // The APIService changed during the check, so the result may be stale.
    if (changed.delete(each.name)) await check(each);
  }

  /** Updates the Available condition unless it is unchanged. Reports whether the condition changed. */
  async function report(name: string, { status, reason, message }: Availability): Promise<boolean> {
    const known = services.get(name)?.status?.conditions ?? [];
    const existing = known.find(({ type }) => type === 'Available');
    const isSame = existing?.status === status && existing.reason === reason && existing.message === message;
    if (isSame || core.signal.aborted) return false;
    const now = `${new Date(core.clock.now()).toISOString().slice(0, 19)}Z`;
    const lastTransitionTime = existing?.status === status ? existing.lastTransitionTime : now;
    const condition = { type: 'Available', status, lastTransitionTime, reason, message };
    await send({
      method: 'PATCH',
      path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { conditions: [condition, ...known.filter((each) => each !== existing)] } },
    }).catch((error) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
    return true;
  }

  const checkSoon = (each: Aggregated): void => void check(each).catch(onError);
  const checkAll = (): void => {
    for (const each of aggregated().values()) checkSoon(each);
  };

  follow(core, apiServiceKind, (type, object) => {
    const { spec, metadata } = object as APIService;
    if (!spec?.service) return;
    if (type !== 'DELETED') {
      checkAll();
      return;
    }
    documents.delete(metadata.name ?? '');
    generation++;
  });
  const checkBehind = (name: string | undefined, namespace: string | undefined): void => {
    for (const each of aggregated().values()) {
      if (each.service.name === name && each.service.namespace === namespace) checkSoon(each);
    }
  };
  follow(core, serviceKind, (_type, { metadata }) => checkBehind(metadata.name, metadata.namespace));
  follow(core, endpointSliceKind, (_type, { metadata }) =>
    checkBehind(metadata.labels?.['kubernetes.io/service-name'], metadata.namespace),
  );
  servers.follow(checkAll);
  every(core.clock, checkPeriodMs, checkAll, core.signal);
  checkAll();

  return {
    get generation() {
      return generation;
    },
    find(path) {
      const all = aggregated();
      if (all.size === 0) return undefined;
      const [, apis, group = '', version = ''] = path.split('/');
      const found = apis === 'apis' ? all.get(`${group}/${version}`) : undefined;
      return (
        found && ((httpRequest, context, headers) => proxyToAggregated(remotes, found, httpRequest, context, headers))
      );
    },
    reader({ info, query, user }) {
      const all = aggregated();
      const found = all.size === 0 ? undefined : all.get(`${info.group}/${info.version}`);
      if (!found) return undefined;
      const escaped = escapePath(info.path);
      const path = query.size === 0 ? escaped : `${escaped}?${query}`;
      return () => requestRemote(found, path, user).then(objectIn);
    },
    versions: () =>
      Array.from(aggregated().values(), ({ name, group, version, groupPriority, versionPriority, isAvailable }) => ({
        group,
        version,
        groupPriority,
        versionPriority,
        isAvailable,
        resources: documents.get(name)?.resources,
      })),
    openApiV3() {
      const found = new Map<string, string>();
      for (const { name, group, version } of aggregated().values()) {
        const hash = documents.get(name)?.openApiV3Hash;
        if (hash !== undefined) found.set(`apis/${group}/${version}`, hash);
      }
      return found;
    },
    openApiV2: () => Array.from(aggregated().values(), ({ name }) => documents.get(name)?.openApiV2 ?? []).flat(),
    close: () => remotes.close(),
  };
}

function objectIn({ code, text }: RemoteResponse): unknown {
  if (code !== 200) throw statusErrorOf({ code, body: text });
  return JSON.parse(text);
}

/** Calls back for every change of a kind from now on. */
function follow(core: Core, kind: Kind, changed: (type: WatchEvent['type'], object: KubeObject) => void): void {
  const { storage } = core.resources.find(kind.group, kind.version, kind.plural)!;
  storage.cache.listAndWatch(
    { keyPrefix: storage.prefix },
    { signal: core.signal, end: () => {}, receive: ({ type, cached }) => changed(type, cached.object) },
  );
}
