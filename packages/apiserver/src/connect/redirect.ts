/** Parts of a URL without decoding, so that joining them yields the same text. */
type Parts = { readonly scheme: string; readonly host: string; readonly path: string; readonly rest: string };

function split(url: string): Parts | undefined {
  const match = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(url);
  if (!match) return undefined;
  const [, scheme = '', host = '', path = '', rest = ''] = match;
  return { scheme, host, path, rest };
}

/** Location of a proxied server: its own host, the host that the client uses, and the path prefix. */
export type ProxiedAt = { readonly backendHost: string; readonly requestHost: string; readonly prefix: string };

/** Rewrites a URL of a proxied server for its client. URLs of other servers are not changed. */
export function rewriteUrl(url: string, { backendHost, requestHost, prefix }: ProxiedAt): string {
  const parts = split(url);
  if (!parts) return url;
  const { scheme, host, path, rest } = parts;
  const elsewhere = host !== '' && host !== backendHost && host !== requestHost;
  if (elsewhere || !path.startsWith('/')) return url;
  // The client uses the same host, so the URL only names the host if the backend did.
  const origin = host !== '' && host === requestHost ? `${scheme === '' ? '' : `${scheme}:`}//${host}` : '';
  return `${origin}${path.startsWith(prefix) ? path : `${prefix.replace(/\/$/, '')}${path}`}${rest}`;
}
