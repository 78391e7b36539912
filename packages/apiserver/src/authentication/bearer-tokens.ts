import { unauthorized } from '@kruise/machinery/status';
import type { Authenticator, Credentials } from './authenticator.ts';
import { InvalidToken, type TokenAuthenticator } from './token.ts';

/** Prefix of a WebSocket subprotocol that carries a bearer token. */
export const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

/** Bearer token authenticator. An invalid token fails the request; the request does not fall back to anonymous. */
export function bearerTokens(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return {
    async authenticate(credentials) {
      const token = tokenOf(credentials);
      if (token === undefined) return undefined;
      try {
        const found = await tokens.authenticate(token, audiences);
        if (found) return found.user;
      } catch (error) {
        if (!(error instanceof InvalidToken)) throw error;
      }
      throw unauthorized();
    },
  };
}

function tokenOf({ headers }: Credentials): string | undefined {
  const match = /^bearer +(\S*)/i.exec(headers.authorization?.trim() ?? '');
  if (match?.[1]) return match[1];
  return headers.upgrade?.toLowerCase() === 'websocket' ? webSocketToken(headers['sec-websocket-protocol']) : undefined;
}

/** Returns the bearer token of a WebSocket subprotocol: browsers cannot set headers on a WebSocket. */
function webSocketToken(protocols: string | undefined): string | undefined {
  const offered = protocols?.split(',').map((name) => name.trim()) ?? [];
  const named = offered.filter((name) => name.startsWith(tokenProtocol));
  // The client must offer another subprotocol too, because the server does not select the token's subprotocol.
  if (named.length !== 1 || offered.length < 2) return undefined;
  return Buffer.from(named[0]!.slice(tokenProtocol.length), 'base64url').toString();
}
