/**
 * The credentials of a ServiceAccount in `kube-system`, for a controller that is to have that account's rights and no
 * others. The account is made if it is missing, as nobody else would; tokens are asked for as they are needed, and anew
 * before they cease to be good.
 */
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import type { Client } from '@kruise/client/client';
import { bearer, type Credential, type Credentials } from '@kruise/client/credentials';
import { requestToken } from '@kruise/client/subresources';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { type Instant, parseTime } from '@kruise/values/time';

const namespace = 'kube-system';
const expirationSeconds = 3600;
/** The part of a token's time after which another is asked for, less a little, so that not all controllers ask at once. */
const usedPart = 0.8;

type Token = { readonly credential: Credential; readonly renewAt: Instant; readonly expiresAt: Instant };

/** Credentials of an account, got through a client that may ask for its tokens. */
export function serviceAccountCredentials(client: Client, clock: Clock, random: Random, name: string): Credentials {
  const account = { namespace, name };
  let token: Token | undefined;
  let asking: Promise<Token> | undefined;

  const ask = async (): Promise<Token> => {
    const askedAt = clock.now();
    const spec = { audiences: [], expirationSeconds };
    const { status } = await requestToken(client, account, spec).catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await client.create(serviceAccount, { metadata: account }).catch((fault: unknown) => {
        if (!isAlreadyExists(fault)) throw fault;
      });
      return requestToken(client, account, spec);
    });
    if (!status?.expirationTimestamp) throw new Error(`no token came for the ServiceAccount ${namespace}/${name}`);
    const expiresAt = parseTime(status.expirationTimestamp);
    const lifetimeMs = expiresAt - askedAt;
    const renewAt = expiresAt - jitter(random, lifetimeMs * (1 - usedPart), 0.5);
    return { credential: { authorization: bearer(status.token) }, renewAt, expiresAt };
  };
  const renew = (): Promise<Token> => {
    asking ??= ask()
      .then((got) => (token = got))
      .finally(() => (asking = undefined));
    return asking;
  };

  return {
    async current() {
      if (!token) return (await renew()).credential;
      const now = clock.now();
      if (now < token.renewAt) return token.credential;
      const { expiresAt, credential } = token;
      // As long as the token is good, a server that gives no other is no reason to stop.
      return renew().then(
        (got) => got.credential,
        (error: unknown) => {
          if (clock.now() < expiresAt) return credential;
          throw error;
        },
      );
    },
    refused(credential) {
      // The account may have been made anew under its name, and its former tokens are worth nothing.
      if (token?.credential === credential) token = undefined;
      return true;
    },
  };
}
