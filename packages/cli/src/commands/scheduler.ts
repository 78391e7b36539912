import { hostname } from 'node:os';
import {
  defaultConfiguration,
  type LeaderElectionConfiguration,
  readConfiguration,
} from '@kruise/controlplane/scheduler/configuration';
import { createSchedulerMetrics } from '@kruise/controlplane/scheduler/metrics';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { parseYaml } from '@kruise/schema/yaml-text';
import { systemClock, systemRandom } from '@kruise/values/system';
import { isSet, readFileOf, runComponent } from '../component.ts';
import { postToExtender } from '../extender-post.ts';
import type { ComponentOptions, SchedulerFlags } from '../flags.ts';

/** Runs kube-scheduler. Returns the exit code. */
export async function scheduler(given: SchedulerFlags, isGiven: (flag: string) => boolean): Promise<number> {
  const configuration = given.config
    ? readConfiguration(parseYaml(readFileOf('--config', given.config)))
    : defaultConfiguration;
  const flags = withElection(given, configuration.leaderElection, isGiven);
  let isRunning = false;
  // A replica that waits for the lease is as ready as the leader.
  const isReady = () => {
    if (!isRunning && !isSet('--leader-elect', flags.leaderElect)) throw new Error('caches have not synced yet');
  };
  return runComponent('kube-scheduler', flags, { caches: isReady }, async (context) => {
    const { client, log, metrics, registry, leaderElection, signal } = context;
    const profiles = configuration.profiles.map(({ schedulerName }) => schedulerName);
    await runScheduler(
      {
        client,
        clock: systemClock,
        random: systemRandom,
        log,
        host: hostname(),
        configuration,
        post: postToExtender,
        metrics,
        schedulerMetrics: createSchedulerMetrics(registry),
        onRunning() {
          isRunning = true;
          log.info({ profiles }, 'scheduler started');
        },
        ...(leaderElection ? { leaderElection } : {}),
      },
      signal,
    );
  });
}

/** Applies the leader election settings of the configuration file to the flags that the command line does not set. */
export function withElection<T extends ComponentOptions>(
  flags: T,
  election: LeaderElectionConfiguration,
  isGiven: (flag: string) => boolean,
): T {
  const fromFile: Partial<ComponentOptions> = {
    leaderElect: election.leaderElect,
    leaderElectLeaseDuration: `${election.leaseDurationSeconds}s`,
    leaderElectRenewDeadline: `${election.renewDeadlineSeconds}s`,
    leaderElectRetryPeriod: `${election.retryPeriodSeconds}s`,
    leaderElectResourceName: election.resourceName,
    leaderElectResourceNamespace: election.resourceNamespace,
  };
  return { ...flags, ...Object.fromEntries(Object.entries(fromFile).filter(([flag]) => !isGiven(flag))) };
}
