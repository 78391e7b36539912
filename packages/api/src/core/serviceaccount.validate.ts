import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import type { ServiceAccount } from './serviceaccount.ts';

const enforceMountableSecrets = 'kubernetes.io/enforce-mountable-secrets';

/** Keeps only the names of an account's Secrets. */
export function prepareServiceAccount(account: Draft<ServiceAccount>): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

export function validateServiceAccount({ metadata }: ServiceAccount): Generator<Cause> {
  return validateKindMeta(metadata, { namespaced: true, name: subdomainName });
}

export function* validateServiceAccountUpdate(account: ServiceAccount, old: ServiceAccount): Generator<Cause> {
  yield* validateKindMetaUpdate(account.metadata, old.metadata);
  yield* validateServiceAccount(account);
}

export function* serviceAccountWarnings(
  { metadata }: ServiceAccount,
  old: ServiceAccount | undefined,
): Generator<string> {
  if (metadata.annotations?.[enforceMountableSecrets] === undefined) return;
  if (old?.metadata.annotations?.[enforceMountableSecrets] !== undefined) return;
  yield `metadata.annotations[${enforceMountableSecrets}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;
}
