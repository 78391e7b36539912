/**
 * Credentials of a ServiceAccount in `kube-system`, for a controller that runs with the permissions of that account
 * only. Creates the account if it is missing, because no other component does. Tokens are requested on demand and
 * renewed before they expire.
 */
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import type { Client } from '@kruise/client/client';
import { bearerAuthorization, type Credential, type Credentials } from '@kruise/client/credentials';
import { requestToken } from '@kruise/client/subresources';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { type Instant, parseTime } from '@kruise/values/time';

const namespace = 'kube-system';
const expirationSeconds = 3600;
/**
 * Fraction of a token's lifetime after which it is renewed, minus jitter, so that controllers do not renew at the same
 * time.
 */
const renewFraction = 0.8;

type Token = { readonly credential: Credential; readonly renewAt: Instant; readonly expiresAt: Instant };

/** Returns the credentials of an account, using a client that may request its tokens. */
export function serviceAccountCredentials(client: Client, clock: Clock, random: Random, name: string): Credentials {
  const account = { namespace, name };
  let token: Token | undefined;
  let pendingRequest: Promise<Token> | undefined;

  const issueToken = async (): Promise<Token> => {
    const requestedAt = clock.now();
    const spec = { audiences: [], expirationSeconds };
    const { status } = await requestToken(client, account, spec).catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await client.create(serviceAccount, { metadata: account }).catch((fault: unknown) => {
        if (!isAlreadyExists(fault)) throw fault;
      });
      return requestToken(client, account, spec);
    });
    if (!status?.expirationTimestamp)
      throw new Error(`the TokenRequest for ServiceAccount ${namespace}/${name} returned no token`);
    const expiresAt = parseTime(status.expirationTimestamp);
    const lifetimeMs = expiresAt - requestedAt;
    const renewAt = expiresAt - jitter(random, lifetimeMs * (1 - renewFraction), 0.5);
    return { credential: { authorization: bearerAuthorization(status.token) }, renewAt, expiresAt };
  };
  const renew = (): Promise<Token> => {
    pendingRequest ??= issueToken()
      .then((got) => (token = got))
      .finally(() => (pendingRequest = undefined));
    return pendingRequest;
  };

  return {
    async current() {
      if (!token) return (await renew()).credential;
      const now = clock.now();
      if (now < token.renewAt) return token.credential;
      const { expiresAt, credential } = token;
      // While the token is valid, a failed renewal is not an error.
      return renew().then(
        (got) => got.credential,
        (error: unknown) => {
          if (clock.now() < expiresAt) return credential;
          throw error;
        },
      );
    },
    rejected(credential) {
      // The account may have been recreated, which invalidates its tokens.
      if (token?.credential === credential) token = undefined;
      return true;
    },
  };
}
