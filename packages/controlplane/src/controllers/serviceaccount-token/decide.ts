import type { Secret } from '@kruise/api/core/secret';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import { isBeingDeleted, remove, requireGone, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';

export type Observed = {
  /** The Secret, or its name if it is deleted. */
  readonly secret: Secret | string;
  /** ServiceAccount that the Secret names, with any UID. */
  readonly account: ServiceAccount | undefined;
  /** ServiceAccounts that refer to the Secret. */
  readonly referring: readonly ServiceAccount[];
  /** CA bundle, as PEM. */
  readonly authorities: string;
  /** Creates the token of an account for a Secret. */
  readonly tokenFor: (account: ServiceAccount, secret: Secret) => string;
};

/** Type of token Secrets. */
export const tokenType = 'kubernetes.io/service-account-token';
const nameKey = 'kubernetes.io/service-account.name';
const uidKey = 'kubernetes.io/service-account.uid';

/** Returns the account name of a token Secret. */
export function accountNameOf({ metadata }: Secret): string | undefined {
  return metadata.annotations?.[nameKey] || undefined;
}

/** Returns the account UID of a token Secret; undefined before the token is created. */
export function accountUidOf({ metadata }: Secret): string | undefined {
  return metadata.annotations?.[uidKey] || undefined;
}

/** Populates a token Secret, and deletes it together with its account. */
export function decide(observed: Observed): Decision<undefined> {
  const { secret, account } = observed;
  if (typeof secret === 'string') return { actions: observed.referring.map((each) => update(without(each, secret))) };
  const name = accountNameOf(secret);
  if (name === undefined || isBeingDeleted(secret)) return { actions: [] };
  const uid = accountUidOf(secret);
  if (!account || (uid !== undefined && uid !== account.metadata.uid)) {
    const { namespace = '' } = secret.metadata;
    const missing = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace, ...(uid === undefined ? {} : { uid }) },
    };
    return { actions: [requireGone(remove(secret), missing)] };
  }
  const data = { ...secret.data, ...missingData(observed, secret, account) };
  if (Object.keys(data).every((key) => data[key] === secret.data?.[key])) return { actions: [] };
  const annotations = {
    ...secret.metadata.annotations,
    [nameKey]: account.metadata.name ?? '',
    [uidKey]: account.metadata.uid ?? '',
  };
  return { actions: [update({ ...secret, metadata: { ...secret.metadata, annotations }, data } as Secret)] };
}

function missingData(
  { authorities, tokenFor }: Observed,
  secret: Secret,
  account: ServiceAccount,
): { readonly [key: string]: string } {
  const { metadata, data } = secret;
  const trusted = base64(authorities);
  return {
    ...(trusted === '' || data?.['ca.crt'] === trusted ? {} : { 'ca.crt': trusted }),
    ...(data?.['namespace'] ? {} : { namespace: base64(metadata.namespace ?? '') }),
    ...(data?.['token'] ? {} : { token: base64(tokenFor(account, secret)) }),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function without(account: ServiceAccount, secretName: string): ServiceAccount {
  return { ...account, secrets: account.secrets?.filter(({ name }) => name !== secretName) ?? [] };
}
