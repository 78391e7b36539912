/** Kubernetes test image: one program with many subcommands. Those that run in a single Pod are implemented here. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { quote } from '@kruise/values/go-syntax';
import { pick } from '@kruise/values/random';
import { type Listener, type ServedRequest, textResponse } from '../network.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { connectCommand } from './agnhost-connect.ts';
import { durationMs, flag, isSet, portOf } from './agnhost-flags.ts';
import { guestbook } from './agnhost-guestbook.ts';
import { inClusterClient, issuerDiscovery } from './agnhost-in-cluster.ts';
import { mounttest } from './agnhost-mounttest.ts';
import { netexec } from './agnhost-netexec.ts';
import { portForwardTester } from './agnhost-port-forward.ts';
import { respondConversion, respondWebhook } from './agnhost-webhooks.ts';
import { servedFile, serverProgram } from './servers.ts';

/** Go programs exit with 2 on an unhandled signal. */
const unhandled = { SIGTERM: 2, SIGINT: 2 } as const;

const subcommands: Readonly<Record<string, Program>> = {
  pause: serverProgram({ ports: [], stops: { SIGINT: 1, SIGTERM: 2 }, greeting: 'Paused' }),
  netexec,
  connect: connectCommand,
  'serve-hostname': (context) => {
    const port = portOf(context, 'port', 9376);
    const { container } = context;
    const { hostname } = container;
    if (isSet(context, 'udp')) container.listen(port, { datagram: () => hostname });
    return serverProgram({
      ports: [port],
      stops: { SIGTERM: 0, SIGINT: 2 },
      listener: hostnameListener,
    })(context);
  },
  liveness: serverProgram({ ports: [8080], stops: unhandled, listener: livenessListener }),
  'test-webserver': (context) =>
    serverProgram({
      ports: [portOf(context, 'port', 80)],
      stops: unhandled,
      listener: ({ container: { files } }) => ({
        http({ path }) {
          const body = servedFile(files, path);
          if (body) return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body };
          return files.exists(path)
            ? textResponse(200, `<pre>\n${files.list(path).join('\n')}\n</pre>\n`, { 'content-type': 'text/html' })
            : textResponse(404, '404 page not found\n');
        },
      }),
    })(context),
  'grpc-health-checking': (context) =>
    serverProgram({ ports: [portOf(context, 'port', 5000)], stops: unhandled, listener: healthListener })(context),
  'entrypoint-tester': async ({ argv, stdout }) => {
    await writeText(stdout, `[${argv.join(' ')}]\n`);
    return 0;
  },
  'dns-suffix': (context) => printResolver(context, 'search'),
  'dns-server-list': (context) => printResolver(context, 'nameserver'),
  'etc-hosts': async ({ container, stdout }) => {
    await stdout.write(container.files.read('/etc/hosts'));
    return 0;
  },
  guestbook: (context) =>
    guestbook({
      httpPort: portOf(context, 'http-port', 80),
      backendPort: portOf(context, 'backend-port', 6379),
      replicaOf: flag(context, 'replicaof') ?? '',
    })(context),
  nettest: (context) =>
    serverProgram({ ports: [portOf(context, 'port', 8080)], stops: unhandled, listener: meetingListener })(context),
  mounttest,
  'port-forward-tester': portForwardTester,
  inclusterclient: inClusterClient,
  'test-service-account-issuer-discovery': issuerDiscovery,
  'logs-generator': generateLogs,
  webhook: (context) => {
    const sidecarImage = flag(context, 'sidecar-image') ?? '';
    return httpsProgram((request) => respondWebhook(request, { clock: context.container.clock, sidecarImage }))(
      context,
    );
  },
  'crd-conversion-webhook': httpsProgram(respondConversion),
  porter,
};

export const agnhost: Program = (context) => {
  // Global flags are ignored.
  const [name = 'pause', ...rest] = context.argv.slice(1);
  const program = subcommands[name];
  if (!program) return unknownSubcommand(context, name);
  return program({ ...context, argv: [`${context.argv[0]} ${name}`, ...rest] });
};

async function unknownSubcommand({ stderr }: ProgramContext, name: string): Promise<number> {
  await writeText(stderr, `Error: unknown command ${quote(name)} for "app"\nRun 'app --help' for usage.\n`);
  return 1;
}

/** Prints the values of a keyword in the container's resolv.conf. */
async function printResolver({ container, stdout }: ProgramContext, keyword: string): Promise<number> {
  const lines = Buffer.from(container.files.read('/etc/resolv.conf')).toString().split('\n');
  const entries = lines.map((line) => line.trim().split(/\s+/)).filter(([first]) => first === keyword);
  await writeText(stdout, `${entries.flatMap(([, ...values]) => values).join(',')}\n`);
  return 0;
}

/** Serves the hostname over HTTP or raw TCP. */
function hostnameListener(context: ProgramContext): Listener {
  const { hostname } = context.container;
  return isSet(context, 'tcp')
    ? { connection: (connection) => connection.resume().end(hostname) }
    : { http: () => textResponse(200, hostname) };
}

/** Serves on each port the text that its environment defines for the port. */
function porter(context: ProgramContext): number | Promise<number> {
  const { environment, container } = context;
  const isJson = isSet(context, 'json-response');
  // The environment's ports come after, and replace, the ports that the Pod declares.
  const running = serverProgram({ ports: [], stops: unhandled })(context);
  let certificate: SecureContext | undefined;
  for (const [name, text] of environment) {
    const [, kind, port] = /^SERVE_(TLS_|SCTP_)?PORT_(\d+)$/.exec(name) ?? [];
    if (port === undefined) continue;
    if (kind === 'SCTP_') {
      container.listen(Number(port), {
        transport: 'SCTP',
        connection: (connection) => connection.resume().end(text),
      });
      continue;
    }
    const tls = kind === 'TLS_';
    if (tls) certificate ??= localCertificate(container.clock.now());
    container.listen(Number(port), {
      ...(tls && certificate && { certificate }),
      http: ({ method }) =>
        isJson
          ? textResponse(200, JSON.stringify({ Method: method, Body: text }), { 'content-type': 'application/json' })
          : textResponse(200, text, text.startsWith('<') ? { 'content-type': 'text/html; charset=utf-8' } : {}),
    });
  }
  return running;
}

function localCertificate(nowMs: number): SecureContext {
  const { certificate, key } = createCertificateAuthority('localhost', nowMs).issue({
    subject: { commonName: 'localhost' },
    usages: ['server auth'],
    hosts: ['localhost', '127.0.0.1'],
    nowMs,
  });
  return createSecureContext({ cert: certificate, key });
}

/** Serves HTTPS with the certificate of its flags. */
function httpsProgram(answer: NonNullable<Listener['http']>): Program {
  return (context) => {
    const { files } = context.container;
    const read = (name: string) => Buffer.from(files.read(flag(context, name) ?? ''));
    let certificate: SecureContext;
    try {
      certificate = createSecureContext({ cert: read('tls-cert-file'), key: read('tls-private-key-file') });
    } catch (error) {
      void writeText(context.stderr, `${(error as Error).message}\n`);
      return 255;
    }
    return serverProgram({
      ports: [portOf(context, 'port', 443)],
      stops: unhandled,
      listener: () => ({ certificate, http: answer }),
    })(context);
  };
}

/** Records and reports the peers that have written to it. */
function meetingListener({ container: { hostname } }: ProgramContext): Listener {
  const received = new Map<string, number>();
  return {
    http({ path, body }) {
      if (path === '/read') {
        return textResponse(200, JSON.stringify({ Hostname: hostname, Received: Object.fromEntries(received) }));
      }
      if (path !== '/write') return textResponse(404, '404 page not found\n');
      const source = /"Source"\s*:\s*"([^"]*)"/.exec(Buffer.from(body).toString())?.[1];
      if (source) received.set(source, (received.get(source) ?? 0) + 1);
      return textResponse(200, JSON.stringify({ Hostname: hostname }));
    },
  };
}

/** Healthy for ten seconds, then unhealthy. */
function livenessListener({ container }: ProgramContext) {
  const elapsedSeconds = () => (container.clock.now() - container.startedAt) / 1000;
  return {
    http({ path, query }: ServedRequest) {
      if (path === '/started') return textResponse(200, `${elapsedSeconds()}`);
      if (path === '/redirect') return textResponse(302, '', { location: query.get('loc') ?? '/' });
      if (path !== '/healthz') return textResponse(404, '404 page not found\n');
      return elapsedSeconds() > 10 ? textResponse(500, `error: ${elapsedSeconds()}`) : textResponse(200, 'ok');
    },
  };
}

function healthListener(context: ProgramContext) {
  const service = flag(context, 'service') ?? '';
  const delayMs = 1000 * Number(flag(context, 'delay-unhealthy-sec') ?? -1);
  const { clock, startedAt } = context.container;
  return {
    health: (asked: string) => {
      if (asked !== service) return 'SERVICE_UNKNOWN' as const;
      return delayMs >= 0 && clock.now() - startedAt >= delayMs ? ('NOT_SERVING' as const) : ('SERVING' as const);
    },
  };
}

async function generateLogs(context: ProgramContext): Promise<number> {
  const { process, stdout, container } = context;
  const total = Number(flag(context, 'log-lines-total') ?? flag(context, 't') ?? 0);
  const runMs = durationMs(flag(context, 'run-duration') ?? flag(context, 'd') ?? null);
  if (total <= 0 || runMs <= 0) return 1;
  for (let line = 0; line < total; line++) {
    const name = Math.floor(container.random.next() * 1000).toString(36);
    const namespace = pick(container.random, ['kube-system', 'default', 'ns']);
    await writeText(stdout, `${line} GET /api/v1/namespaces/${namespace}/pods/${name} ${200 + (line % 300)}\n`);
    await process.sleep(runMs / total);
  }
  return 0;
}
