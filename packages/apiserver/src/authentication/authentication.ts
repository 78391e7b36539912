import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { KubeObject } from '../object.ts';
import { storedObjects } from '../objects/stored-objects.ts';
import type { ResourceRegistry } from '../registry.ts';
import { bootstrapTokens } from './bootstrap-tokens.ts';
import { type VerificationKeys, verificationKey } from './jwt.ts';
import { legacyTokens } from './legacy-tokens.ts';
import { serviceAccountTokens, type TokenObjects } from './service-account-tokens.ts';
import { staticTokens } from './static-tokens.ts';
import { type TokenAuthenticator, tokenAuthenticators } from './token.ts';
import { createTokenIssuer, type TokenIssuer } from './token-issuer.ts';

export type AuthenticationOptions = {
  /** Issuer of service account tokens. */
  readonly issuer?: string | undefined;
  /**
   * Private key that signs service account tokens, as PEM; generated if absent. Generating a key can take as long as
   * starting the server, so the key may be a promise: only tokens wait for it.
   */
  readonly serviceAccountKey?: string | Promise<string> | undefined;
  /** Contents of the static token file, as CSV. */
  readonly staticTokens?: string | undefined;
};

/** Token authentication and issuance. */
export type Authentication = {
  readonly issuerUrl: string;
  readonly audiences: readonly string[];
  readonly keys: VerificationKeys;
  readonly tokens: TokenAuthenticator;
  readonly issuer: TokenIssuer;
  readonly objects: TokenObjects;
};

const defaultIssuer = 'https://kubernetes.default.svc.cluster.local';

export function createAuthentication(
  resources: ResourceRegistry,
  clock: Clock,
  random: Random,
  options: AuthenticationOptions & { readonly onLegacyUse: (secret: KubeObject) => void },
): Authentication {
  const core = (plural: string) => storedObjects(resources, '', plural);
  const objects: TokenObjects = {
    serviceAccounts: core('serviceaccounts'),
    pods: core('pods'),
    secrets: core('secrets'),
    nodes: core('nodes'),
  };
  const { issuer: issuerUrl = defaultIssuer } = options;
  const audiences = [issuerUrl];
  const key = madeOnce(() => signingKey(options.serviceAccountKey));
  const keys = madeOnce(async () => [verificationKey(await key())]);
  return {
    issuerUrl,
    audiences,
    keys,
    objects,
    issuer: createTokenIssuer(clock, random, { issuer: issuerUrl, key }),
    tokens: tokenAuthenticators([
      ...(options.staticTokens === undefined ? [] : [staticTokens(options.staticTokens)]),
      serviceAccountTokens(objects, clock, { issuers: [issuerUrl], keys, audiences }),
      legacyTokens(objects, { keys, audiences, onUse: options.onLegacyUse }),
      bootstrapTokens(objects.secrets, clock),
    ]),
  };
}

async function signingKey(pem: AuthenticationOptions['serviceAccountKey']): Promise<KeyObject> {
  return pem === undefined
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    : createPrivateKey(await pem);
}

function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
