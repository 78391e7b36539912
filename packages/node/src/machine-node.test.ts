import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usesSystemdCgroups } from './machine-node.ts';

for (const [title, configuration, expected] of [
  ['nothing about cgroups', {}, false],
  ['the default runtime with the systemd driver', runc({ SystemdCgroup: true }), true],
  ['the default runtime with the cgroupfs driver', runc({ SystemdCgroup: false }), false],
  [
    'only another runtime with the systemd driver',
    { containerd: { defaultRuntimeName: 'runc', runtimes: { other: { options: { SystemdCgroup: true } } } } },
    false,
  ],
  ['the old setting', { systemdCgroup: true }, true],
] as const) {
  test(`a containerd that configures ${title} uses ${expected ? 'systemd' : 'cgroupfs'}`, () => {
    assert.equal(usesSystemdCgroups(JSON.stringify(configuration)), expected);
  });
}

function runc(options: object) {
  return { containerd: { defaultRuntimeName: 'runc', runtimes: { runc: { options } } } };
}
