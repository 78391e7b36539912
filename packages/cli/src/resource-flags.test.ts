import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { type KubeletFlags, kubeletFlags } from './kubelet-flags.ts';
import { resourceSettings } from './resource-flags.ts';

const parse = (...args: string[]) =>
  resourceSettings(kubeletFlags(new Command()).parse(args, { from: 'user' }).opts<KubeletFlags>());

test('the defaults are those of Kubernetes', () => {
  assert.deepEqual(parse(), {
    cgroupsPerQos: true,
    cgroupDriver: 'CGROUPFS',
    enforceNodeAllocatable: new Set(['pods']),
    kubeReserved: {},
    systemReserved: {},
    cpuQuota: { isEnforced: true, periodMicroseconds: 100_000 },
    swapBehavior: 'NoSwap',
  });
});

test('reserved resources, their cgroups and limits are parsed', () => {
  assert.deepEqual(
    parse(
      '--kube-reserved=cpu=200m,memory=1Gi',
      '--system-reserved=pid=1000',
      '--enforce-node-allocatable=pods,system-reserved',
      '--system-reserved-cgroup=/system.slice',
      '--pod-max-pids=500',
      '--cgroup-driver=systemd',
      '--cpu-cfs-quota=false',
      '--cpu-cfs-quota-period=20ms',
      '--memory-swap-behavior=LimitedSwap',
    ),
    {
      cgroupsPerQos: true,
      cgroupDriver: 'SYSTEMD',
      enforceNodeAllocatable: new Set(['pods', 'system-reserved']),
      kubeReserved: { cpu: '200m', memory: '1Gi' },
      systemReserved: { pid: '1000' },
      systemReservedCgroup: '/system.slice',
      podPidsLimit: 500,
      cpuQuota: { isEnforced: false, periodMicroseconds: 20_000 },
      swapBehavior: 'LimitedSwap',
    },
  );
});

for (const [arguments_, message] of [
  [['--cgroups-per-qos=false'], /must be none if --cgroups-per-qos is false/],
  [['--cgroups-per-qos=maybe'], /must be true or false, not maybe/],
  [['--enforce-node-allocatable=kube-reserved'], /needs --kube-reserved-cgroup/],
  [['--enforce-node-allocatable=nodes'], /nodes is none of pods/],
  [['--cgroup-driver=none'], /must be one of cgroupfs, systemd, not none/],
  [['--cgroup-driver=toString'], /must be one of cgroupfs, systemd, not toString/],
  [['--cpu-cfs-quota-period=2s'], /must be from 1ms to 1s, not 2s/],
  [['--pod-max-pids=many'], /must be a whole number, not many/],
] as const) {
  test(`${arguments_.join(' ')} is refused`, () => {
    assert.throws(() => parse(...arguments_), message);
  });
}
