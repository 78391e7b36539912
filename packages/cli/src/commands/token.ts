import { randomBytes } from 'node:crypto';
import { connect as connectTo } from 'node:net';
import { secret } from '@kruise/api/core/secret';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import { parseDuration } from '@kruise/values/duration';
import { systemClock } from '@kruise/values/system';
import { dataDirectory, runningCluster } from '../data-directory.ts';
import { authorityHash, tokenOf, tokenSecret } from '../machine/bootstrap-token.ts';
import { clusterDns, clusterDomain, clusterRanges } from '../machine/cluster-network.ts';
import { permitJoining } from '../machine/join-permissions.ts';

export type TokenOptions = { readonly data?: string; readonly ttl: string };

/** Creates a bootstrap token and prints the command with which another machine joins. */
export async function createToken({ data, ttl }: TokenOptions): Promise<number> {
  const directory = dataDirectory(data);
  if (!runningCluster(directory))
    throw new Error(`no cluster is running in ${directory.path}: start one with kruise up`);
  const connection = connect(systemClock, { path: directory.kubeconfig, userAgent: 'kruise-token' });
  try {
    const { client, authorities = '' } = connection;
    const address = await advertisedAddress(client);
    await permitJoining(client, {
      server: `https://${address}`,
      authorities,
      clusterDns,
      clusterDomain,
      clusterRanges,
    });
    const token = tokenOf(randomBytes(128));
    const lifetimeMs = Number(parseDuration(ttl)) / 1e6;
    await client.create(secret, tokenSecret(token, lifetimeMs === 0 ? undefined : systemClock.now() + lifetimeMs));
    console.log(
      `kruise join ${address} --token ${token.id}.${token.secret} --discovery-token-ca-cert-hash ${authorityHash(authorities)}`,
    );
    return 0;
  } finally {
    connection.close();
  }
}

/** Returns the address that the API server advertises. Throws if it listens on the loopback address only. */
async function advertisedAddress(client: Client): Promise<string> {
  const slice = await client.get(endpointSlice, { namespace: 'default', name: 'kubernetes' });
  const host = slice.endpoints[0]?.addresses[0] ?? '';
  const port = slice.ports?.[0]?.port ?? 0;
  if (!(await isListening(host, port))) {
    throw new Error(
      `the API server does not listen on ${host}: start the cluster with --bind ${host}, or with --runtime containerd`,
    );
  }
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTo({ host, port, timeout: 2000 });
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => answer(true));
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}
