/**
 * Cluster DNS in the process of `kruise up`. It listens on the address of the real node; kube-proxy routes the cluster IP
 * of the Service `kube-dns` there, on all nodes.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, isIPv6 } from 'node:net';
import { service as serviceKind } from '@kruise/api/core/service';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import type { Client } from '@kruise/client/client';
import { isNotFound } from '@kruise/machinery/status';
import { dnsAccount, dnsRole, dnsRoleBinding } from '@kruise/network/dns/manifests';
import { runDns } from '@kruise/network/dns/run';
import { resolvConfServers } from '@kruise/network/dns/settings';
import { after } from '@kruise/values/clock';
import type { NodeService, NodeServiceOptions } from './node-services.ts';

export type DnsServiceClients = {
  /** Creates the objects of cluster DNS. */
  readonly admin: Client;
  /** Has the permissions of cluster DNS itself. */
  readonly dns: Client;
};

const key = { namespace: 'kube-system', name: 'kube-dns' };
const ownership = { fieldManager: 'kruise-dns', force: true };
/** Preferred port; another one is used where it is taken. */
const preferredPort = 10053;
/** Time between two publications of the endpoint, and after one that failed. */
const publishIntervalMs = 60_000;
const retryMs = 1000;
const settings = { ttlSeconds: 30, cacheSeconds: 30, staleSeconds: 0, reloadMs: 10_000, lameduckMs: 0 };

/** Serves the names of the cluster, unless the Service `kube-dns` selects Pods: then those are cluster DNS. */
export function dnsService({ admin, dns }: DnsServiceClients): NodeService {
  return {
    name: 'dns',
    async run({ nodeName, address, clock, random, log, metrics, clusterDns, clusterDomain }, signal) {
      const [clusterIP] = clusterDns;
      if (clusterIP === undefined || (await isServedByPods(admin))) {
        log.info({ service: 'kube-system/kube-dns' }, 'cluster DNS is served by Pods');
        return;
      }
      await installObjects(admin, clusterIP);
      const port = (await isFree(address, preferredPort)) ? preferredPort : 0;
      await runDns(
        {
          ...settings,
          client: dns,
          clock,
          random,
          randomId: () => randomInt(0x10000),
          log,
          registry: metrics,
          addresses: [address],
          port,
          clusterDomains: [clusterDomain],
          localAddresses: [address],
          async readUpstreams() {
            return [{ domain: [], servers: resolvConfServers(await readResolvConf()) }];
          },
          onListening(ports) {
            void keepPublished(admin, { nodeName, address, port: ports.dns }, { clock, log }, signal);
          },
        },
        signal,
      );
    },
  };
}

async function isServedByPods(client: Client): Promise<boolean> {
  try {
    const { spec } = await client.get(serviceKind, key);
    return Object.keys(spec?.selector ?? {}).length > 0;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function installObjects(client: Client, clusterIP: string): Promise<void> {
  await client.apply(serviceAccount, dnsAccount, ownership);
  await client.apply(clusterRole, dnsRole, ownership);
  await client.apply(clusterRoleBinding, dnsRoleBinding, ownership);
  await client.apply(
    serviceKind,
    {
      metadata: {
        ...key,
        labels: {
          'k8s-app': 'kube-dns',
          'kubernetes.io/cluster-service': 'true',
          'kubernetes.io/name': 'KruiseDNS',
        },
      },
      spec: {
        clusterIP,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
    ownership,
  );
}

type DnsEndpoint = { readonly nodeName: string; readonly address: string; readonly port: number };

/** Publishes the endpoint until the signal is aborted: again after a failure, and where another client has removed it. */
async function keepPublished(
  client: Client,
  endpoint: DnsEndpoint,
  { clock, log }: Pick<NodeServiceOptions, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let delayMs = publishIntervalMs;
    try {
      await publishEndpoint(client, endpoint);
    } catch (error) {
      log.error({ error, node: endpoint.nodeName }, 'failed to publish the endpoint of cluster DNS');
      delayMs = retryMs;
    }
    // Rejects when the signal is aborted, which ends the loop.
    await after(clock, delayMs, signal).catch(() => undefined);
  }
}

/** Publishes the address of the server as the endpoint of the Service, which selects no Pods. */
async function publishEndpoint(client: Client, { nodeName, address, port }: DnsEndpoint): Promise<void> {
  const addressType = isIPv6(address) ? 'IPv6' : 'IPv4';
  await client.apply(
    endpointSlice,
    {
      metadata: {
        namespace: key.namespace,
        name: `${key.name}-kruise-${addressType.toLowerCase()}`,
        labels: {
          'kubernetes.io/service-name': key.name,
          'endpointslice.kubernetes.io/managed-by': 'dns.kruise.io',
        },
      },
      addressType,
      endpoints: [{ addresses: [address], conditions: { ready: true, serving: true, terminating: false }, nodeName }],
      ports: [
        { name: 'dns', port, protocol: 'UDP' },
        { name: 'dns-tcp', port, protocol: 'TCP' },
      ],
    },
    ownership,
  );
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

async function readResolvConf(): Promise<string> {
  try {
    return await readFile('/etc/resolv.conf', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
