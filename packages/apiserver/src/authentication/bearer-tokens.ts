import { unauthorized } from '@kruise/machinery/status';
import type { Authenticator, Credentials } from './authenticator.ts';
import { InvalidToken, type TokenAuthenticator } from './token.ts';

/** What the name of a WebSocket protocol begins with that is a token. */
export const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

/** Who shows a token is whom the token is of; who shows a wrong one is nobody, not even anonymous. */
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

/** Browsers cannot set headers on a WebSocket, so a token may come as the name of a protocol. */
function webSocketToken(protocols: string | undefined): string | undefined {
  const offered = protocols?.split(',').map((name) => name.trim()) ?? [];
  const named = offered.filter((name) => name.startsWith(tokenProtocol));
  // Another protocol must be offered too: the server does not speak the token.
  if (named.length !== 1 || offered.length < 2) return undefined;
  return Buffer.from(named[0]!.slice(tokenProtocol.length), 'base64url').toString();
}
