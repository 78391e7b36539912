/** The parts of a URL as they stand in it; nothing is decoded, so that putting them together gives the same text. */
type Parts = { readonly scheme: string; readonly host: string; readonly path: string; readonly rest: string };

function split(url: string): Parts | undefined {
  const match = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(url);
  if (!match) return undefined;
  const [, scheme = '', host = '', path = '', rest = ''] = match;
  return { scheme, host, path, rest };
}

/** Where a proxied server is found: what it calls itself, what its client calls it, and below which path. */
export type ProxiedAt = { readonly backendHost: string; readonly requestHost: string; readonly prefix: string };

/** A URL within a proxied server as its client must ask for it. Those of other servers stay. */
export function rewriteUrl(url: string, { backendHost, requestHost, prefix }: ProxiedAt): string {
  const parts = split(url);
  if (!parts) return url;
  const { scheme, host, path, rest } = parts;
  const elsewhere = host !== '' && host !== backendHost && host !== requestHost;
  if (elsewhere || !path.startsWith('/')) return url;
  // The client asks the same host as before, so that it need not be named unless the server named it so.
  const origin = host !== '' && host === requestHost ? `${scheme === '' ? '' : `${scheme}:`}//${host}` : '';
  return `${origin}${path.startsWith(prefix) ? path : `${prefix.replace(/\/$/, '')}${path}`}${rest}`;
}
