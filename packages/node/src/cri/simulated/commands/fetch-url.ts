/** Name resolution and HTTP requests of programs in simulated containers. */
import type { HttpResponse } from '../../runtime.ts';
import type { ServerCheck } from '../http-exchange.ts';
import type { ProgramContext } from '../program.ts';
import { filesOf } from './files.ts';

export type FetchOptions = {
  readonly method?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array;
  /** Trusted certificates for HTTPS; any certificate is accepted if absent. */
  readonly trust?: Omit<ServerCheck, 'serverName'>;
  readonly limitMs?: number;
};

/** Timeout of a request. */
export class FetchTimeout extends Error {
  override readonly name = 'FetchTimeout';
}

const maxBodyBytes = 1024 * 1024;
const defaultLimitMs = 60_000;

/** Requests a URL. Aborted when the requesting process exits. */
export async function fetchUrl(context: ProgramContext, url: URL, options: FetchOptions = {}): Promise<HttpResponse> {
  const { method = 'GET', headers = [], body, trust, limitMs = defaultLimitMs } = options;
  const { container, process } = context;
  const serverName = url.hostname.replace(/^\[|\]$/g, '');
  const abort = new AbortController();
  return process.wait<HttpResponse>((resolve, reject) => {
    const cancelTimer = container.clock.setTimer(limitMs, () => abort.abort(new FetchTimeout('timed out')));
    container.network
      .request(
        {
          scheme: url.protocol === 'https:' ? 'https' : 'http',
          host: hostAddress(context, serverName) ?? serverName,
          port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
          method,
          path: `${url.pathname}${url.search}`,
          headers: [['host', url.host], ...headers],
          maxBodyBytes,
          ...(body && { body }),
          ...(trust && { serverCheck: { serverName, ...trust } }),
        },
        { signal: abort.signal },
      )
      .then(resolve, reject)
      .finally(cancelTimer);
    return () => abort.abort();
  });
}

/** Resolves a name with the hosts file, then with the cluster DNS. */
export function hostAddress(context: ProgramContext, name: string): string | undefined {
  const { network, hostname } = context.container;
  if (/^[\d.]+$|:/.test(name) || name === 'localhost') return name;
  if (name === hostname) return network.address;
  for (const line of linesOfFile(context, '/etc/hosts')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (names.includes(name)) return address;
  }
  for (const candidate of fullNames(context, name)) {
    const [address] = network.resolve(candidate);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** Returns the fully qualified candidates of a short name, by the resolver's search list. */
export function fullNames(context: ProgramContext, name: string): readonly string[] {
  const search = linesOfFile(context, '/etc/resolv.conf').find((line) => line.startsWith('search '));
  const domains = search?.split(/\s+/).slice(1) ?? [];
  return name.endsWith('.') ? [name] : [...domains.map((domain) => `${name}.${domain}`), name];
}

function linesOfFile(context: ProgramContext, path: string): readonly string[] {
  const files = filesOf(context);
  return files.exists(path) ? Buffer.from(files.read(path)).toString().split('\n') : [];
}
