/** What the components of a cluster have in common when they are processes of their own: health, the lease, an end. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Connected, connect } from '@kruise/client/connect';
import { type ControllerMetrics, createControllerMetrics } from '@kruise/client/controller-metrics';
import { delegatedAuthorization } from '@kruise/client/delegated-authorization';
import { type HealthChecks, serveHealth } from '@kruise/client/health';
import type { LeaderElectionOptions } from '@kruise/client/leader-election';
import { jsonLog, type Log } from '@kruise/client/log';
import { LeadershipLostError } from '@kruise/client/manager';
import { addProcessMetrics, createMetrics, type MetricRegistry } from '@kruise/client/metrics';
import { createAuthority, type KeyPair } from '@kruise/machinery/x509/certificate';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { systemClock } from '@kruise/values/system';
import type { ComponentOptions } from './flags.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { collectWhenIdle } from './idle-collection.ts';

/** What a component works with. */
export type Surroundings = Connected & {
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  /** Where it may count more. */
  readonly registry: MetricRegistry;
  /** By which lease it leads; undefined where it is to work in any case. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Aborted when the process is told to stop. */
  readonly signal: AbortSignal;
};

/** Runs a component until it is told to stop; returns the code the process is to end with. */
export async function runComponent(
  name: string,
  options: ComponentOptions,
  ready: HealthChecks,
  work: (surroundings: Surroundings) => Promise<void>,
): Promise<number> {
  const leaderElection = leaderElectionOf(options);
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const connected = connect(systemClock, {
    userAgent: `${name}/v1.33`,
    ...(options.kubeconfig === undefined ? {} : { path: options.kubeconfig }),
  });
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  const stop = new AbortController();
  for (const each of ['SIGINT', 'SIGTERM'] as const) process.once(each, () => stop.abort());
  const port = portOf(options.securePort);
  const health =
    port === 0
      ? undefined
      : await serveHealth({
          host: options.bindAddress,
          port,
          tls: certificateFor(name, options),
          mayRead: delegatedAuthorization(connected.client),
          metrics: registry,
          ready,
        });
  if (health) log.info({ address: options.bindAddress, port: health.port }, 'health and metrics are served');
  boundHeapGrowth(systemClock, stop.signal);
  collectWhenIdle(systemClock, stop.signal);
  try {
    await work({
      ...connected,
      log,
      metrics: createControllerMetrics(registry),
      registry,
      ...(leaderElection ? { leaderElection } : {}),
      signal: stop.signal,
    });
    return 0;
  } catch (error) {
    if (!(error instanceof LeadershipLostError)) throw error;
    // Whoever restarts the process is to do so: another leads, and what is under way here is out of date.
    log.error({ lease: options.leaderElectResourceName }, error.message);
    return 1;
  } finally {
    stop.abort();
    await health?.close();
    connected.close();
  }
}

/** Whether a flag that takes `true` or `false`, or nothing, is set. */
export function isSet(flag: string, value: string | boolean | undefined): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  if (['true', 't', '1'].includes(value.toLowerCase())) return true;
  if (['false', 'f', '0'].includes(value.toLowerCase())) return false;
  throw new Error(`${flag} wants true or false, not ${value}`);
}

/** A file that a flag names. */
export function readFileOf(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) throw new Error(`--secure-port wants a port, not ${text}`);
  return Number(text);
}

function leaderElectionOf(options: ComponentOptions): LeaderElectionOptions | undefined {
  if (!isSet('--leader-elect', options.leaderElect)) return undefined;
  return {
    name: options.leaderElectResourceName,
    namespace: options.leaderElectResourceNamespace,
    identity: `${hostname()}_${randomUUID()}`,
    leaseDurationSeconds: secondsOf('--leader-elect-lease-duration', options.leaderElectLeaseDuration),
    renewDeadlineSeconds: secondsOf('--leader-elect-renew-deadline', options.leaderElectRenewDeadline),
    retryPeriodSeconds: secondsOf('--leader-elect-retry-period', options.leaderElectRetryPeriod),
  };
}

/** A duration such as `1m30s` that a flag gives, in seconds. */
export function secondsOf(flag: string, text: string): number {
  try {
    return toMilliseconds(parseDuration(text)) / 1000;
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

/** The certificate that was given, or one that vouches for itself. */
function certificateFor(name: string, { bindAddress, tlsCertFile, tlsPrivateKeyFile }: ComponentOptions): KeyPair {
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    return {
      certificate: readFileOf('--tls-cert-file', tlsCertFile),
      key: readFileOf('--tls-private-key-file', tlsPrivateKeyFile),
    };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Error('--tls-cert-file and --tls-private-key-file go together');
  }
  const nowMs = systemClock.now();
  return createAuthority(`${name}-ca`, nowMs).issue({
    subject: { commonName: name },
    usages: ['server auth'],
    hosts: ['localhost', '127.0.0.1', hostname(), bindAddress],
    nowMs,
  });
}
