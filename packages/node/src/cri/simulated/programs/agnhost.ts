/** Kubernetes' test image: one program with many subcommands, of which those that run in a Pod on its own are here. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { createAuthority } from '@kruise/machinery/x509/certificate';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { pick } from '@kruise/values/random';
import type { HttpAnswer } from '../../runtime.ts';
import { collectingOutput, emptyInput } from '../byte-streams.ts';
import { FileError } from '../file-tree.ts';
import { type Listener, type ServedRequest, textAnswer } from '../network.ts';
import { ProcessKilled } from '../process.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { guestbook } from './agnhost-guestbook.ts';
import { conversionAnswer, webhookAnswer } from './agnhost-webhooks.ts';
import { servedFile, serverProgram } from './servers.ts';

/** Go ends with 2 on a signal nobody handles. */
const unhandled = { SIGTERM: 2, SIGINT: 2 } as const;

const subcommands: Readonly<Record<string, Program>> = {
  pause: serverProgram({ ports: [], stops: { SIGINT: 1, SIGTERM: 2 }, greeting: 'Paused' }),
  netexec,
  'serve-hostname': (context) => {
    const port = portOf(context, 'port', 9376);
    const { network, hostname } = context.container;
    if (isSet(context, 'udp')) network.listen(port, { datagram: () => hostname });
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
            ? textAnswer(200, `<pre>\n${files.list(path).join('\n')}\n</pre>\n`, { 'content-type': 'text/html' })
            : textAnswer(404, '404 page not found\n');
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
  'logs-generator': generateLogs,
  webhook: (context) => {
    const sidecarImage = flag(context, 'sidecar-image') ?? '';
    return httpsProgram((request) => webhookAnswer(request, { clock: context.container.clock, sidecarImage }))(context);
  },
  'crd-conversion-webhook': httpsProgram(conversionAnswer),
  porter,
};

export const agnhost: Program = (context) => {
  // The flags of the whole are of no interest here.
  const [name = 'pause', ...rest] = context.argv.slice(1);
  const program = subcommands[name];
  if (!program) return unknownSubcommand(context, name);
  return program({ ...context, argv: [`${context.argv[0]} ${name}`, ...rest] });
};

async function unknownSubcommand({ stderr }: ProgramContext, name: string): Promise<number> {
  await writeText(stderr, `Error: unknown command ${quote(name)} for "app"\nRun 'app --help' for usage.\n`);
  return 1;
}

/** The value of `--name=value` or `--name value`. */
function flag({ argv }: ProgramContext, name: string): string | undefined {
  for (const [index, argument] of argv.entries()) {
    const text = argument.replace(/^--?/, '');
    if (text === argument) continue;
    if (text === name) return argv[index + 1] ?? '';
    if (text.startsWith(`${name}=`)) return text.slice(name.length + 1);
  }
  return undefined;
}

/** Says what the container's resolver is told under a keyword. */
async function printResolver({ container, stdout }: ProgramContext, keyword: string): Promise<number> {
  const lines = Buffer.from(container.files.read('/etc/resolv.conf')).toString().split('\n');
  const told = lines.map((line) => line.trim().split(/\s+/)).filter(([first]) => first === keyword);
  await writeText(stdout, `${told.flatMap(([, ...values]) => values).join(',')}\n`);
  return 0;
}

/** Whether a flag is there that takes no value. */
function isSet({ argv }: ProgramContext, name: string): boolean {
  return argv.some((argument) => new RegExp(`^--?${name}(=true)?$`).test(argument));
}

/** Says the host's name, by HTTP or to whoever connects. */
function hostnameListener(context: ProgramContext): Listener {
  const { hostname } = context.container;
  return isSet(context, 'tcp')
    ? { connection: (connection) => connection.resume().end(hostname) }
    : { http: () => textAnswer(200, hostname) };
}

function portOf(context: ProgramContext, name: string, otherwise: number): number {
  return Number(flag(context, name) ?? otherwise);
}

/** Says on each port what its environment has for it. */
function porter(context: ProgramContext): number | Promise<number> {
  const { environment, container } = context;
  const isJson = isSet(context, 'json-response');
  // What it is told comes after, and in place of, what it listens on because the Pod declares it.
  const running = serverProgram({ ports: [], stops: unhandled })(context);
  let certificate: SecureContext | undefined;
  for (const [name, text] of environment) {
    const [, tls, port] = /^SERVE_(TLS_)?PORT_(\d+)$/.exec(name) ?? [];
    if (port === undefined) continue;
    if (tls) certificate ??= localCertificate(container.clock.now());
    container.network.listen(Number(port), {
      ...(tls && certificate && { certificate }),
      http: ({ method }) =>
        isJson
          ? textAnswer(200, JSON.stringify({ Method: method, Body: text }), { 'content-type': 'application/json' })
          : textAnswer(200, text, text.startsWith('<') ? { 'content-type': 'text/html; charset=utf-8' } : {}),
    });
  }
  return running;
}

function localCertificate(nowMs: number): SecureContext {
  const { certificate, key } = createAuthority('localhost', nowMs).issue({
    subject: { commonName: 'localhost' },
    usages: ['server auth'],
    hosts: ['localhost', '127.0.0.1'],
    nowMs,
  });
  return createSecureContext({ cert: certificate, key });
}

/** Serves HTTPS with the certificate its flags name. */
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

async function netexec(context: ProgramContext): Promise<number> {
  const { process, container, stdout } = context;
  const log = (text: string) => writeText(stdout, `${text}\n`);
  let isStopping = false;
  const override = flag(context, 'http-override');
  return process.wait<number>((resolve) => {
    const exitSoon = (exitCode: number, delayMs: number) => {
      if (delayMs <= 0) resolve(exitCode);
      // Whoever is killed meanwhile has no use for it.
      else void process.sleep(delayMs).then(() => resolve(exitCode), ignoreKilled);
    };
    process.handle('SIGTERM', () => {
      isStopping = true;
      exitSoon(0, 1000 * Number(flag(context, 'delay-shutdown') ?? 0));
    });
    process.handle('SIGINT', () => resolve(2));
    const answer = async (request: ServedRequest): Promise<HttpAnswer> => {
      const { path, query } = request;
      await log(`GET ${path}${query.size === 0 ? '' : `?${query}`}`);
      switch (path) {
        case '/clientip':
          return textAnswer(200, `${request.clientAddress}:40000`);
        case '/dial':
          return dial(context, query);
        case '/echo':
          return textAnswer(Number(query.get('code') || 200), query.get('msg') ?? '');
        case '/exit':
          exitSoon(Number(query.get('code') || 0), durationMs(query.get('wait')));
          return textAnswer(200, '');
        case '/shutdown':
          exitSoon(0, 0);
          return textAnswer(200, '');
        case '/header':
          return textAnswer(200, request.headers[(query.get('key') ?? '').toLowerCase()] ?? '');
        case '/healthz':
          return textAnswer(200, '');
        case '/readyz':
          return isStopping ? textAnswer(503, '') : textAnswer(200, '');
        case '/hostname':
        case '/hostName':
          return textAnswer(200, container.hostname);
        case '/redirect':
          return textAnswer(Number(query.get('code') || 302), '', { location: query.get('location') ?? '/' });
        case '/shell':
          return textAnswer(200, await shellAnswer(context, query.get('shellCommand') ?? query.get('cmd') ?? ''));
        default:
          return textAnswer(200, `NOW: ${new Date(container.clock.now()).toISOString()}`);
      }
    };
    const port = portOf(context, 'http-port', 8080);
    container.network.listen(port, {
      http: (request) => answer(override === undefined ? request : overridden(request, override)),
    });
    const udpPort = portOf(context, 'udp-port', 8081);
    if (udpPort > 0)
      container.network.listen(udpPort, { datagram: (message, client) => said(context, message, client) });
    void log(`Started HTTP server on port ${port}`);
    return undefined;
  });
}

/** What netexec answers to a datagram. */
function said({ container }: ProgramContext, message: string, clientAddress: string): string | undefined {
  const text = message.trim();
  if (text.toLowerCase() === 'hostname') return container.hostname;
  if (text.toLowerCase() === 'clientip') return `${clientAddress}:40000`;
  return /^echo (.*)$/is.exec(text)?.[1];
}

/** Asks another, as often as it is told, and says what it heard. */
async function dial({ container: { network } }: ProgramContext, query: URLSearchParams): Promise<HttpAnswer> {
  const request = query.get('request') ?? '';
  if (request === '') return textAnswer(400, 'request parameter not specified. <nil>\n');
  const target = { host: query.get('host') ?? '', port: Number(query.get('port')) };
  const ask = async () => {
    if (query.get('protocol')?.toLowerCase() === 'udp') {
      const answer = network.ask(target, request);
      if (answer === undefined) throw new Error("reading from udp connection failed. err:'i/o timeout'");
      return answer;
    }
    return Buffer.from((await network.request({ ...target, path: `/${request}` })).body).toString();
  };
  const responses: string[] = [];
  const errors: string[] = [];
  for (let tries = Number(query.get('tries') || 1); tries > 0; tries--) {
    try {
      responses.push(await ask());
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  return textAnswer(
    200,
    JSON.stringify({ ...(responses.length > 0 && { responses }), ...(errors.length > 0 && { errors }) }),
  );
}

function ignoreKilled(error: unknown): void {
  if (!(error instanceof ProcessKilled)) throw error;
}

function overridden(request: ServedRequest, path: string): ServedRequest {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  return { ...request, method: 'GET', path: pathname, query: searchParams };
}

function durationMs(text: string | null): number {
  try {
    return text ? toMilliseconds(parseDuration(text)) : 0;
  } catch (error) {
    if (error instanceof ParseError) return 0;
    throw error;
  }
}

async function shellAnswer(context: ProgramContext, command: string): Promise<string> {
  const { container, environment, directory } = context;
  const shell = container.findProgram('/bin/sh', environment, directory);
  if (!shell) return JSON.stringify({ error: 'exec: "/bin/sh": no such file or directory' });
  const output = collectingOutput(64 * 1024);
  const { exited } = container.spawn(async (process) =>
    shell({ ...context, argv: ['/bin/sh', '-c', command], stdin: emptyInput, stdout: output, stderr: output, process }),
  );
  const exitCode = await exited;
  const text = Buffer.from(output.bytes()).toString();
  return JSON.stringify(exitCode === 0 ? { output: text } : { output: text, error: `exit status ${exitCode}` });
}

/** Notes who has written, and tells it. */
function meetingListener({ container: { hostname } }: ProgramContext): Listener {
  const received = new Map<string, number>();
  return {
    http({ path, body }) {
      if (path === '/read') {
        return textAnswer(200, JSON.stringify({ Hostname: hostname, Received: Object.fromEntries(received) }));
      }
      if (path !== '/write') return textAnswer(404, '404 page not found\n');
      const source = /"Source"\s*:\s*"([^"]*)"/.exec(Buffer.from(body).toString())?.[1];
      if (source) received.set(source, (received.get(source) ?? 0) + 1);
      return textAnswer(200, JSON.stringify({ Hostname: hostname }));
    },
  };
}

/** Well for ten seconds, then not. */
function livenessListener({ container }: ProgramContext) {
  const elapsedSeconds = () => (container.clock.now() - container.startedAt) / 1000;
  return {
    http({ path, query }: ServedRequest) {
      if (path === '/started') return textAnswer(200, `${elapsedSeconds()}`);
      if (path === '/redirect') return textAnswer(302, '', { location: query.get('loc') ?? '/' });
      if (path !== '/healthz') return textAnswer(404, '404 page not found\n');
      return elapsedSeconds() > 10 ? textAnswer(500, `error: ${elapsedSeconds()}`) : textAnswer(200, 'ok');
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

const newFileContent = 'mount-tester new file\n';

/** Says what it finds at paths, as the tests of volumes expect to read it. */
async function mounttest(context: ProgramContext): Promise<number> {
  const { files } = context.container;
  const print = (text: string) => writeText(context.stdout, `${text}\n`);
  let failures = 0;
  const attempt = async (path: string | undefined, trouble: string, act: (path: string) => void | Promise<void>) => {
    if (path === undefined || path === '') return;
    try {
      await act(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      failures++;
      await print(`${trouble}(${quote(path)}): ${error.description.toLowerCase()}`);
    }
  };
  await attempt(flag(context, 'fs_type'), 'error from statfs', (path) => {
    files.stat(path);
    return print(`mount type of ${quote(path)}: tmpfs`);
  });
  const content = (path: string) =>
    print(`content of file ${quote(path)}: ${Buffer.from(files.read(path)).toString()}`);
  // Files are written before they are looked at, and shown as soon as they are there.
  for (const mode of ['0644', '0666', '0660', '0777']) {
    await attempt(flag(context, `new_file_${mode}`), 'error writing new file', (path) => {
      files.write(path, newFileContent, { mode: Number.parseInt(mode, 8) });
      return content(path);
    });
  }
  await attempt(flag(context, 'file_mode'), 'error from Lstat', (path) =>
    print(`mode of file ${quote(path)}: ${goMode(files.stat(path))}`),
  );
  await attempt(flag(context, 'file_perm'), 'error from Lstat', (path) =>
    print(`perms of file ${quote(path)}: ${permissions(files.stat(path).mode & 0o777)}`),
  );
  await attempt(flag(context, 'file_owner'), 'error from stat', async (path) => {
    const { uid, gid } = files.stat(path);
    await print(`owner UID of ${quote(path)}: ${uid}`);
    await print(`owner GID of ${quote(path)}: ${gid}`);
  });
  await attempt(flag(context, 'file_content'), 'error reading file content for', content);
  const loopPath = flag(context, 'file_content_in_loop');
  if (loopPath !== undefined) failures += await readInLoop(context, loopPath);
  return failures > 0 ? 1 : 0;
}

/** Reads a file until it is as expected, or time is up. */
async function readInLoop(context: ProgramContext, path: string): Promise<number> {
  const { files, clock } = context.container;
  const print = (text: string) => writeText(context.stdout, `${text}\n`);
  const stopsEarly = flag(context, 'break_on_expected_content') !== 'false';
  const end = clock.now() + 1000 * Number(flag(context, 'retry_time') ?? 180);
  let failed = false;
  while (clock.now() < end) {
    try {
      const content = Buffer.from(files.read(path)).toString();
      failed = false;
      await print(`content of file ${quote(path)}: ${content}`);
      if (stopsEarly && content === newFileContent) break;
      if (stopsEarly) await print(`Unexpected content. Expected: ${newFileContent}. Retrying`);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      failed = true;
      await print(`Error reading file ${path}: open ${path}: ${error.description.toLowerCase()}, retrying`);
    }
    await context.process.sleep(2000);
  }
  return failed ? 1 : 0;
}

/** As Go prints a file's mode: `-rw-r--r--`, `drwxrwxrwx`, `dtrwxrwxrwx`. */
function goMode({ type, mode }: { readonly type: string; readonly mode: number }): string {
  const kind = `${type === 'directory' ? 'd' : ''}${mode & 0o1000 ? 't' : ''}`;
  return `${kind === '' ? '-' : kind}${permissions(mode).slice(1)}`;
}

function permissions(mode: number): string {
  const letters = 'rwxrwxrwx';
  return `-${[...letters].map((letter, index) => (mode & (1 << (8 - index)) ? letter : '-')).join('')}`;
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
