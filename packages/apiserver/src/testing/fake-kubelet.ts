import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Status } from '@kruise/api/meta/status';
import { joinSockets } from '@kruise/client/streaming/join';
import { acceptPortForward, portsOf } from '@kruise/client/streaming/port-forward';
import { acceptRemoteCommand, type RemoteCommand } from '@kruise/client/streaming/remote-command';
import { rejectUpgrade, UpgradeRejectedError } from '@kruise/client/streaming/upgrade';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';

/** Request that a kubelet received. */
export type KubeletRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Common name of the client certificate. */
  readonly client: string | undefined;
};

export type FakeKubeletOptions = {
  /** Runs a command, or the attached process of a container. The default echoes standard input. */
  readonly run?: (command: RemoteCommand, argv: readonly string[], request: KubeletRequest) => Promise<Status>;
  /** Answers plain requests, such as for logs. */
  readonly answer?: (request: KubeletRequest, response: ServerResponse, body: IncomingMessage) => void;
  /** CA of the accepted client certificates. */
  readonly clientAuthority?: string;
  readonly host?: string;
};

/** Fake kubelet: a server with the streaming API of kubelets, backed by functions. */
export type FakeKubelet = {
  readonly port: number;
  /** CA of the kubelet's own certificate. */
  readonly authority: string;
  readonly requests: readonly KubeletRequest[];
  /** Number of open upgraded connections. */
  readonly openConnections: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export const succeeded: Status = { metadata: {}, status: 'Success' };

/** Creates the Status of a command that ended with an exit code. */
export function exited(code: number): Status {
  if (code === 0) return succeeded;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

export async function startFakeKubelet(options: FakeKubeletOptions = {}): Promise<FakeKubelet> {
  const host = options.host ?? '127.0.0.1';
  const authority = createCertificateAuthority('fake-kubelet-ca', systemClock.now());
  const { certificate, key } = authority.issue({
    subject: { commonName: 'fake-kubelet' },
    usages: ['server auth'],
    hosts: [host],
    nowMs: systemClock.now(),
  });
  const requests: KubeletRequest[] = [];
  const sockets = new Set<Socket>();
  let openConnections = 0;
  const server = createServer({
    cert: certificate,
    key,
    ...(options.clientAuthority === undefined
      ? {}
      : { ca: options.clientAuthority, requestCert: true, rejectUnauthorized: true }),
  });

  function recordRequest(request: IncomingMessage): KubeletRequest {
    const url = new URL(request.url ?? '/', 'https://kubelet');
    const recorded = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      client: (request.socket as TLSSocket).getPeerCertificate?.()?.subject?.CN as string | undefined,
    };
    requests.push(recorded);
    return recorded;
  }

  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    const recorded = recordRequest(request);
    if (options.answer) options.answer(recorded, response, request);
    else response.writeHead(404).end('404 page not found\n');
  });
  server.on('upgrade', (request, socket, head) => {
    openConnections++;
    socket.once('close', () => {
      openConnections--;
    });
    socket.on('error', () => {});
    const recorded = recordRequest(request);
    const upgrade = { method: recorded.method, headers: request.headers, socket, head };
    const [, action] = recorded.path.split('/');
    const done = action === 'portForward' ? forward(recorded) : converse(recorded);
    done.catch((error: unknown) => {
      if (!(error instanceof UpgradeRejectedError)) socket.destroy();
    });

    async function forward({ query }: KubeletRequest): Promise<void> {
      await acceptPortForward(upgrade, systemClock, {
        ports: portsOf(query.getAll('port')),
        connect({ port, data, fail }) {
          const target = connect(port, '127.0.0.1');
          target.once('error', (error) => fail(`error forwarding port ${port} to pod: ${error.message}`));
          target.once('connect', () => void joinSockets(data, target));
        },
      });
    }

    async function converse({ query, path }: KubeletRequest): Promise<void> {
      const asked = (name: string) => query.get(name) === '1';
      const streams = { stdin: asked('input'), stdout: asked('output'), stderr: asked('error'), tty: asked('tty') };
      if (path.endsWith('/missing')) throw rejectUpgrade(upgrade, 500, 'container not found ("missing")');
      if (!streams.stdin && !streams.stdout && !streams.stderr) {
        throw rejectUpgrade(upgrade, 400, 'you must specify at least 1 of stdin, stdout, stderr');
      }
      const command = await acceptRemoteCommand(upgrade, systemClock, {
        ...streams,
        stderr: streams.stderr && !streams.tty,
      });
      command.end(await (options.run ?? echo)(command, query.getAll('command'), recorded));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));

  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    port: (server.address() as AddressInfo).port,
    authority: authority.certificate,
    requests,
    get openConnections() {
      return openConnections;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Copies the input to the output until it ends. */
async function echo({ stdin, stdout }: RemoteCommand): Promise<Status> {
  if (stdin && stdout) for await (const chunk of stdin) stdout.write(chunk);
  return succeeded;
}
