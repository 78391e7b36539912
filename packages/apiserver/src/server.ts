import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import { addProcessMetrics, createMetrics, type MetricRegistry } from '@kruise/client/metrics';
import type { Transport } from '@kruise/client/transport';
import { addressAt, formatAddress, maskPrefix, parsePrefix } from '@kruise/values/address';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { type AdmissionPlugin, admissionChain } from './admission/admission.ts';
import { defaultPlugins } from './admission/default-chain.ts';
import { type Aggregation, startAggregation } from './aggregation/aggregation.ts';
import { createInProcessServers, type InProcessServers } from './aggregation/in-process-servers.ts';
import type { FrontProxyClient } from './aggregation/remotes.ts';
import { allocateForServices } from './allocation/attach.ts';
import type { AuditLog } from './audit/audit.ts';
import { type AuthenticationOptions, createAuthentication } from './authentication/authentication.ts';
import { anonymousUsers, authenticators } from './authentication/authenticator.ts';
import { bearerTokens } from './authentication/bearer-tokens.ts';
import { clientCertificates } from './authentication/client-certificate.ts';
import { frontProxies } from './authentication/front-proxy.ts';
import { recordLegacyTokenUse } from './authentication/legacy-token-usage.ts';
import { createAuthorization } from './authorization/authorization.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { bootstrap } from './bootstrap/bootstrap.ts';
import { followFlowSchemas } from './bootstrap/flow-schema-status.ts';
import { maintainRegistration } from './bootstrap/server-registration.ts';
import { startFeed } from './cache/feed.ts';
import { compactRegularly } from './compaction.ts';
import { hostAndPort } from './connect/backend.ts';
import { addConnectSubresources } from './connect/connect-subresources.ts';
import { type NodeConnector, networkConnector } from './connect/node-connector.ts';
import type { Core, Features } from './core.ts';
import { createApiServiceSync } from './custom/api-service-sync.ts';
import type { Converter } from './custom/converter.ts';
import { createConverters } from './custom/converters.ts';
import type { Definition } from './custom/definition.ts';
import { followDefinitions } from './custom/definitions.ts';
import { createCustomServing } from './custom/serving.ts';
import { createBackgroundScheduler, type Pause } from './flow-control/background.ts';
import { createFlowControl } from './flow-control/flow-control.ts';
import { createFrameCache } from './http/frame-cache.ts';
import { toHttpRequest, toUpgradeRequest } from './http/http-request.ts';
import { createInFlight } from './http/in-flight.ts';
import { createHttpsServer, type HttpsServer, type Listener, listen } from './http/listener.ts';
import { openIdEndpoints } from './http/openid-endpoints.ts';
import { serverEndpoints } from './http/server-endpoints.ts';
import { addStorageMetrics, createServerMetrics, servedResource } from './metrics/server-metrics.ts';
import { timedStore } from './metrics/timed-store.ts';
import { createHttpPipeline } from './pipeline/http-pipeline.ts';
import { inProcessTransport } from './pipeline/in-process.ts';
import { addSubresource, createResourceRegistry } from './registry.ts';
import { builtinResources } from './resources/builtin.ts';
import { addPodActions, coreVirtualResources } from './resources/pod-actions.ts';
import { guardPolicyParams } from './resources/policy-params.ts';
import { tokenSubresource } from './resources/token-request.ts';
import { reviews } from './reviews/reviews.ts';
import type { Store } from './store/store.ts';
import { serverItself } from './user.ts';
import type { InProcessWebhooks } from './webhook/caller.ts';

/** Configuration of a server. */
export type ServerParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Authorizer; the default is the node authorizer and RBAC. */
  readonly authorizer?: Authorizer;
  readonly authentication?: AuthenticationOptions;
  /** CAs of client and front-proxy certificates, as PEM. */
  readonly clientAuthority?: string;
  readonly frontProxyAuthority?: string;
  /** Service CIDRs. */
  readonly serviceRanges?: readonly string[];
  /** Admission plugins; the default is Kubernetes' set. */
  readonly admission?: readonly AdmissionPlugin[];
  /** In-process webhooks; entries may be added at any time. */
  readonly inProcessWebhooks?: InProcessWebhooks;
  /** In-process API servers; entries may be added at any time. */
  readonly inProcessServers?: InProcessServers;
  readonly features?: Partial<Features>;
  /** Idle time after which background work may run. */
  readonly pause?: Pause;
  /** Connects to nodes and Pods; the default uses the network without a client certificate. */
  readonly nodes?: NodeConnector;
  /** Returns the built-in converter of a definition, if the server has one. */
  readonly converterOf?: (definition: Definition) => Converter | undefined;
  /** Front-proxy client certificate for aggregated servers. */
  readonly frontProxyClient?: FrontProxyClient;
  /** Audit log, if auditing is enabled. */
  readonly audit?: AuditLog;
  /**
   * Time that the server keeps serving after its readiness check starts to fail, so that load balancers stop sending
   * new clients.
   */
  readonly shutdownDelayMs?: number;
  /** Metric registry; the default is a new registry, served at `/metrics`. */
  readonly metrics?: MetricRegistry;
  readonly onError: (error: unknown) => void;
  /** Freezes every cached object, so that code that mutates one fails: for tests. */
  readonly freezeObjects?: boolean;
};

/** Running API server, reachable in this process; `serveHttps` listens for other clients. */
export type ApiServer = {
  readonly core: Core;
  serveHttps(options: HttpsOptions): Promise<AnnouncedListener>;
  /** Serves HTTPS on connections that do not come from this machine's network. */
  serveConnections(options: ConnectionsOptions): HttpsServer;
  close(): Promise<void>;
};

export type AnnouncedListener = Listener & {
  /** Resolves when the `kubernetes` Service and the identity Lease are written. Requests are served before. */
  readonly registered: Promise<void>;
};

export type HttpsOptions = {
  readonly host: string;
  /** Additional addresses to listen on, at the same port. */
  readonly moreHosts?: readonly string[];
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** Address at which Pods reach the server. */
  readonly advertisedIp?: string | undefined;
};

export type ConnectionsOptions = Pick<HttpsOptions, 'certificate' | 'key'> & {
  /** Address of the server for clients. */
  readonly address: string;
};

const defaultServiceRanges = ['10.96.0.0/16'];
/** Common names of front-proxy certificates. */
const allowedNames = ['front-proxy-client'];

/** Maximum time to drain in-flight requests at shutdown: the request timeout. */
const longestShutdownMs = 60_000;

/** Starts an API server on a store. */
export async function startApiServer(parts: ServerParts): Promise<ApiServer> {
  const { clock, random, serviceRanges = defaultServiceRanges } = parts;
  const stopped = new AbortController();
  // In-flight requests at shutdown still read their own writes.
  const feedStopped = new AbortController();
  const metrics = parts.metrics ?? createMetrics();
  const serverMetrics = createServerMetrics(
    metrics,
    () => clock.now(),
    (info) => servedResource(core, info),
  );
  addProcessMetrics(metrics, process, clock.now());
  const store = timedStore(parts.store, metrics, () => clock.now());
  const feed = startFeed(store, clock, {
    afterRevision: await store.currentRevision(),
    signal: feedStopped.signal,
    onFailure: parts.onError,
    freeze: parts.freezeObjects ?? false,
  });
  const oldestRevision = compactRegularly(store, clock, { signal: stopped.signal, onError: parts.onError });
  const resources = createResourceRegistry();
  for (const resource of await builtinResources(store, feed)) resources.add(resource);
  await allocateForServices(resources, { store, clock, random, serviceRanges });
  const { authorizer, rbac } = createAuthorization(resources, stopped.signal);
  const authentication = createAuthentication(resources, clock, random, {
    ...parts.authentication,
    onLegacyUse: (secret) => recordLegacyTokenUse(core, secret, parts.onError),
  });
  const send: Transport['request'] = (request) =>
    inProcessTransport(core, serverItself, 'kube-apiserver').request(request);
  const virtual = new Map(reviews({ authorizer: parts.authorizer ?? authorizer, rbac, authentication }));
  let aggregation: Aggregation | undefined;
  const core: Core = {
    clock,
    random,
    store,
    oldestRevision,
    feed,
    resources,
    virtual,
    aggregatedReader: (context) => aggregation?.reader(context),
    admission: admissionChain(
      parts.admission ??
        defaultPlugins({
          resources,
          feed,
          rbac,
          clock,
          random,
          authorizer: parts.authorizer ?? authorizer,
          send,
          signal: stopped.signal,
          inProcessWebhooks: parts.inProcessWebhooks,
          dial: parts.nodes?.dial,
        }),
    ),
    authorizer: parts.authorizer ?? authorizer,
    features: { watchList: false, ...parts.features },
    controls: {
      flow: createFlowControl(resources, clock, serverMetrics),
      background: createBackgroundScheduler(clock, parts.pause),
      metrics: serverMetrics,
      audit: parts.audit,
    },
    signal: stopped.signal,
  };
  for (const each of coreVirtualResources(core))
    virtual.set(`${each.kind.group}/${each.kind.version}/${each.kind.plural}`, each);
  addPodActions(core);
  guardPolicyParams(core);
  addSubresource(resources, '', 'serviceaccounts', 'token', () => tokenSubresource(core, authentication));
  const connector = parts.nodes ?? networkConnector(clock);
  addConnectSubresources(core, connector);
  await bootstrap(core, {
    clientAuthority: parts.clientAuthority,
    frontProxyAuthority: parts.frontProxyAuthority,
    serviceRanges,
  });
  followFlowSchemas(core, parts.onError);
  const serving = createCustomServing(core, {
    converterOf: createConverters(core, {
      override: parts.converterOf,
      inProcess: parts.inProcessWebhooks,
      dial: parts.nodes?.dial,
    }),
    changed: createApiServiceSync(core, parts.onError),
  });
  await followDefinitions(core, serving, parts.onError);
  const { clientAuthority, frontProxyAuthority } = parts;
  const clientAuthorities = [clientAuthority, frontProxyAuthority].filter((pem) => pem !== undefined);
  const authenticator = authenticators([
    ...(frontProxyAuthority === undefined ? [] : [frontProxies({ authority: frontProxyAuthority, allowedNames })]),
    ...(clientAuthority === undefined ? [] : [clientCertificates(clientAuthority)]),
    bearerTokens(authentication.tokens, authentication.audiences),
    anonymousUsers(),
  ]);
  addStorageMetrics(metrics, core);
  const started = startAggregation(core, {
    client: parts.frontProxyClient,
    servers: parts.inProcessServers ?? createInProcessServers(),
    send,
    dial: parts.nodes?.dial,
    onError: parts.onError,
  });
  aggregation = started;
  const inFlight = createInFlight();
  const listeners: HttpsServer[] = [];
  let stopping = false;

  /** Creates the request handler; the address is evaluated when it is needed. */
  function createRequestHandler(at: { readonly address: () => string; readonly advertised: () => string }) {
    const handle = createHttpPipeline({
      core,
      authenticator,
      endpoints: serverEndpoints(core, {
        address: at.address,
        aggregation: started,
        metrics,
        isStopping: () => stopping,
        more: openIdEndpoints(authentication, at.advertised),
        onError: parts.onError,
      }),
      frames: createFrameCache(),
      aggregation: started,
      inFlight,
      onError: parts.onError,
    });
    return {
      clientAuthorities,
      handle: (request: Http2ServerRequest, response: Http2ServerResponse) =>
        void handle(toHttpRequest(request, response)),
      upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) =>
        void handle(toUpgradeRequest(request, socket, head)),
    };
  }

  return {
    core,
    async serveHttps({ host, moreHosts = [], port, certificate, key, advertisedIp }) {
      let address = host;
      let advertised = host;
      const tls = { certificate, key };
      const handler = createRequestHandler({ address: () => address, advertised: () => advertised });
      const listener = await listen({ host, port, ...tls, ...handler });
      listeners.push(listener);
      address = hostAndPort(host, listener.port);
      advertised = hostAndPort(advertisedIp ?? host, listener.port);
      for (const each of moreHosts) {
        listeners.push(await listen({ host: each, port: listener.port, ...tls, ...handler }));
      }
      const clusterIp = formatAddress(addressAt(maskPrefix(parsePrefix(serviceRanges[0]!)), 1n));
      const registered = maintainRegistration(core, {
        address: { clusterIp, ip: advertisedIp, port: listener.port },
        hostname: hostname(),
        onError: parts.onError,
      });
      return { ...listener, registered };
    },
    serveConnections({ certificate, key, address }) {
      const server = createHttpsServer({
        certificate,
        key,
        ...createRequestHandler({ address: () => address, advertised: () => address }),
      });
      listeners.push(server);
      return server;
    },
    async close() {
      stopping = true;
      if (parts.shutdownDelayMs) await after(clock, parts.shutdownDelayMs);
      for (const listener of listeners) listener.stop();
      stopped.abort();
      await withTimeout(clock, longestShutdownMs, inFlight.idle());
      feedStopped.abort();
      await Promise.all(listeners.map((listener) => listener.close()));
      connector.close();
      started.close();
      await store.close();
    },
  };
}

/** Waits for a promise, up to a timeout. */
async function withTimeout(clock: Clock, limitMs: number, promise: Promise<void>): Promise<void> {
  const over = new AbortController();
  const limit = after(clock, limitMs, over.signal).catch(() => {});
  await Promise.race([promise, limit]);
  over.abort();
}
