import { isIP, type Socket } from 'node:net';
import { contains, parseAddress, parsePrefix } from '@kruise/values/address';
import { ConnectError } from './transport-error.ts';

/** Host and port to connect to. */
export type Destination = { readonly host: string; readonly port: number };

/** Environment variables. */
export type Environment = { readonly [name: string]: string | undefined };

/** Returns the proxy for a server according to the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
export function proxyFromEnvironment(server: URL, environment: Environment): URL | undefined {
  const getVariable = (name: string) => environment[name] || environment[name.toLowerCase()];
  const proxy = getVariable(server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (!proxy || isExempt(server, getVariable('NO_PROXY') ?? '')) return undefined;
  return parseProxy(proxy);
}

/** Parses the URL of a proxy; the default scheme is http. */
export function parseProxy(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (!url || !['http:', 'https:', 'socks5:', 'socks5h:'].includes(url.protocol)) {
    throw new Error(`${JSON.stringify(text)} is not a valid proxy URL; use http, https or socks5`);
  }
  return url;
}

function isExempt(server: URL, exemptions: string): boolean {
  const host = hostOf(server);
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  if (host === 'localhost' || isLoopback(host)) return true;
  return exemptions.split(',').some((exemption) => matchesExemption(exemption.trim().toLowerCase(), { host, port }));
}

function matchesExemption(
  exemption: string,
  { host, port }: { readonly host: string; readonly port: string },
): boolean {
  if (exemption === '') return false;
  if (exemption === '*') return true;
  if (exemption.includes('/')) {
    if (isIP(host) === 0) return false;
    try {
      return contains(parsePrefix(exemption), parseAddress(host));
    } catch {
      // An invalid CIDR exempts nothing.
      return false;
    }
  }
  const parts = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(exemption);
  const name = isIP(exemption) ? exemption : (parts?.[1] ?? '');
  const onlyPort = isIP(exemption) ? undefined : parts?.[2];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (isIP(name)) return name === host;
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (host === domain && !name.startsWith('.') && !name.startsWith('*'));
}

/** Returns the host of a URL without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

/** Reports whether a host is a loopback address. */
export function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Asks a connected proxy to forward the connection to the destination. */
export async function tunnel(socket: Socket, proxy: URL, destination: Destination): Promise<void> {
  if (proxy.protocol.startsWith('socks')) await connectThroughSocks(socket, proxy, destination);
  else await connectThroughHttp(socket, proxy, destination);
}

async function connectThroughHttp(socket: Socket, proxy: URL, { host, port }: Destination): Promise<void> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const login =
    proxy.username === ''
      ? ''
      : `Proxy-Authorization: Basic ${Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString('base64')}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`);
  const head = await readUntil(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    return end < 0 ? undefined : end + 4;
  });
  const [line = ''] = head.toString('latin1').split('\r\n');
  if (!/^HTTP\/1\.[01] 2\d\d\b/.test(line)) throw proxyError(proxy, line);
}

const socksVersion = 5;
const noAuthentication = 0;
const passwordAuthentication = 2;
const socksRefusals = [
  '',
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'time to live expired',
  'command not supported',
  'address type not supported',
];

async function connectThroughSocks(socket: Socket, proxy: URL, { host, port }: Destination): Promise<void> {
  const hasLogin = proxy.username !== '';
  socket.write(Buffer.from([socksVersion, 1, hasLogin ? passwordAuthentication : noAuthentication]));
  const [, method] = await readUntil(socket, exactly(2));
  if (method !== (hasLogin ? passwordAuthentication : noAuthentication))
    throw proxyError(proxy, 'authentication method not supported');
  if (hasLogin) {
    const user = Buffer.from(decodeURIComponent(proxy.username));
    const password = Buffer.from(decodeURIComponent(proxy.password));
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]));
    const [, outcome] = await readUntil(socket, exactly(2));
    if (outcome !== 0) throw proxyError(proxy, 'wrong user name or password');
  }
  // The host name is resolved by the proxy, because it may be valid only in its network.
  const name = Buffer.from(host);
  const target = Buffer.from([socksVersion, 1, 0, 3, name.length, ...name, port >> 8, port & 0xff]);
  socket.write(target);
  const [, code] = await readUntil(socket, (bytes) => {
    if (bytes.length < 5) return undefined;
    const addressBytes = bytes[3] === 1 ? 4 : bytes[3] === 4 ? 16 : bytes[4]! + 1;
    return bytes.length < 6 + addressBytes ? undefined : 6 + addressBytes;
  });
  if (code !== 0) throw proxyError(proxy, socksRefusals[code ?? 1] ?? `code ${code}`);
}

function proxyError(proxy: URL, why: string): ConnectError {
  return new ConnectError(`the proxy ${proxy.host} refused to connect: ${why}`);
}

const exactly = (count: number) => (bytes: Buffer) => (bytes.length < count ? undefined : count);
/** Limit of the response of a proxy to a CONNECT or SOCKS request. */
const maxAnswerBytes = 64 * 1024;

/** Reads until `enough` is satisfied; the bytes after it stay in the socket. */
function readUntil(socket: Socket, enough: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (act: () => void) => {
      socket.off('readable', read);
      socket.off('error', fail);
      socket.off('close', fail);
      act();
    };
    const fail = (error?: unknown) =>
      settle(() =>
        reject(error instanceof Error ? error : new ConnectError('the proxy closed the connection without a response')),
      );
    const read = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const count = enough(bytes);
        if (count !== undefined) {
          if (bytes.length > count) socket.unshift(bytes.subarray(count));
          settle(() => resolve(bytes.subarray(0, count)));
          return;
        }
        if (bytes.length > maxAnswerBytes) {
          settle(() => reject(new ConnectError('the proxy sent an invalid response')));
          return;
        }
      }
    };
    socket.on('readable', read);
    socket.once('error', fail);
    socket.once('close', fail);
    read();
  });
}
