/** Shared code of components that run as separate processes: health, leader election and shutdown. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type ClusterConnection, connect } from '@kruise/client/connect';
import { type ControllerMetrics, createControllerMetrics } from '@kruise/client/controller-metrics';
import { delegatedAuthorization } from '@kruise/client/delegated-authorization';
import { type HealthChecks, serveHealth } from '@kruise/client/health';
import type { LeaderElectionOptions } from '@kruise/client/leader-election';
import { jsonLog, type Log } from '@kruise/client/log';
import { LeadershipLostError } from '@kruise/client/manager';
import { addProcessMetrics, createMetrics, type MetricRegistry } from '@kruise/client/metrics';
import { createCertificateAuthority, type KeyPair } from '@kruise/machinery/x509/certificate';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { systemClock } from '@kruise/values/system';
import type { ComponentOptions } from './flags.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { collectWhenIdle } from './idle-collection.ts';

/** Dependencies of a component. */
export type ComponentContext = ClusterConnection & {
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  /** Registry for additional metrics of the component. */
  readonly registry: MetricRegistry;
  /** Lease for leader election; undefined if the component runs without leader election. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Aborted when the process receives a signal. */
  readonly signal: AbortSignal;
};

/** Runs a component until the process receives a signal. Returns the exit code. */
export async function runComponent(
  name: string,
  options: ComponentOptions,
  ready: HealthChecks,
  work: (context: ComponentContext) => Promise<void>,
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
          authorize: delegatedAuthorization(connected.client),
          metrics: registry,
          ready,
        });
  if (health) log.info({ address: options.bindAddress, port: health.port }, 'serving health and metrics');
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
    // Another replica leads and the state of this one is stale: exit, so that the supervisor restarts the process.
    log.error({ lease: options.leaderElectResourceName }, error.message);
    return 1;
  } finally {
    stop.abort();
    await health?.close();
    connected.close();
  }
}

/** Returns whether a flag is set that takes `true`, `false` or no value. */
export function isSet(flag: string, value: string | boolean | undefined): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  if (['true', 't', '1'].includes(value.toLowerCase())) return true;
  if (['false', 'f', '0'].includes(value.toLowerCase())) return false;
  throw new Error(`${flag} must be true or false, not ${value}`);
}

/** Reads the file that a flag names. */
export function readFileOf(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) throw new Error(`--secure-port must be a port, not ${text}`);
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

/** Parses a flag that takes a whole number, which may be negative. */
export function integerOf(flag: string, text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new Error(`${flag} must be a number, not ${text}`);
  return Number(text);
}

/** Parses a duration flag such as `1m30s` to seconds. */
export function secondsOf(flag: string, text: string): number {
  try {
    return toMilliseconds(parseDuration(text)) / 1000;
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the configured serving certificate, or a self-signed one. */
function certificateFor(name: string, { bindAddress, tlsCertFile, tlsPrivateKeyFile }: ComponentOptions): KeyPair {
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    return {
      certificate: readFileOf('--tls-cert-file', tlsCertFile),
      key: readFileOf('--tls-private-key-file', tlsPrivateKeyFile),
    };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Error('--tls-cert-file and --tls-private-key-file must be set together');
  }
  const nowMs = systemClock.now();
  return createCertificateAuthority(`${name}-ca`, nowMs).issue({
    subject: { commonName: name },
    usages: ['server auth'],
    hosts: ['localhost', '127.0.0.1', hostname(), bindAddress],
    nowMs,
  });
}
