import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { connect } from '@kruise/client/connect';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import { serveHealth } from '@kruise/client/health';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import {
  defaultConfiguration,
  readConfiguration,
  type SchedulerConfiguration,
} from '@kruise/controlplane/scheduler/configuration';
import { createSchedulerMetrics } from '@kruise/controlplane/scheduler/metrics';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { parseYaml } from '@kruise/schema/yaml-text';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { systemClock, systemRandom } from '@kruise/values/system';
import { postToExtender } from '../extender-post.ts';

export type SchedulerCommandOptions = {
  readonly kubeconfig?: string;
  readonly config?: string;
  readonly leaderElect?: string;
  readonly leaderElectLeaseDuration?: string;
  readonly leaderElectRenewDeadline?: string;
  readonly leaderElectRetryPeriod?: string;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
  readonly bindAddress: string;
  readonly healthPort: string;
};

/** Runs the scheduler until the process is told to stop. */
export async function scheduler(options: SchedulerCommandOptions): Promise<number> {
  const configuration = options.config
    ? readConfiguration(parseYaml(readFileSync(options.config, 'utf8')))
    : defaultConfiguration;
  const election = electionOf(configuration, options);
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const place = options.kubeconfig === undefined ? {} : { path: options.kubeconfig };
  const { client, close } = connect(systemClock, { ...place, userAgent: 'kube-scheduler' });
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  let isRunning = false;
  const running = () => {
    // A replica that waits for its turn is as ready as one that leads.
    if (!isRunning && !election.leaderElect) throw new Error('the caches are not filled yet');
  };
  const port = Number(options.healthPort);
  const health = port
    ? await serveHealth({ host: options.bindAddress, port, ready: { caches: running }, metrics: registry })
    : undefined;
  const { leaderElect, resourceName, resourceNamespace, ...durations } = election;
  const identity = `${hostname()}_${process.pid}`;
  try {
    await runScheduler(
      {
        client,
        clock: systemClock,
        random: systemRandom,
        log,
        host: hostname(),
        configuration,
        post: postToExtender,
        metrics: createControllerMetrics(registry),
        schedulerMetrics: createSchedulerMetrics(registry),
        onRunning() {
          isRunning = true;
          log.info(
            { profiles: configuration.profiles.map(({ schedulerName }) => schedulerName) },
            'the scheduler is running',
          );
        },
        ...(leaderElect
          ? { leaderElection: { name: resourceName, namespace: resourceNamespace, identity, ...durations } }
          : {}),
      },
      stop.signal,
    );
  } finally {
    await health?.close();
    close();
  }
  return 0;
}

/** What is said of the election on the command line goes before what is in the file. */
function electionOf({ leaderElection }: SchedulerConfiguration, options: SchedulerCommandOptions) {
  const seconds = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : toMilliseconds(parseDuration(text)) / 1000;
  return {
    leaderElect: options.leaderElect === undefined ? leaderElection.leaderElect : options.leaderElect !== 'false',
    leaseDurationSeconds: seconds(options.leaderElectLeaseDuration, leaderElection.leaseDurationSeconds),
    renewDeadlineSeconds: seconds(options.leaderElectRenewDeadline, leaderElection.renewDeadlineSeconds),
    retryPeriodSeconds: seconds(options.leaderElectRetryPeriod, leaderElection.retryPeriodSeconds),
    resourceName: options.leaderElectResourceName ?? leaderElection.resourceName,
    resourceNamespace: options.leaderElectResourceNamespace ?? leaderElection.resourceNamespace,
  };
}
