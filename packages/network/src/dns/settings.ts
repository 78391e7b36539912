/** Settings of a DNS server from files: resolv.conf, and the ConfigMap of kube-dns (`stubDomains`, `upstreamNameservers`). */
import { isIP } from 'node:net';
import type { UpstreamGroup } from './forwarder.ts';
import { parseName } from './message.ts';
import type { UpstreamAddress } from './upstream.ts';

const dnsPort = 53;
/** As many as the `forward` plugin of CoreDNS takes. */
const maxServers = 15;
const maxStubDomains = 1000;

/** Parses the address of a server: `10.0.0.1`, `10.0.0.1:5353`, `[fd00::1]:5353`. */
export function parseServer(text: string): UpstreamAddress {
  const trimmed = text.trim();
  if (isIP(trimmed)) return { host: trimmed, port: dnsPort };
  const [, v6, v4, digits = ''] = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([0-9.]{7,15}))(?::(\d{1,5}))?$/.exec(trimmed) ?? [];
  const host = v6 ?? v4 ?? '';
  const port = digits === '' ? dnsPort : Number(digits);
  if (!isIP(host) || port < 1 || port > 65_535) {
    throw new Error(`${JSON.stringify(text)} is not the address of a DNS server, such as 10.0.0.1 or 10.0.0.1:5353`);
  }
  return { host, port };
}

/** Parses a list of servers: the upstream servers of all names that no stub domain contains. */
export function parseServers(texts: readonly string[]): readonly UpstreamAddress[] {
  if (texts.length > maxServers) throw new Error(`at most ${maxServers} upstream servers are possible`);
  return texts.map(parseServer);
}

/** Returns the servers of a resolv.conf. Lines that a resolver would ignore are ignored. */
export function resolvConfServers(text: string): readonly UpstreamAddress[] {
  const servers: UpstreamAddress[] = [];
  for (const line of text.split('\n')) {
    const [keyword, value = ''] = line.trim().split(/[ \t]{1,100}/, 2);
    // The zone of a link-local address is not supported by sockets on other interfaces.
    if (keyword === 'nameserver' && isIP(value)) servers.push({ host: value, port: dnsPort });
  }
  return servers.slice(0, maxServers);
}

/** Parses a stub domain flag: `acme.local=10.0.0.1,10.0.0.2`. */
export function parseStubDomain(text: string): UpstreamGroup {
  const separator = text.indexOf('=');
  const domain = parseName(text.slice(0, Math.max(separator, 0)));
  if (domain.length === 0) throw new Error(`${JSON.stringify(text)} is not a stub domain, such as acme.local=10.0.0.1`);
  return { domain, servers: parseServers(text.slice(separator + 1).split(',')) };
}

/** Settings that a configuration directory contains; what is missing there is undefined. */
export type FileSettings = {
  readonly upstreams?: readonly UpstreamAddress[];
  readonly stubDomains?: readonly UpstreamGroup[];
};

/** Parses the files of a configuration directory, whose texts are JSON. */
export function parseFileSettings(files: {
  readonly stubDomains?: string | undefined;
  readonly upstreamNameservers?: string | undefined;
}): FileSettings {
  const { stubDomains, upstreamNameservers } = files;
  return {
    ...(upstreamNameservers === undefined
      ? {}
      : {
          upstreams: parseServers(
            stringList(parseJson('upstreamNameservers', upstreamNameservers), 'upstreamNameservers'),
          ),
        }),
    ...(stubDomains === undefined ? {} : { stubDomains: readStubDomains(parseJson('stubDomains', stubDomains)) }),
  };
}

function readStubDomains(value: unknown): readonly UpstreamGroup[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('stubDomains must be an object of lists of servers by domain');
  }
  const entries = Object.entries(value);
  if (entries.length > maxStubDomains) throw new Error(`at most ${maxStubDomains} stub domains are possible`);
  return entries.map(([domain, servers]) => {
    const name = parseName(domain);
    if (name.length === 0) throw new Error('a stub domain must not be empty');
    return { domain: name, servers: parseServers(stringList(servers, `stubDomains.${domain}`)) };
  });
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${name} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

function stringList(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new Error(`${name} must be a list of servers`);
}
