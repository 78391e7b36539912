import type { AuditOrigin } from '../audit/audit.ts';
import type { Exchange, Headers } from './exchange.ts';

/** Returns the origin of a request for the audit log. */
export function originOf(exchange: Exchange, answerHeaders: Headers): AuditOrigin {
  const { rawQuery, rawPath } = exchange;
  return {
    auditId: String(answerHeaders['audit-id']),
    uri: rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`,
    sourceIps: sourcesOf(exchange),
  };
}

function sourcesOf({ headers, socket }: Exchange): readonly string[] {
  const forwarded = headers['x-forwarded-for'];
  const named = typeof forwarded === 'string' ? forwarded.split(',').map((each) => each.trim()) : [];
  const { remoteAddress } = socket;
  return remoteAddress === undefined || named.includes(remoteAddress) ? named : [...named, remoteAddress];
}

/** Returns the authentication methods that an unauthenticated request used. */
export function attempted({ headers, query, socket }: Exchange): string {
  const scheme = /^\s*(basic|bearer)\s+\S/i.exec(headers.authorization ?? '')?.[1]?.toLowerCase();
  const ways = [
    ...(scheme === undefined ? [] : [scheme]),
    ...(query.get('access_token')?.trim() ? ['access_token'] : []),
    ...(socket.getPeerX509Certificate() ? ['x509'] : []),
  ];
  return `Authentication failed, ${ways.length === 0 ? 'no credentials provided' : `attempted: ${ways.join(', ')}`}`;
}
