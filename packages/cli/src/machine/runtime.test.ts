import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cniDirectoryOf } from './runtime.ts';

test('CNI configurations are written where containerd reads them', () => {
  assert.equal(cniDirectoryOf(JSON.stringify({ cni: { confDir: '/data/cni' } })), '/data/cni');
});

test('CNI configurations are written to the usual directory for other runtimes', () => {
  assert.equal(cniDirectoryOf('{}'), '/etc/cni/net.d');
});
