/**
 * kube-proxy: programs the kernel of a node so that packets to Services reach their endpoints. `../service/` decides
 * and renders; this file watches Services, EndpointSlices and the node, and runs the syncs.
 */
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import { service as serviceKind } from '@kruise/api/core/service';
import { endpointSlice as sliceKind } from '@kruise/api/discovery/endpointslice';
import { serviceCIDR as serviceCIDRKind } from '@kruise/api/networking/servicecidr';
import type { Client } from '@kruise/client/client';
import { createEventRecorder } from '@kruise/client/event-recorder';
import {
  type HttpReply,
  type HttpRequest,
  type HttpServer,
  metricsReply,
  notFound,
  serveHttp,
} from '@kruise/client/http-server';
import { type InformerOptions, startInformer, withoutManagedFields } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import type { MetricRegistry } from '@kruise/client/metrics';
import { aborted } from '@kruise/values/aborted';
import { after, type Clock } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import type { Random } from '@kruise/values/random';
import { CommandError } from '../host/run-command.ts';
import { createServiceTable } from '../service/packet-route.ts';
import { createServiceChanges } from '../service/service-changes.ts';
import { familyOf, type IPFamily, isExternal, proxiedObjects, type ServicePort } from '../service/service-port.ts';
import { mayLeaveStaleFlows } from '../service/stale-flows.ts';
import type { ProxyConfiguration } from './configuration.ts';
import { deleteStaleFlows } from './conntrack.ts';
import { createProxyHealth, createServiceHealthServers } from './health.ts';
import { cleanUpIptables, createIptablesProxier, type IptablesProxier } from './iptables-proxier.ts';
import { applyConntrackSettings, prepareKernel } from './kernel-settings.ts';
import type { Machine } from './machine.ts';
import { createProxyMetrics } from './metrics.ts';
import { familiesOf, hasIptables, hasNftables, selectMode } from './mode.ts';
import { cleanUpNftables, createNftablesProxier, type NftablesProxier } from './nftables-proxier.ts';
import { localTrafficOf, type NodeView, nodePortAddressesOf, viewOf } from './node-view.ts';
import type { Proxier, ProxyMode } from './proxier.ts';
import { startSyncLoop } from './sync-loop.ts';

export type KubeProxyOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly machine: Machine;
  readonly nodeName: string;
  readonly configuration: ProxyConfiguration;
  readonly registry: MetricRegistry;
  /** Called when the rules are in place for the first time. */
  readonly onRunning?: (running: { readonly mode: ProxyMode; readonly families: readonly IPFamily[] }) => void;
};

/** Interval of full syncs, which compare all rules with the kernel. */
const fullSyncPeriodMs = 3_600_000;
/** Time to wait for the Node object, which the kubelet creates. */
const nodeWaitMs = 30_000;
const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Runs kube-proxy until the signal is aborted. The rules stay in the kernel, so that traffic goes on. */
export async function runKubeProxy(options: KubeProxyOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, machine, nodeName, configuration, registry } = options;
  const { run } = machine;
  const mode = configuration.mode === '' ? await selectMode(run) : configuration.mode;
  const families = await familiesOf(run, mode);
  if (families.length === 0) throw new Error(`mode ${mode} does not work on this machine`);
  const rules = configuration[mode];
  const metrics = createProxyMetrics(registry, mode);
  // One failure ends everything, and the reason is that of the failure.
  const stop = linkedController(signal);
  const onError = (error: unknown) => {
    if (!stop.signal.aborted) log.warn({ error }, 'request failed');
  };

  setOomScore(options);
  const recorder = createEventRecorder(
    client,
    clock,
    random,
    { component: 'kube-proxy', host: nodeName, onError },
    stop.signal,
  );
  const watch: InformerOptions = { onError, transform: withoutManagedFields };
  const nodes = startInformer(
    client,
    clock,
    random,
    nodeKind,
    { ...watch, fieldSelector: `metadata.name=${nodeName}` },
    stop.signal,
  );
  await Promise.race([nodes.synced, aborted(stop.signal)]);
  if (signal.aborted) return;
  let view = viewOf(await findNode(() => nodes.list()[0], clock, stop.signal));
  if (view.addresses.length === 0) {
    log.warn({ node: nodeName }, 'node has no address; using the bind address or 127.0.0.1 as the node IP');
  }
  let serviceRanges: readonly string[] = [];

  const primaryAddresses = () => {
    if (view.addresses.length > 0) return view.addresses;
    const { bindAddress } = configuration;
    return [bindAddress === '0.0.0.0' || bindAddress === '::' ? '127.0.0.1' : bindAddress];
  };
  const nodePortsOf = (family: IPFamily) =>
    nodePortAddressesOf(configuration, mode, primaryAddresses(), machine.localAddresses(), family);
  const commonOptions = (family: IPFamily) => {
    const localTraffic = localTrafficOf(configuration, view, family);
    return {
      family,
      ...(localTraffic ? { localTraffic } : {}),
      masqueradeAll: rules.masqueradeAll,
      masqueradeBit: rules.masqueradeBit,
      nodePortAddresses: nodePortsOf(family),
      nodeAddresses: primaryAddresses().filter((each) => familyOf(each) === family),
    };
  };
  const nftOptions = (family: IPFamily) => ({
    ...commonOptions(family),
    serviceRanges: serviceRanges.filter((range) => familyOf(range) === family),
  });
  const opensLoopback = configuration.iptables.localhostNodePorts && nodePortsOf('IPv4') === 'all';
  const iptablesOptions = (family: IPFamily) => ({
    ...commonOptions(family),
    localhostNodePorts: opensLoopback,
    dropInvalid: !configuration.conntrack.tcpBeLiberal,
  });
  for (const family of families) {
    if (!localTrafficOf(configuration, view, family)) {
      log.info(
        { family, detectLocalMode: configuration.detectLocalMode },
        'no local traffic detection for this family',
      );
    }
  }
  prepareKernel(machine, { mode, families, opensLoopback, log });
  applyConntrackSettings(machine, configuration.conntrack, log);

  const nftProxiers: NftablesProxier[] = [];
  const iptablesProxiers: IptablesProxier[] = [];
  const proxiers = families.map((family): Proxier => {
    if (mode === 'nftables') {
      const made = createNftablesProxier(run, clock, nftOptions(family));
      nftProxiers.push(made);
      return made;
    }
    const made = createIptablesProxier(run, iptablesOptions(family));
    iptablesProxiers.push(made);
    return made;
  });

  const table = createServiceTable();
  const changes = createServiceChanges({ name: nodeName, ...zoneOf(view) }, families);
  const health = createProxyHealth(clock, families, 2 * rules.syncPeriodMs);
  health.setNodeEligible(view.isEligible);
  const healthHosts = (['IPv4', 'IPv6'] as const)
    .filter((family) => families.includes(family))
    .flatMap((family) => {
      const addresses = nodePortsOf(family);
      return addresses === 'all' ? [family === 'IPv4' ? '0.0.0.0' : '::'] : addresses;
    });
  const serviceHealth = createServiceHealthServers(
    healthHosts.includes('::') ? healthHosts.filter((host) => host !== '0.0.0.0') : healthHosts,
    health.isHealthy,
    (key, port, error) => {
      log.error({ service: key, port, error }, 'failed to start service health check');
      const [namespace = '', name = ''] = key.split('/');
      recorder.record({
        about: { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name } },
        type: 'Warning',
        reason: 'FailedToStartServiceHealthcheck',
        message: `node ${nodeName} failed to start healthcheck "${key}" on port ${port}: ${error.message}`,
      });
    },
    log,
  );
  const triggers = new Map<string, number>();
  const noLocal = new Map<string, { readonly internal: readonly IPFamily[]; readonly external: readonly IPFamily[] }>();
  let fullSyncAtMs = 0;
  let mustCleanFlows = false;
  let isInitial = true;

  const applyChanges = () => {
    for (const { service, ports, healthCheckNodePort, localReady } of changes.take()) {
      const before = table.get(service);
      if (!isInitial && mayLeaveStaleFlows(before, ports)) mustCleanFlows = true;
      table.replace(service, ports);
      for (const proxier of proxiers)
        proxier.update(
          service,
          ports.filter(({ family }) => family === proxier.family),
        );
      for (const proxier of iptablesProxiers) proxier.updateHealthCheck(service, healthCheckNodePort);
      serviceHealth.update(service, healthCheckNodePort, localReady);
      countNoLocal(noLocal, service, ports);
    }
    // Flows of an earlier run may be stale as well.
    if (isInitial) mustCleanFlows = true;
    isInitial = false;
  };

  const reconfigure = () => {
    for (const proxier of nftProxiers) proxier.reconfigure(nftOptions(proxier.family));
    for (const proxier of iptablesProxiers) proxier.reconfigure(iptablesOptions(proxier.family));
    changes.setNode({ name: nodeName, ...zoneOf(view) });
    request();
  };

  const sync = async (): Promise<number | undefined> => {
    const startedAtMs = clock.now();
    const nowMs = clock.elapsedMs();
    const isPeriodic = changes.pending === 0;
    applyChanges();
    metrics.setPending(changes.pending);
    const triggered = [...triggers.values()];
    triggers.clear();
    if (nowMs - fullSyncAtMs >= fullSyncPeriodMs || fullSyncAtMs === 0) {
      for (const proxier of proxiers) proxier.requestFullSync();
    }
    let requeueAfterMs: number | undefined;
    const failures: unknown[] = [];
    for (const proxier of proxiers) {
      const { family } = proxier;
      if (isPeriodic && !(await proxier.isIntact())) {
        log.warn({ family, mode }, 'proxy rules were removed by another program');
        proxier.requestFullSync();
      }
      const beginMs = clock.elapsedMs();
      try {
        const result = await proxier.sync();
        metrics.observeSync(family, result.isFull, clock.elapsedMs() - beginMs, clock.now());
        metrics.observeRules(mode, family, proxier.ruleCount);
        for (const each of triggered) metrics.observeProgramming(family, clock.now() - each);
        health.synced(family, startedAtMs);
        if (result.requeueAfterMs !== undefined) {
          requeueAfterMs = Math.min(requeueAfterMs ?? result.requeueAfterMs, result.requeueAfterMs);
        }
        if (result.isFull) log.info({ family, mode, rules: proxier.ruleCount }, 'synced all proxy rules');
      } catch (error) {
        metrics.observeFailure(mode, family, nowMs === fullSyncAtMs);
        failures.push(error);
      }
    }
    fullSyncAtMs =
      failures.length === 0 && (fullSyncAtMs === 0 || nowMs - fullSyncAtMs >= fullSyncPeriodMs) ? nowMs : fullSyncAtMs;
    reportNoLocal(noLocal);
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'proxy sync failed');
    if (mustCleanFlows) await cleanFlows();
    return requeueAfterMs;
  };

  let warnedOfConntrack = false;
  const cleanFlows = async () => {
    mustCleanFlows = false;
    for (const family of families) {
      const addresses = nodePortsOf(family);
      const nodePorts = new Set(addresses === 'all' ? machine.localAddresses() : addresses);
      const beginMs = clock.elapsedMs();
      try {
        const deleted = await deleteStaleFlows(run, family, table, nodePorts);
        metrics.observeConntrack(family, deleted, clock.elapsedMs() - beginMs);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        if (!warnedOfConntrack) log.warn({ family, error }, 'failed to delete stale UDP flows; install conntrack');
        warnedOfConntrack = true;
      }
    }
  };
  const reportNoLocal = (counts: typeof noLocal) => {
    for (const family of families) {
      for (const policy of ['internal', 'external'] as const) {
        const count = [...counts.values()].filter((each) => each[policy].includes(family)).length;
        metrics.setNoLocalEndpoints(family, policy, count);
      }
    }
  };

  let request = () => {};
  const servers = await startServers(options, mode, metrics, health);
  const informerOptions = { ...watch, labelSelector: proxiedObjects };
  const services = startInformer(client, clock, random, serviceKind, informerOptions, stop.signal);
  const slices = startInformer(client, clock, random, sliceKind, informerOptions, stop.signal);
  const notify = (kind: 'endpoint' | 'service') => {
    metrics.observeChanges(kind);
    metrics.setPending(changes.pending);
    health.queued();
    metrics.observeQueued(clock.now());
    request();
  };
  const resync = { resyncMs: configuration.configSyncPeriodMs };
  services.handle(({ type, object, cause }) => {
    if (cause === 'resync') return;
    if (type === 'deleted') changes.deleteService(object);
    else changes.setService(object);
    notify('service');
  }, resync);
  slices.handle(({ type, object, previous, cause }) => {
    if (cause === 'resync') return;
    if (previous) changes.deleteSlice(previous);
    if (type === 'deleted') changes.deleteSlice(object);
    else changes.setSlice(object);
    const trigger = Date.parse(object.metadata.annotations?.[triggerTimeAnnotation] ?? '');
    if (cause === 'event' && !Number.isNaN(trigger))
      triggers.set(`${object.metadata.namespace}/${object.metadata.name}`, trigger);
    notify('endpoint');
  }, resync);

  try {
    await Promise.race([Promise.all([services.synced, slices.synced]), aborted(stop.signal)]);
    if (signal.aborted) return;
    if (mode === 'nftables') {
      const ranges = startInformer(client, clock, random, serviceCIDRKind, watch, stop.signal);
      ranges.handle(() => {
        const found = ranges.list().flatMap(({ spec }) => spec?.cidrs ?? []);
        if (found.join() === serviceRanges.join()) return;
        serviceRanges = found;
        reconfigure();
      });
    }
    nodes.handle(({ type, object, cause }) => {
      if (cause !== 'event') return;
      const next = viewOf(type === 'deleted' ? undefined : object);
      health.setNodeEligible(next.isEligible);
      // Without a Node object the last known facts still hold.
      if (type === 'deleted' || sameNetwork(view, next)) return;
      view = next;
      reconfigure();
    });
    recorder.record({
      about: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: nodeName, uid: nodes.list()[0]?.metadata.uid ?? nodeName },
      },
      type: 'Normal',
      reason: 'Starting',
      message: '',
    });
    let isRunning = false;
    const loop = startSyncLoop(
      clock,
      { minIntervalMs: rules.minSyncPeriodMs, maxIntervalMs: rules.syncPeriodMs, burst: 2 },
      async () => {
        const next = await sync();
        if (isRunning) return next;
        // Only now, so that Services are reachable at every moment of a change of the mode.
        await removeOtherMode(options, mode);
        isRunning = true;
        options.onRunning?.({ mode, families });
        return next;
      },
      (error) => log.error({ error, mode }, 'proxy sync failed'),
      stop.signal,
    );
    request = loop.request;
    request();
    await loop.stopped;
  } finally {
    stop.abort();
    await serviceHealth.close();
    await Promise.all(servers.map((server) => server.close()));
  }
}

/** Removes all rules of kube-proxy, of each mode and family that works on the machine. */
export async function removeProxyRules({ run }: Pick<Machine, 'run'>): Promise<void> {
  if ((await hasNftables(run, 'IPv4')) || (await hasNftables(run, 'IPv6'))) await cleanUpNftables(run);
  for (const family of ['IPv4', 'IPv6'] as const) {
    if (await hasIptables(run, family)) await cleanUpIptables(run, family);
  }
}

function setOomScore({ machine, configuration: { oomScoreAdj }, log }: KubeProxyOptions): void {
  if (oomScoreAdj === undefined) return;
  try {
    machine.setOomScore(oomScoreAdj);
  } catch (error) {
    log.info({ error }, 'failed to set the OOM score');
  }
}

/** Removes the rules that another mode has left behind; two modes would translate packets twice. */
async function removeOtherMode({ machine: { run }, log }: KubeProxyOptions, mode: ProxyMode): Promise<void> {
  if (mode === 'iptables') {
    if (await hasNftables(run, 'IPv4')) await cleanUpNftables(run);
    return;
  }
  for (const family of ['IPv4', 'IPv6'] as const) {
    try {
      if (await hasIptables(run, family)) await cleanUpIptables(run, family);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      log.warn({ family, error }, 'failed to remove the rules of the mode iptables');
    }
  }
}

async function findNode(get: () => Node | undefined, clock: Clock, signal: AbortSignal): Promise<Node | undefined> {
  const stepMs = 500;
  for (let waitedMs = 0; waitedMs < nodeWaitMs && !signal.aborted; waitedMs += stepMs) {
    const found = get();
    if (found && viewOf(found).addresses.length > 0) return found;
    await after(clock, stepMs, signal).catch(() => {});
  }
  return get();
}

function zoneOf({ zone }: NodeView) {
  return zone === undefined ? {} : { zone };
}

function sameNetwork(a: NodeView, b: NodeView): boolean {
  return a.zone === b.zone && a.addresses.join() === b.addresses.join() && a.podRanges.join() === b.podRanges.join();
}

function countNoLocal(
  counts: Map<string, { readonly internal: readonly IPFamily[]; readonly external: readonly IPFamily[] }>,
  service: string,
  ports: readonly ServicePort[],
): void {
  const without = ports.filter(({ hasEndpoints, local }) => hasEndpoints && local.length === 0);
  const internal = without.filter(({ isInternalLocal }) => isInternalLocal).map(({ family }) => family);
  const external = without.filter((port) => port.isExternalLocal && isExternal(port)).map(({ family }) => family);
  if (internal.length + external.length === 0) counts.delete(service);
  else counts.set(service, { internal, external });
}

/** Starts the servers of health and metrics. */
async function startServers(
  { configuration, registry, log }: KubeProxyOptions,
  mode: ProxyMode,
  metrics: ReturnType<typeof createProxyMetrics>,
  health: ReturnType<typeof createProxyHealth>,
): Promise<readonly HttpServer[]> {
  const replyHealth = ({ path }: HttpRequest): HttpReply => {
    if (path !== '/healthz' && path !== '/livez') return notFound;
    const reply = path === '/healthz' ? health.healthz() : health.livez();
    if (path === '/healthz') metrics.observeHealthz(reply.code);
    else metrics.observeLivez(reply.code);
    return reply;
  };
  const json = { 'content-type': 'application/json' };
  const replyMetrics = ({ path, headers }: HttpRequest): HttpReply => {
    switch (path) {
      case '/metrics':
        return metricsReply(registry, headers.accept);
      case '/proxyMode':
        return { code: 200, body: mode };
      case '/configz':
        return {
          code: 200,
          body: JSON.stringify({ 'kubeproxy.config.k8s.io': { ...configuration, mode } }),
          headers: json,
        };
      case '/healthz':
        return { code: 200, body: 'ok' };
      default:
        return notFound;
    }
  };
  const servers: HttpServer[] = [];
  for (const [field, reply] of [
    ['healthzBindAddress', replyHealth],
    ['metricsBindAddress', replyMetrics],
  ] as const) {
    const address = addressOf(configuration[field]);
    if (!address) continue;
    try {
      servers.push(await serveHttp(address, reply));
    } catch (error) {
      if (configuration.bindAddressHardFail) throw error;
      log.error({ address: configuration[field], error }, 'failed to serve health or metrics');
    }
  }
  return servers;
}

/** Parses `0.0.0.0:10256` or `[::]:10256`; undefined for the port 0, which disables a server. */
export function addressOf(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, ipv6, ipv4, port = ''] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) === 0) return undefined;
  return { host: ipv6 ?? ipv4 ?? '', port: Number(port) };
}
