import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@kruise/client/client';
import { fixedCredentials } from '@kruise/client/credentials';
import { createHttpTransport } from '@kruise/client/http-transport';
import { formatKubeconfig, kubeconfigFileOf } from '@kruise/client/kubeconfig-file';
import type { Transport } from '@kruise/client/transport';
import { type Authority, createAuthority, type KeyPair } from '@kruise/machinery/x509/certificate';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { systemClock, systemRandom } from '@kruise/values/system';
import type { Core } from '../core.ts';
import { inProcessTransport } from '../in-process.ts';
import { type ServerParts, startApiServer } from '../server.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { User } from '../user.ts';

/** How a test wants its server; where nothing is said it is in memory, and reached without a socket. */
export type TestServerOptions = {
  /** Stores on disk, in a folder that goes with the server, rather than in memory. */
  readonly disk?: boolean;
  /** Quota of the store in memory. */
  readonly quotaBytes?: number;
  /** Listens, and has `client` speak HTTPS as a program elsewhere would. */
  readonly https?: boolean;
  /** Who `client` is: by default someone who may do everything. */
  readonly user?: User;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told of what goes wrong within the server. By default `close` fails with it. */
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

/** A whole API server, for one test. */
export type TestServer = {
  readonly client: Client;
  readonly core: Core;
  /** A client that is someone else, by the same way as `client`. */
  clientOf(user: User): Client;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Where a server is that listens. */
export type Listening = {
  readonly url: string;
  /** What kubectl needs to be `client`'s user. */
  readonly kubeconfig: { readonly path: string; readonly text: string };
};

/** Who may do everything. */
export const testAdmin: User = { username: 'test-admin', groups: ['system:masters'] };

/**
 * Starts an API server for a test: the real one, with a store of its own. Any number run side by side. Objects are
 * frozen, so that a program that changes one it was only shown fails where it does.
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
  const authority = https ? createAuthority('kruise-test', clock.now()) : undefined;
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
    const clientOf = (someone: User) => createClient(transportOf(someone));
    return { client: clientOf(user), core: server.core, clientOf, close, [Symbol.asyncDispose]: close };
  };
  if (!authority) return reachable((someone) => inProcessTransport(server.core, authenticated(someone)));

  const pair = authority.issue({
    subject: { commonName: 'kube-apiserver' },
    usages: ['server auth'],
    hosts: ['localhost', '127.0.0.1'],
    nowMs: clock.now(),
  });
  const { port, announced } = await server.serveHttps({ host: '127.0.0.1', port: 0, ...pair });
  await announced;
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
  const remote = reachable((someone) => {
    const certificate = certificateOf(someone, authority, clock);
    const transport = createHttpTransport({
      server: url,
      authorities: authority.certificate,
      credentials: fixedCredentials({ certificate }),
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

/** Over the network everyone who is known is in this group; here nobody checks who it is. */
function authenticated(user: User): User {
  const group = 'system:authenticated';
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}

function certificateOf({ username, groups }: User, authority: Authority, clock: Clock): KeyPair {
  return authority.issue({
    subject: { commonName: username, organizations: groups },
    usages: ['client auth'],
    nowMs: clock.now(),
  });
}
