import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  containerdRequirement,
  findCniDirectory,
  missingMessage,
  packageManagerOf,
  pluginRequirement,
} from './requirements.ts';

for (const [title, osRelease, manager] of [
  ['Debian', 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n', 'apt'],
  ['a derivative of Ubuntu', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'apt'],
  ['Rocky Linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf'],
  ['Alpine', 'ID=alpine\n', 'apk'],
  ['Arch', 'ID=arch\n', 'pacman'],
  ['another system', 'ID=nixos\n', undefined],
  ['a system without a release file', '', undefined],
] as const) {
  test(`the package manager of ${title} is ${manager ?? 'not known'}`, () => {
    assert.equal(packageManagerOf(osRelease), manager);
  });
}

test('the message names what is missing and the command that installs it', () => {
  const message = missingMessage([containerdRequirement, pluginRequirement], 'ID=debian\n');
  assert.match(message, /containerd: the container runtime/);
  assert.match(message, /Install with: apt-get install -y containerd containernetworking-plugins$/);
});

test('the message names packages of Debian where the package manager is not known', () => {
  assert.match(missingMessage([containerdRequirement], 'ID=nixos\n'), /on Debian: containerd/);
});

test('CNI plugins are found where all of them are installed', () => {
  const plugins = ['host-local', 'loopback', 'portmap', 'ptp'];
  const exists = (path: string) =>
    path === '/opt/cni/bin/ptp' || plugins.some((name) => path === `/usr/lib/cni/${name}`);
  assert.equal(findCniDirectory(exists), '/usr/lib/cni');
  assert.equal(
    findCniDirectory(() => false),
    undefined,
  );
});
