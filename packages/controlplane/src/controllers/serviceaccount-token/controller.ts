import { createPrivateKey } from 'node:crypto';
import { type Secret, secret } from '@kruise/api/core/secret';
import { type ServiceAccount, serviceAccount } from '@kruise/api/core/serviceaccount';
import { signJwtAtOnce } from '@kruise/apiserver/authentication/jwt';
import { legacyClaims } from '@kruise/apiserver/authentication/legacy-tokens';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { keyFor, keyOf, referenceOf } from '@kruise/client/object-key';
import { accountNameOf, decide, tokenType } from './decide.ts';

export type TokenSettings = {
  /** The authorities to trust, as PEM text. */
  readonly authorities: string;
  /** Signs the tokens, as PEM text. */
  readonly key: string;
};

/** Token Secrets by the account they are of. */
function byAccount(found: Secret): readonly string[] {
  const name = found.type === tokenType ? accountNameOf(found) : undefined;
  return name === undefined ? [] : [keyFor({ namespace: found.metadata.namespace ?? '', name })];
}

/** Accounts by the Secrets they refer to. */
function bySecret({ metadata: { namespace = '' }, secrets }: ServiceAccount): readonly string[] {
  return secrets?.flatMap(({ name }) => (name ? [keyFor({ namespace, name })] : [])) ?? [];
}

/** Fills in the Secrets that ask for a token of an account, and removes those whose account is gone. */
export function serviceAccountTokenController({ authorities, key }: TokenSettings): Controller {
  const privateKey = createPrivateKey(key);
  const tokenFor = (account: ServiceAccount, kept: Secret) => signJwtAtOnce(legacyClaims(account, kept), privateKey);
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
        // None but a Secret of this type that is gone leads here: what else accounts refer to is theirs to know.
        referring: found ? [] : caches.of(serviceAccount).byIndex(bySecret, secretKey),
        authorities,
        tokenFor,
      };
    },
    decide,
  });
}
