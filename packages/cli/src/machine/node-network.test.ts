import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasRealPods, removeNodeNetwork } from './node-network.ts';

const nodeWith = (containerRuntimeVersion?: string) => ({
  metadata: { name: 'a' },
  ...(containerRuntimeVersion === undefined ? {} : { status: { nodeInfo: { containerRuntimeVersion } } }),
});

test('Pods of simulated nodes have no packets, and no routes', () => {
  const reached = (version?: string) => hasRealPods(nodeWith(version) as Parameters<typeof hasRealPods>[0]);
  assert.deepEqual([reached('simulated://0.1.0'), reached('containerd://1.6.20'), reached()], [false, true, true]);
});

test('from another network namespace only the CNI configuration of the node is removed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kruise-cni-'));
  for (const name of ['10-kruise.conflist', '05-other.conflist']) writeFileSync(join(directory, name), '{}');
  await removeNodeNetwork({ cniConfiguration: directory, networkNamespace: 'net:[0]' });
  assert.deepEqual(readdirSync(directory), ['05-other.conflist']);
  rmSync(directory, { recursive: true });
});
