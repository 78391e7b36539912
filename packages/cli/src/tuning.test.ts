import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { type ControllerManagerFlags, controllerManagerFlags } from './flags.ts';
import { tuningOf } from './tuning.ts';

const parse = (...flags: string[]) =>
  controllerManagerFlags(new Command().exitOverride()).parse(flags, { from: 'user' }).opts<ControllerManagerFlags>();

test('flags that are not set leave the defaults', () => {
  assert.deepEqual(tuningOf(parse()), {
    nodeMonitor: {},
    nodeBlockLengths: { 4: undefined, 6: undefined },
    autoscaler: {},
  });
});

test('the flags have the names of Kubernetes', () => {
  const flags = parse(
    '--node-monitor-grace-period=40s',
    '--node-monitor-period=2s',
    '--node-eviction-rate=0.5',
    '--large-cluster-size-threshold=20',
    '--node-cidr-mask-size=25',
    '--node-cidr-mask-size-ipv6=72',
    '--max-endpoints-per-slice=50',
    '--horizontal-pod-autoscaler-sync-period=1m',
    '--horizontal-pod-autoscaler-tolerance=0.2',
    '--horizontal-pod-autoscaler-cpu-initialization-period=1m30s',
  );
  assert.deepEqual(tuningOf(flags), {
    nodeMonitor: { periodSeconds: 2, monitorGraceSeconds: 40, evictionRate: 0.5, largeClusterSize: 20 },
    nodeBlockLengths: { 4: 25, 6: 72 },
    autoscaler: { periodSeconds: 60, tolerance: 0.2, cpuInitializationMs: 90_000 },
    maxEndpointsPerSlice: 50,
  });
});

const refused: readonly [flag: string, message: RegExp][] = [
  ['--node-monitor-period=often', /--node-monitor-period: /],
  ['--node-eviction-rate=-1', /--node-eviction-rate must be a number, not -1/],
  ['--max-endpoints-per-slice=1.5', /--max-endpoints-per-slice must be a number, not 1.5/],
];
for (const [flag, message] of refused) {
  test(`${flag} is rejected`, () => assert.throws(() => tuningOf(parse(flag)), message));
}
