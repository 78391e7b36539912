import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@kruise/client/client';
import { staticCredentials } from '@kruise/client/credentials';
import { createHttpTransport } from '@kruise/client/http-transport';
import { formatKubeconfig, kubeconfigFileOf } from '@kruise/client/kubeconfig-file';
import type { Transport } from '@kruise/client/transport';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPair,
} from '@kruise/machinery/x509/certificate';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { systemClock, systemRandom } from '@kruise/values/system';
import type { Core } from '../core.ts';
import { inProcessTransport } from '../pipeline/in-process.ts';
import { type ServerParts, startApiServer } from '../server.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { User } from '../user.ts';

/** Options of a test server; by default it is in memory and has no socket. */
export type TestServerOptions = {
  /** Stores on disk, in a temporary directory, rather than in memory. */
  readonly disk?: boolean;
  /** Quota of the in-memory store. */
  readonly quotaBytes?: number;
  /** Listens, and connects `client` over HTTPS. */
  readonly https?: boolean;
  /** User of `client`; by default one with all permissions. */
  readonly user?: User;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Called with internal errors of the server. By default `close` fails with them. */
  readonly onError?: (error: unknown) => void;
} & Pick<
  ServerParts,
  | 'admission'
  | 'audit'
  | 'authorizer'
  | 'converterOf'
  | 'features'
  | 'freezeObjects'
  | 'frontProxyClient'
  | 'metrics'
  | 'nodes'
  | 'inProcessServers'
  | 'inProcessWebhooks'
>;

/** Complete API server for one test. */
export type TestServer = {
  readonly client: Client;
  readonly core: Core;
  /** Creates a client for another user, with the same transport as `client`. */
  clientOf(user: User): Client;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Address and credentials of a listening server. */
export type Listening = {
  readonly url: string;
  /** kubeconfig for the user of `client`. */
  readonly kubeconfig: { readonly path: string; readonly text: string };
};

/** User with all permissions. */
export const testAdmin: User = { username: 'test-admin', groups: ['system:masters'] };

/**
 * Starts a real API server with its own store for a test; servers can run in parallel. Objects are frozen, so that
 * code that mutates a shared object fails at once.
 *
 *     await using server = await startTestServer();
 *     await server.client.create(configMap, { metadata: { name: 'settings', namespace: 'default' } });
 */
export async function startTestServer(
  options: TestServerOptions & { readonly https: true },
): Promise<TestServer & Listening>;
export async function startTestServer(options?: TestServerOptions): Promise<TestServer>;
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer | (TestServer & Listening)> {
  const {
    disk,
    quotaBytes,
    https,
    user = testAdmin,
    clock = systemClock,
    random = systemRandom,
    onError,
    ...parts
  } = options;
  const folder = disk || https ? mkdtempSync(join(tmpdir(), 'kruise-test-')) : undefined;
  const failures: unknown[] = [];
  const authority = https ? createCertificateAuthority('kruise-test', clock.now()) : undefined;
  const server = await startApiServer({
    freezeObjects: true,
    ...parts,
    store: disk ? await openDisk(join(folder!, 'kruise.db'), clock) : createMemoryStore({ clock, quotaBytes }),
    clock,
    random,
    ...(authority ? { clientAuthority: authority.certificate } : {}),
    onError: onError ?? ((error) => failures.push(error)),
  });
  const closers: (() => void)[] = [];

  const close = async () => {
    for (const each of closers.splice(0)) each();
    await server.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    if (failures.length > 0) throw new AggregateError(failures.splice(0), 'something went wrong within the server');
  };
  const reachable = (transportOf: (user: User) => Transport): TestServer => {
    const clientOf = (otherUser: User) => createClient(transportOf(otherUser));
    return { client: clientOf(user), core: server.core, clientOf, close, [Symbol.asyncDispose]: close };
  };
  if (!authority) return reachable((otherUser) => inProcessTransport(server.core, authenticated(otherUser)));

  const pair = authority.issue({
    subject: { commonName: 'kube-apiserver' },
    usages: ['server auth'],
    hosts: ['localhost', '127.0.0.1'],
    nowMs: clock.now(),
  });
  const { port, registered } = await server.serveHttps({ host: '127.0.0.1', port: 0, ...pair });
  await registered;
  const url = `https://127.0.0.1:${port}`;
  const text = formatKubeconfig(
    kubeconfigFileOf({
      name: 'kruise-test',
      server: url,
      authorities: authority.certificate,
      certificate: certificateOf(user, authority, clock),
    }),
  );
  const path = join(folder!, 'kubeconfig');
  writeFileSync(path, text, { mode: 0o600 });
  const remote = reachable((otherUser) => {
    const certificate = certificateOf(otherUser, authority, clock);
    const transport = createHttpTransport({
      server: url,
      authorities: authority.certificate,
      credentials: staticCredentials({ certificate }),
      clock,
    });
    closers.push(() => transport.close());
    return transport;
  });
  return { ...remote, url, kubeconfig: { path, text } };
}

async function openDisk(path: string, clock: Clock) {
  const { openSqliteStore } = await import('../store/sqlite.ts');
  return openSqliteStore({ path, clock });
}

/** Adds system:authenticated, as authentication does over the network. */
function authenticated(user: User): User {
  const group = 'system:authenticated';
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}

function certificateOf({ username, groups }: User, authority: CertificateAuthority, clock: Clock): KeyPair {
  return authority.issue({
    subject: { commonName: username, organizations: groups },
    usages: ['client auth'],
    nowMs: clock.now(),
  });
}
