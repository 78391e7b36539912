import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { claimNetwork, requireNetwork } from './network-claim.ts';

const options = { skip: process.platform === 'linux' ? false : 'abstract sockets exist on Linux only' };
const name = `\0kruise-network-test-${process.pid}`;
const closedPort = 1;

test('a network namespace has one node at a time', options, async () => {
  const claim = await requireNetwork(closedPort, name);
  assert.equal(await claimNetwork(name), undefined);
  await assert.rejects(requireNetwork(closedPort, name), /another node of kruise uses the network/);
  claim.release();
  (await requireNetwork(closedPort, name)).release();
});

test('a machine with another kube-proxy is refused, and not claimed', options, async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await assert.rejects(requireNetwork(port, name), new RegExp(`another kube-proxy runs on this machine .port ${port}`));
  (await requireNetwork(closedPort, name)).release();
  other.close();
});
