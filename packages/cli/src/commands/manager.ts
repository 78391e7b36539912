import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { connect } from '@kruise/client/connect';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import { defaultRateLimiter } from '@kruise/client/rate-limiter';
import type { WebhookCallers } from '@kruise/client/webhook-callers';
import { readEnvironment } from '@kruise/manager/bootstrap/environment';
import { openProtectionLog } from '@kruise/manager/bootstrap/protection-log';
import { featureGates, parseFeatureGates } from '@kruise/manager/configuration/feature-gates';
import { managerSettings, resizesBySubresource } from '@kruise/manager/configuration/settings';
import { runManagerProcess } from '@kruise/manager/process';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { systemClock, systemRandom } from '@kruise/values/system';
import { tunedClient } from '../client-flags.ts';
import { parseListenAddress } from '../listen-address.ts';
import { workerFlags } from '../manager-flags.ts';
import { type ProfilerFlags, serveProfiles } from '../profiler.ts';

type Flags = { readonly [name: string]: string | boolean | undefined };

/** Runs kruise-manager until the process receives a signal. */
export async function manager(flags: Flags): Promise<number> {
  const text = (name: string) => String(flags[name] ?? '');
  const isOn = (name: string) => flags[name] !== false && text(name) !== 'false';
  const durationMs = (name: string) => toMilliseconds(parseDuration(text(name)));
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const environment = readEnvironment(process.env);
  const gates = featureGates(parseFeatureGates(text('featureGates')), { podWebhook: environment.podWebhook });
  const place = flags['kubeconfig'] === undefined ? {} : { path: text('kubeconfig') };
  const { client: plain, close } = connect(systemClock, { ...place, userAgent: 'kruise-manager' });
  const client = tunedClient(
    plain,
    { v: text('v'), restConfigQps: text('restConfigQps'), restConfigBurst: text('restConfigBurst') },
    { clock: systemClock, log },
  );
  const { enablePprof, pprofAddr } = flags as ProfilerFlags;
  const stopProfiles = await serveProfiles(
    { ...(enablePprof === undefined ? {} : { enablePprof }), ...(pprofAddr === undefined ? {} : { pprofAddr }) },
    'localhost:8090',
    log,
  ).catch((error: unknown) => {
    log.error({ error }, 'failed to serve profiles');
    return () => {};
  });
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  try {
    const version = (await client.transport.request({ method: 'GET', path: '/version' })).object;
    const settings = managerSettings({
      gates,
      namespace: environment.namespace,
      // Every Kubernetes API server reports its version in this form.
      resizesBySubresource: resizesBySubresource((version as { readonly gitVersion?: string }).gitVersion ?? ''),
      cloneSetExcludesPreparingDelete: isOn('clonesetScalingExcludePreparingDelete'),
      daemonSetsUseScheduler: isOn('assignPodsByScheduler'),
      broadcastJobsUseScheduler: isOn('assignBcjPodsByScheduler'),
      daemonConfigNamespace: environment.daemonConfigNamespace,
      nodeImageCreationDelayMs: durationMs('nodeimageCreationDelay'),
      alwaysNodeImageTtlSeconds: ttlSecondsOf(text('defaultTtlsecondsForAlwaysNodeimage')),
      workers: Object.fromEntries(workerFlags.map((name) => [name, Number(text(`${name}Workers`))])),
      rateLimiter: (clock) =>
        defaultRateLimiter(clock, {
          initialMs: durationMs('rateLimiterBaseDelay'),
          maxMs: durationMs('rateLimiterMaxDelay'),
          perSecond: Number(text('rateLimiterQps')),
          burst: Number(text('rateLimiterBucketSize')),
        }),
    });
    const election = {
      namespace: text('leaderElectionNamespace') || environment.namespace,
      name: text('leaderElectionId'),
      identity: `${hostname()}_${randomUUID()}`,
      leaseDurationSeconds: durationMs('leaderElectionLeaseDuration') / 1000,
      renewDeadlineSeconds: durationMs('leaderElectionRenewDeadline') / 1000,
      retryPeriodSeconds: durationMs('leaderElectionRetryPeriod') / 1000,
    };
    await runManagerProcess(
      {
        client,
        clock: systemClock,
        random: systemRandom,
        log,
        registry,
        settings,
        environment,
        metricsAddress: parseListenAddress(text('metricsAddr')),
        healthAddress: parseListenAddress(text('healthProbeAddr')),
        watchedNamespace: text('namespace'),
        expectationTimeoutMs: durationMs('expectationTimeout'),
        webhookCallers: webhookCallers(flags),
        initializeTimeoutMs: durationMs('webhookInitializeTimeout'),
        onProtected: openProtectionLog(text('protectionLogPath')),
        ...(isOn('enableLeaderElection') ? { leaderElection: election } : {}),
      },
      stop.signal,
    );
  } finally {
    stopProfiles();
    close();
  }
  return 0;
}

/** Reads the permitted callers of the webhooks on each call, as files are replaced; undefined permits any client. */
export function webhookCallers(flags: Flags): (() => WebhookCallers) | undefined {
  const fileOf = (flag: string) => (flags[flag] === undefined ? undefined : String(flags[flag]));
  const [authorities, token] = [fileOf('webhookClientCaFile'), fileOf('webhookTokenFile')];
  const names = String(flags['webhookClientAllowedNames'] ?? '').split(',');
  if (authorities === undefined && token === undefined) return undefined;
  return () => ({
    ...(authorities === undefined ? {} : { authorities: readFileSync(authorities, 'utf8') }),
    names: names.map((name) => name.trim()).filter((name) => name !== ''),
    ...(token === undefined ? {} : { token: tokenOf(token) }),
  });
}

function tokenOf(file: string): string {
  const token = readFileSync(file, 'utf8').trim();
  if (token === '') throw new Error(`--webhook-token-file: ${file} contains no token`);
  return token;
}

const longestTtlSeconds = 31 * 86_400;

function ttlSecondsOf(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= longestTtlSeconds) return seconds;
  throw new RangeError(
    `--default-ttlseconds-for-always-nodeimage must be from 0 to ${longestTtlSeconds}, not ${value}`,
  );
}
