/** Health of kube-proxy itself, and the health check node ports of Services. */
import { type HttpReply, type HttpServer, serveHttp } from '@kruise/client/http-server';
import type { Log } from '@kruise/client/log';
import type { Clock } from '@kruise/values/clock';
import { formatTime } from '@kruise/values/time';
import type { IPFamily } from '../service/service-port.ts';

export type ProxyHealth = {
  /** Records a change that is to be written to the kernel. */
  queued(): void;
  /** Records that all changes queued before the start of the sync are written. */
  synced(family: IPFamily, startedAtMs: number): void;
  setNodeEligible(isEligible: boolean): void;
  isHealthy(): boolean;
  /** Responds to `/healthz`, which includes whether load balancers should use this node. */
  healthz(): HttpReply;
  /** Responds to `/livez`. */
  livez(): HttpReply;
};

/** The proxy is healthy if no family has a change that is older than `timeoutMs`. */
export function createProxyHealth(clock: Clock, families: readonly IPFamily[], timeoutMs: number): ProxyHealth {
  const oldestQueued = new Map<IPFamily, number>();
  const lastSynced = new Map<IPFamily, number>();
  const latestQueued = new Map<IPFamily, number>();
  let isEligible = true;

  const isSynced = (family: IPFamily) => {
    const queuedAt = oldestQueued.get(family);
    // Before the first sync there is no state that could be out of date.
    return lastSynced.has(family) && (queuedAt === undefined || clock.now() - queuedAt < timeoutMs);
  };
  const isHealthy = () => families.every(isSynced);
  const reply = (isOk: boolean): HttpReply => {
    const nowMs = clock.now();
    const updated = families.map((family) => lastSynced.get(family) ?? 0);
    const status = {
      // A healthy proxy is as current as now; otherwise the time is that of the last sync.
      lastUpdated: formatTime(isOk ? nowMs : Math.min(...updated)),
      currentTime: formatTime(nowMs),
      nodeEligible: isEligible,
      healthy: isOk,
      status: Object.fromEntries(
        families.map((family) => [
          family,
          { lastUpdated: formatTime(lastSynced.get(family) ?? 0), healthy: isSynced(family) },
        ]),
      ),
    };
    return {
      code: isOk ? 200 : 503,
      body: JSON.stringify(status),
      headers: { 'content-type': 'application/json' },
    };
  };
  return {
    queued() {
      for (const family of families) {
        if (!oldestQueued.has(family)) oldestQueued.set(family, clock.now());
        latestQueued.set(family, clock.now());
      }
    },
    synced(family, startedAtMs) {
      lastSynced.set(family, clock.now());
      const latest = latestQueued.get(family);
      if (latest === undefined || latest <= startedAtMs) oldestQueued.delete(family);
      else oldestQueued.set(family, latest);
    },
    setNodeEligible(eligible) {
      isEligible = eligible;
    },
    isHealthy,
    healthz: () => reply(isHealthy() && isEligible),
    livez: () => reply(isHealthy()),
  };
}

export type ServiceHealthServers = {
  /** Opens, updates or closes the health check node port of a Service. */
  update(service: string, port: number | undefined, localReady: number): void;
  close(): Promise<void>;
};

type ServiceHealth = { port: number; localReady: number; servers: Promise<readonly HttpServer[]> };

/** Serves the health check node ports of Services. */
export function createServiceHealthServers(
  hosts: readonly string[],
  isProxyHealthy: () => boolean,
  onListenFailure: (service: string, port: number, error: Error) => void,
  log: Log,
): ServiceHealthServers {
  const services = new Map<string, ServiceHealth>();

  const replyFor = (service: string): HttpReply => {
    const [namespace = '', name = ''] = service.split('/');
    const localEndpoints = services.get(service)?.localReady ?? 0;
    const serviceProxyHealthy = isProxyHealthy();
    return {
      code: localEndpoints > 0 && serviceProxyHealthy ? 200 : 503,
      body: JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy }),
      headers: { 'content-type': 'application/json', 'x-load-balancing-endpoint-weight': String(localEndpoints) },
    };
  };
  const open = async (service: string, port: number): Promise<readonly HttpServer[]> => {
    const opened: HttpServer[] = [];
    for (const host of hosts) {
      try {
        opened.push(await serveHttp({ host, port }, () => replyFor(service)));
      } catch (error) {
        onListenFailure(service, port, error as Error);
      }
    }
    return opened;
  };
  const close = async (servers: Promise<readonly HttpServer[]>) => {
    for (const server of await servers) await server.close();
  };
  const remove = (service: string) => {
    const found = services.get(service);
    services.delete(service);
    return found ? close(found.servers) : Promise.resolve();
  };
  return {
    update(service, port, localReady) {
      const found = services.get(service);
      if (found && found.port === port) {
        found.localReady = localReady;
        return;
      }
      const closed = remove(service);
      if (port === undefined) return;
      log.info({ service, port }, 'serving health check node port');
      services.set(service, { port, localReady, servers: closed.then(() => open(service, port)) });
    },
    async close() {
      await Promise.all([...services.keys()].map(remove));
    },
  };
}
