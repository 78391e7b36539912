/** Probe and lifecycle hook handlers: exec, HTTP, TCP and gRPC, through the node's runtime and network. */
import type { Container } from '@kruise/api/core/container';
import type { HTTPGetAction, LifecycleHandler, ProbeHandler } from '@kruise/api/core/probe';
import { GrpcError, goErrorText } from '@kruise/client/grpc/status';
import { after, type Clock } from '@kruise/values/clock';
import type { HttpResponse, NodeRuntime } from '../../cri/runtime.ts';
import { expand } from '../containers/expansion.ts';
import { descriptionOf, rpcTextOf } from '../runtime/runtime-error.ts';

/** Outcome of one probe. */
export type ProbeOutcome = { readonly result: 'success' | 'warning' | 'failure'; readonly output: string };

/** Container that a probe or a hook targets. */
export type Target = {
  readonly container: Container;
  readonly containerId: string;
  readonly podIP: string;
};

type Node = Pick<NodeRuntime, 'execSync' | 'network'>;

const maxOutputBytes = 10 * 1024;
const userAgent = 'kube-probe/1.33';

/** Runs a probe once. Throws if the probe could not run at all. */
export async function runProbe(
  node: Node,
  clock: Clock,
  probe: ProbeHandler & { readonly timeoutSeconds?: number },
  target: Target,
): Promise<ProbeOutcome> {
  const seconds = probe.timeoutSeconds ?? 1;
  if (probe.exec) return probeExec(node, probe.exec.command ?? [], seconds, target);
  if (probe.httpGet) return probeHttp(node, clock, probe.httpGet, seconds, target);
  if (probe.tcpSocket) {
    const port = portOf(probe.tcpSocket.port, target.container);
    return probeTcp(node, clock, { host: probe.tcpSocket.host || target.podIP, port }, seconds);
  }
  if (probe.grpc) {
    const { port, service } = probe.grpc;
    return probeGrpc(node, clock, { host: target.podIP, port, service: service ?? '' }, seconds);
  }
  throw new Error(`missing probe handler for ${target.container.name}`);
}

async function probeExec(
  { execSync }: Node,
  command: readonly string[],
  seconds: number,
  { container, containerId }: Target,
): Promise<ProbeOutcome> {
  const variables = new Map((container.env ?? []).map(({ name, value = '' }) => [name, value]));
  const cmd = command.map((part) => expand(part, (name) => variables.get(name)));
  try {
    const { stdout, stderr, exitCode } = await execSync({ containerId, cmd, timeout: seconds });
    const output = textOf(Buffer.concat([stdout, stderr]));
    return { result: exitCode === 0 ? 'success' : 'failure', output };
  } catch (error) {
    if (!(error instanceof GrpcError) || error.code !== 'DEADLINE_EXCEEDED')
      throw new Error(error instanceof GrpcError ? goErrorText(error) : descriptionOf(error), { cause: error });
    return { result: 'failure', output: `command ${JSON.stringify(cmd.join(' '))} timed out after ${seconds}s` };
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxOutputBytes)).toString();
}

const maxRedirects = 10;

async function probeHttp(
  { network }: Node,
  clock: Clock,
  action: HTTPGetAction,
  seconds: number,
  target: Target,
): Promise<ProbeOutcome> {
  const first = locationOf(action, target);
  const headers = probeHeaders(action);
  let location = first;
  try {
    for (let redirects = 0; ; redirects++) {
      const response = await withTimeout(clock, seconds, (signal) =>
        network.request({ ...location, headers, maxBodyBytes: maxOutputBytes }, { signal }),
      );
      const next = response && redirectOf(response, location);
      if (!response) {
        const output = `Get ${JSON.stringify(urlOf(location).href)}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
        return { result: 'failure', output };
      }
      if (!next) return outcomeOfResponse(response);
      if (next.host !== first.host) {
        return { result: 'warning', output: `Probe terminated redirects, Response body: ${textOf(response.body)}` };
      }
      if (redirects === maxRedirects) {
        return {
          result: 'failure',
          output: `Get ${JSON.stringify(urlOf(next).href)}: stopped after ${maxRedirects} redirects`,
        };
      }
      location = next;
    }
  } catch (error) {
    return { result: 'failure', output: `Get ${JSON.stringify(urlOf(location).href)}: ${descriptionOf(error)}` };
  }
}

function outcomeOfResponse({ status, body }: HttpResponse): ProbeOutcome {
  if (status < 200 || status >= 400) {
    return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
  }
  return { result: 'success', output: textOf(body) };
}

function redirectOf({ status, headers }: HttpResponse, from: Location): Location | undefined {
  const { location } = headers;
  return status >= 300 && status < 400 && location ? locationOfUrl(new URL(location, urlOf(from))) : undefined;
}

/** Request target of an HTTP probe. */
type Location = {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly path: string;
};

const plainAddress = /^\d+\.\d+\.\d+\.\d+$/;
const plainPath = /^(\/[\w~-][\w~.-]*)*\/?$/;

function locationOf(action: HTTPGetAction, { container, podIP }: Target): Location {
  const host = action.host || podIP;
  const port = portOf(action.port, container);
  const { path: requestedPath = '/' } = action;
  const path = requestedPath.startsWith('/') ? requestedPath : `/${requestedPath}`;
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http';
  const location = { scheme, host, port, path } as const;
  // Most locations need no normalization; constructing a URL costs more than the rest of the probe.
  return plainAddress.test(host) && plainPath.test(path) ? location : locationOfUrl(urlOf(location));
}

function urlOf({ scheme, host, port, path }: Location): URL {
  return new URL(path, `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

function locationOfUrl(url: URL): Location {
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  return {
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
  };
}

type Headers = readonly (readonly [name: string, value: string])[];

const defaultHeaders: Headers = [
  ['User-Agent', userAgent],
  ['Accept', '*/*'],
];
const defaultHeadersOnly: Headers = [...defaultHeaders, ['Connection', 'close']];

/** Returns the requested headers plus the default ones; an empty requested header removes the default header. */
function probeHeaders({ httpHeaders = [] }: HTTPGetAction): Headers {
  if (httpHeaders.length === 0) return defaultHeadersOnly;
  const requestedNames = new Set(httpHeaders.map(({ name }) => name.toLowerCase()));
  return [
    ...defaultHeaders.filter(([name]) => !requestedNames.has(name.toLowerCase())),
    ...httpHeaders
      .filter(({ name, value }) => value !== '' || !/^(user-agent|accept)$/i.test(name))
      .map(({ name, value }) => [name, value] as const),
    ['Connection', 'close'],
  ];
}

async function probeTcp(
  { network }: Node,
  clock: Clock,
  target: { readonly host: string; readonly port: number },
  seconds: number,
): Promise<ProbeOutcome> {
  try {
    const socket = await withTimeout(clock, seconds, (signal) => network.connect(target, { signal }));
    if (!socket) return { result: 'failure', output: `dial tcp ${target.host}:${target.port}: i/o timeout` };
    socket.destroy();
    return { result: 'success', output: '' };
  } catch (error) {
    return { result: 'failure', output: descriptionOf(error) };
  }
}

async function probeGrpc(
  { network }: Node,
  clock: Clock,
  target: { readonly host: string; readonly port: number; readonly service: string },
  seconds: number,
): Promise<ProbeOutcome> {
  try {
    const health = await withTimeout(clock, seconds, (signal) => network.checkHealth(target, { signal }));
    if (health === undefined) {
      return { result: 'failure', output: `timeout: health rpc did not complete within ${seconds}s` };
    }
    if (health === 'SERVING') return { result: 'success', output: 'service healthy' };
    return { result: 'failure', output: `service unhealthy (responded with ${JSON.stringify(health)})` };
  } catch (error) {
    if (error instanceof GrpcError && error.code === 'UNIMPLEMENTED') {
      const output = `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${descriptionOf(error)}`;
      return { result: 'failure', output };
    }
    return { result: 'failure', output: `error: health rpc probe failed: ${rpcTextOf(error)}` };
  }
}

/** Returns the result of the work, or undefined on timeout. */
function withTimeout<T>(
  clock: Clock,
  seconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const limit = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const cancel = clock.setTimer(seconds * 1000, () => {
    limit.abort();
    resolve(undefined);
  });
  // An aborted work may reject after the timeout; the rejection is then ignored.
  work(limit.signal).then(
    (result) => {
      cancel();
      resolve(result);
    },
    (error: unknown) => {
      cancel();
      reject(error);
    },
  );
  return promise;
}

/** Resolves a port that is given as a number or by name. */
export function portOf(port: number | string, { ports = [] }: Container): number {
  if (typeof port === 'number') return checkPort(port);
  const named = ports.find(({ name }) => name === port)?.containerPort;
  if (named !== undefined) return checkPort(named);
  if (/^\d+$/.test(port)) return checkPort(Number(port));
  throw new Error(`strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`);
}

function checkPort(port: number): number {
  if (port > 0 && port < 65536) return port;
  throw new Error(`invalid port number: ${port}`);
}

/** Target of a lifecycle hook, with a recorder of warning events. */
export type HookTarget = Target & { readonly warn: (reason: string, message: string) => void };

/** Runs a lifecycle hook; throws if the hook fails. */
export async function runHook(
  node: Node,
  clock: Clock,
  handler: LifecycleHandler,
  target: HookTarget,
  signal: AbortSignal,
): Promise<void> {
  if (handler.exec) {
    const { stdout, stderr, exitCode } = await node.execSync(
      { containerId: target.containerId, cmd: handler.exec.command ?? [] },
      { signal },
    );
    if (exitCode === 0) return;
    const output = textOf(Buffer.concat([stdout, stderr]));
    const command = (handler.exec.command ?? []).join(' ');
    throw new Error(`command '${command}' exited with ${exitCode}: ${output}`);
  }
  if (handler.httpGet) return runHttpHook(node, handler.httpGet, target, signal);
  if (handler.sleep) return after(clock, handler.sleep.seconds * 1000, signal);
  throw new Error('invalid handler: no known action');
}

/** Runs an HTTP hook. Every HTTP response counts as success. */
async function runHttpHook(
  { network }: Node,
  action: HTTPGetAction,
  target: HookTarget,
  signal: AbortSignal,
): Promise<void> {
  const headers = probeHeaders(action).map(
    ([name, value]) => [name, value === userAgent ? 'kube-lifecycle/1.33' : value] as const,
  );
  const location = locationOf(action, target);
  try {
    await network.request({ ...location, headers }, { signal });
  } catch (error) {
    if (location.scheme !== 'https' || !isPlainHttpResponse(error)) throw error;
    const plain = headers.filter(([name]) => name.toLowerCase() !== 'authorization');
    await network.request({ ...location, scheme: 'http', headers: plain }, { signal });
    const message = `request to HTTPS lifecycle hook ${urlOf(location).host} got HTTP response, retry with HTTP succeeded`;
    target.warn('LifecycleHTTPFallback', message);
  }
}

/** Reports whether a server answered a TLS request in plain HTTP. */
function isPlainHttpResponse(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER';
}
