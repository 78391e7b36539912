import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfiguration } from '@kruise/controlplane/scheduler/configuration';
import { Command } from 'commander';
import { type SchedulerFlags, schedulerFlags } from '../flags.ts';
import { withElection } from './scheduler.ts';

/** Returns the effective flags of a command line and the election settings of a configuration file. */
function electionOf(line: readonly string[], file: Partial<typeof defaultConfiguration.leaderElection> = {}) {
  const command = schedulerFlags(new Command()).exitOverride().parse(line, { from: 'user' });
  const isGiven = (flag: string) => command.getOptionValueSource(flag) === 'cli';
  return withElection(command.opts<SchedulerFlags>(), { ...defaultConfiguration.leaderElection, ...file }, isGiven);
}

test('kube-scheduler has the default port and lease of Kubernetes', () => {
  const { securePort, leaderElect, ...flags } = electionOf([]);
  assert.deepEqual([securePort, leaderElect], ['10259', true]);
  assert.deepEqual(
    [flags.leaderElectResourceNamespace, flags.leaderElectResourceName],
    ['kube-system', 'kube-scheduler'],
  );
  assert.deepEqual(
    [flags.leaderElectLeaseDuration, flags.leaderElectRenewDeadline, flags.leaderElectRetryPeriod],
    ['15s', '10s', '2s'],
  );
});

test('leader election flags of the command line override the configuration file', () => {
  const flags = electionOf(['--leader-elect-lease-duration', '1m', '--leader-elect=false'], {
    leaderElect: true,
    leaseDurationSeconds: 20,
    retryPeriodSeconds: 0.5,
    resourceName: 'ours',
  });
  assert.deepEqual([flags.leaderElect, flags.leaderElectLeaseDuration], ['false', '1m']);
  assert.deepEqual([flags.leaderElectRetryPeriod, flags.leaderElectResourceName], ['0.5s', 'ours']);
});
