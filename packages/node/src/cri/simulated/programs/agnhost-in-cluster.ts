/** agnhost subcommands that use the API server with the in-cluster configuration. */
import { createHash, createPublicKey, type webcrypto } from 'node:crypto';
import { decodeJwt, isSignedBy, type VerificationKey } from '@kruise/apiserver/authentication/jwt';
import { quote } from '@kruise/values/go-syntax';
import { type FetchOptions, fetchUrl } from '../commands/fetch-url.ts';
import type { ProgramContext } from '../program.ts';
import { flag } from './agnhost-flags.ts';
import { Fatal, inCluster, log, readText, reasonOf } from './in-cluster.ts';

/** `agnhost inclusterclient`: polls the API server's health with the current token. */
export async function inClusterClient(context: ProgramContext): Promise<number> {
  const { process } = context;
  await log(context, 'started');
  const intervalMs = 1000 * Number(flag(context, 'poll-interval') ?? 30);
  for (;;) {
    await process.sleep(intervalMs);
    await log(context, 'calling /healthz');
    try {
      const server = inCluster(context);
      const digest = createHash('sha256').update(`salt|${server.credentials}`).digest('base64url');
      await log(context, `authz_header=${digest}`);
      const { status, body } = await fetchUrl(context, new URL('/healthz', server.url), server);
      if (status !== 200) throw new Fatal(Buffer.from(body).toString());
    } catch (error) {
      const reason = reasonOf(error);
      await log(context, 'status=failed');
      await log(context, `error checking /healthz: ${reason}`);
    }
  }
}

/** `agnhost test-service-account-issuer-discovery`: verifies a token with the issuer's discovery document. */
export async function issuerDiscovery(context: ProgramContext): Promise<number> {
  try {
    const token = readText(context, flag(context, 'token-path') ?? '');
    await log(context, 'OK: Got token');
    await log(context, 'validating with in-cluster discovery');
    await validate(context, token, inCluster(context));
    return 0;
  } catch (error) {
    // External discovery, which it would try next, is not reachable.
    await log(context, `failed to validate with in-cluster discovery: ${reasonOf(error)}`);
    return 1;
  }
}

async function validate(context: ProgramContext, token: string, options: FetchOptions): Promise<void> {
  const audience = flag(context, 'audience') ?? '';
  const decoded = decodeJwt(token);
  if (!decoded) throw new Fatal('go-jose/go-jose: compact JWS format must have three parts');
  const { iss, aud, exp } = decoded.claims;
  const issuer = String(iss);
  await log(context, `OK: got issuer ${issuer}`);
  const provider = (await json(context, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, options)) as {
    readonly issuer?: string;
    readonly jwks_uri?: string;
  };
  if (provider.issuer !== issuer) {
    throw new Fatal(
      `oidc: issuer did not match the issuer returned by provider, expected ${quote(issuer)} got ${quote(provider.issuer ?? '')}`,
    );
  }
  await log(context, `OK: Constructed OIDC provider for issuer ${issuer}`);
  if (![aud].flat().includes(audience)) {
    throw new Fatal(`oidc: expected audience ${quote(audience)} got ${JSON.stringify(aud)}`);
  }
  if (Number(exp) * 1000 < context.container.clock.now()) throw new Fatal('oidc: token is expired');
  const keySet = (await json(context, provider.jwks_uri ?? '', options)) as { readonly keys?: readonly PublishedKey[] };
  if (!isSignedBy(decoded, (keySet.keys ?? []).map(verificationKey))) {
    throw new Fatal('failed to verify signature: failed to verify id token signature');
  }
  await log(context, 'OK: Validated signature on JWT');
  await log(context, 'OK: Got valid claims from token!');
}

type PublishedKey = webcrypto.JsonWebKey & { readonly kid: string; readonly alg: VerificationKey['algorithm'] };

function verificationKey(published: PublishedKey): VerificationKey {
  const key = createPublicKey({ key: published, format: 'jwk' });
  return { id: published.kid, algorithm: published.alg, key };
}

async function json(context: ProgramContext, url: string, options: FetchOptions): Promise<unknown> {
  const { status, body } = await fetchUrl(context, new URL(url), options);
  const text = Buffer.from(body).toString();
  if (status !== 200) throw new Fatal(`${status}: ${text}`);
  return JSON.parse(text);
}
