import type { AuditOrigin } from '../audit/audit.ts';
import type { Headers, HttpRequest } from './http-request.ts';

/** Returns the origin of a request for the audit log. */
export function originOf(httpRequest: HttpRequest, answerHeaders: Headers): AuditOrigin {
  const { rawQuery, rawPath } = httpRequest;
  return {
    auditId: String(answerHeaders['audit-id']),
    uri: rawQuery === '' ? rawPath : `${rawPath}?${rawQuery}`,
    sourceIps: sourcesOf(httpRequest),
  };
}

function sourcesOf({ headers, socket }: HttpRequest): readonly string[] {
  const forwarded = headers['x-forwarded-for'];
  const named = typeof forwarded === 'string' ? forwarded.split(',').map((each) => each.trim()) : [];
  const { remoteAddress } = socket;
  return remoteAddress === undefined || named.includes(remoteAddress) ? named : [...named, remoteAddress];
}

/** Returns the authentication methods that an unauthenticated request used. */
export function attemptedMethods({ headers, query, socket }: HttpRequest): string {
  const scheme = /^\s*(basic|bearer)\s+\S/i.exec(headers.authorization ?? '')?.[1]?.toLowerCase();
  const methods = [
    ...(scheme === undefined ? [] : [scheme]),
    ...(query.get('access_token')?.trim() ? ['access_token'] : []),
    ...(socket.getPeerX509Certificate() ? ['x509'] : []),
  ];
  return `Authentication failed, ${methods.length === 0 ? 'no credentials provided' : `attempted: ${methods.join(', ')}`}`;
}
