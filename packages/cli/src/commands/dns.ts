import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { connect } from '@kruise/client/connect';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import { dnsManifests } from '@kruise/network/dns/manifests';
import { type DnsOptions, ForwardingLoopError, runDns } from '@kruise/network/dns/run';
import { parseFileSettings, parseServers, parseStubDomain, resolvConfServers } from '@kruise/network/dns/settings';
import { formatYaml } from '@kruise/schema/yaml-write';
import { systemClock, systemRandom } from '@kruise/values/system';
import { secondsOf } from '../component.ts';
import type { DnsFlags } from '../dns-flags.ts';
import { collectWhenIdle } from '../idle-collection.ts';

/** Runs cluster DNS until the process receives a signal. Returns the exit code. */
export async function dns(flags: DnsFlags): Promise<number> {
  const settings = settingsOf(flags);
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const connected = connect(systemClock, {
    userAgent: 'kruise-dns/v1.33',
    ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
  });
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  collectWhenIdle(systemClock, stop.signal);
  try {
    await runDns(
      {
        ...settings,
        client: connected.client,
        clock: systemClock,
        random: systemRandom,
        randomId: () => randomInt(0x10000),
        log,
        registry,
      },
      stop.signal,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof ForwardingLoopError)) throw error;
    log.error({}, error.message);
    return 1;
  } finally {
    stop.abort();
    connected.close();
  }
}

/** Prints the manifests of cluster DNS, for `kubectl apply --server-side -f -`. */
export function printDnsManifests(options: {
  readonly image: string;
  readonly clusterIp: string;
  readonly clusterDomain: string;
  readonly replicas: string;
}): number {
  const replicas = Number(options.replicas);
  if (!/^\d{1,4}$/.test(options.replicas)) throw new Error(`--replicas must be a number, not ${options.replicas}`);
  if (!isIP(options.clusterIp)) throw new Error(`--cluster-ip must be an IP address, not ${options.clusterIp}`);
  const { image, clusterIp: clusterIP, clusterDomain } = options;
  process.stdout.write(dnsManifests({ image, clusterIP, clusterDomain, replicas }).map(formatYaml).join('---\n'));
  return 0;
}

type Settings = Omit<DnsOptions, 'client' | 'clock' | 'random' | 'randomId' | 'log' | 'registry'>;

/** Reads the flags. Throws an error that names the flag. */
export function settingsOf(flags: DnsFlags): Settings {
  const port = (flag: string, text: string): number => {
    if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error(`${flag} must be a port, not ${text}`);
    return Number(text);
  };
  const optionalPort = (flag: string, text: string): number | undefined =>
    text === '-1' ? undefined : port(flag, text);
  const ports = {
    healthPort: optionalPort('--health-port', flags.healthPort),
    readyPort: optionalPort('--ready-port', flags.readyPort),
    metricsPort: optionalPort('--metrics-port', flags.metricsPort),
  };
  const addresses = flags.bindAddress === undefined ? allAddresses() : flags.bindAddress.split(',');
  for (const address of addresses) {
    if (!isIP(address)) throw new Error(`--bind-address must be IP addresses, not ${address}`);
  }
  const clusterDomains = flags.clusterDomain.split(',').filter((each) => each !== '');
  if (clusterDomains.length === 0) throw new Error('--cluster-domain must name a domain');
  const upstreams =
    flags.upstream && named('--upstream', () => parseServers(flags.upstream!.flatMap((each) => each.split(','))));
  const stubDomains = named('--stub-domain', () => (flags.stubDomain ?? []).map(parseStubDomain));
  return {
    addresses,
    port: port('--port', flags.port),
    ...Object.fromEntries(Object.entries(ports).filter(([, value]) => value !== undefined)),
    clusterDomains,
    ...(flags.reverseZones === undefined ? {} : { reverseZones: flags.reverseZones.split(',') }),
    ttlSeconds: secondsOf('--ttl', flags.ttl),
    localAddresses: flags.bindAddress === undefined || addresses.some(isUnspecified) ? ownAddresses() : addresses,
    cacheSeconds: secondsOf('--cache', flags.cache),
    staleSeconds: secondsOf('--serve-stale', flags.serveStale),
    lameduckMs: 1000 * secondsOf('--lameduck', flags.lameduck),
    reloadMs: 1000 * Math.max(1, secondsOf('--config-period', flags.configPeriod)),
    async readUpstreams() {
      const files = flags.configDir === undefined ? {} : parseFileSettings(await readConfiguration(flags.configDir));
      const servers = files.upstreams ?? upstreams ?? resolvConfServers((await readOptional(flags.resolvConf)) ?? '');
      return [{ domain: [], servers }, ...(files.stubDomains ?? stubDomains)];
    },
  };
}

function named<T>(flag: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

async function readConfiguration(directory: string): Promise<Parameters<typeof parseFileSettings>[0]> {
  const [stubDomains, upstreamNameservers] = await Promise.all(
    ['stubDomains', 'upstreamNameservers'].map((file) => readOptional(join(directory, file))),
  );
  return { stubDomains, upstreamNameservers };
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the addresses that stand for all interfaces; without IPv6 on any, only that of IPv4. */
function allAddresses(): readonly string[] {
  const hasIPv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ family }) => family === 'IPv6'));
  return hasIPv6 ? ['0.0.0.0', '::'] : ['0.0.0.0'];
}

/** Returns the addresses of this machine or Pod by which others reach it. */
function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).filter(({ internal }) => !internal).map(({ address }) => address),
  );
}

function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}
