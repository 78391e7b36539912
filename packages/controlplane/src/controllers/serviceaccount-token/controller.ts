import { createPrivateKey } from 'node:crypto';
import { type Secret, secret } from '@kruise/api/core/secret';
import { type ServiceAccount, serviceAccount } from '@kruise/api/core/serviceaccount';
import { signJwtSync } from '@kruise/apiserver/authentication/jwt';
import { legacyClaims } from '@kruise/apiserver/authentication/legacy-tokens';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { keyFor, keyOf, referenceOf } from '@kruise/client/object-key';
import { accountNameOf, decide, tokenType } from './decide.ts';

export type TokenSettings = {
  /** CA bundle, as PEM. */
  readonly authorities: string;
  /** Private key that signs the tokens, as PEM. */
  readonly key: string;
};

/** Indexes token Secrets by their ServiceAccount. */
function byAccount(found: Secret): readonly string[] {
  const name = found.type === tokenType ? accountNameOf(found) : undefined;
  return name === undefined ? [] : [keyFor({ namespace: found.metadata.namespace ?? '', name })];
}

/** Indexes ServiceAccounts by the Secrets they refer to. */
function bySecret({ metadata: { namespace = '' }, secrets }: ServiceAccount): readonly string[] {
  return secrets?.flatMap(({ name }) => (name ? [keyFor({ namespace, name })] : [])) ?? [];
}

/** ServiceAccount token controller: populates token Secrets, and deletes those whose account is deleted. */
export function serviceAccountTokenController({ authorities, key }: TokenSettings): Controller {
  const privateKey = createPrivateKey(key);
  const tokenFor = (account: ServiceAccount, kept: Secret) => signJwtSync(legacyClaims(account, kept), privateKey);
  return defineController({
    name: 'serviceaccount-token',
    for: secret,
    predicate: ({ object }) => object.type === tokenType,
    watches: [
      watch(serviceAccount, ({ object }, caches) => caches.of(secret).byIndex(byAccount, keyOf(object)).map(keyOf)),
    ],
    observe(caches, secretKey) {
      const found = caches.of(secret).get(secretKey);
      if (found && found.type !== tokenType) return undefined;
      const [accountKey] = found ? byAccount(found) : [];
      return {
        secret: found ?? referenceOf(secretKey).name,
        account: accountKey === undefined ? undefined : caches.of(serviceAccount).get(accountKey),
        // Only deleted Secrets of this type are enqueued, so other references of accounts are not touched.
        referring: found ? [] : caches.of(serviceAccount).byIndex(bySecret, secretKey),
        authorities,
        tokenFor,
      };
    },
    decide,
  });
}
