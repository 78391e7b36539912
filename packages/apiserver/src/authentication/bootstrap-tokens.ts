import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@kruise/values/clock';
import type { KubeObject } from '../object.ts';
import { find, type StoredObjects } from '../objects/stored-objects.ts';
import type { TokenAuthenticator } from './token.ts';

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const bootstrappers = 'system:bootstrappers';

/** Authenticates bootstrap tokens, which new nodes use to join the cluster. An invalid token is treated as unknown. */
export function bootstrapTokens(secrets: StoredObjects, clock: Clock): TokenAuthenticator {
  return {
    authenticate(token) {
      const match = tokenForm.exec(token);
      if (!match) return undefined;
      const [, id = '', tokenSecret = ''] = match;
      const secret = find(secrets, 'kube-system', `bootstrap-token-${id}`);
      if (!secret || !isValidToken(secret, id, tokenSecret, clock.now())) return undefined;
      const groups = extraGroups(secret);
      if (!groups) return undefined;
      return { user: { username: `system:bootstrap:${id}`, groups: [bootstrappers, ...groups] } };
    },
  };
}

function field({ data }: KubeObject, name: string): string {
  const value = (data as { readonly [key: string]: string } | undefined)?.[name];
  return value === undefined ? '' : Buffer.from(value, 'base64').toString();
}

function isValidToken(secret: KubeObject, id: string, tokenSecret: string, nowMs: number): boolean {
  if (secret.type !== 'bootstrap.kubernetes.io/token' || secret.metadata.deletionTimestamp) return false;
  const [expected, given] = [Buffer.from(field(secret, 'token-secret')), Buffer.from(tokenSecret)];
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return false;
  if (field(secret, 'token-id') !== id) return false;
  const expiration = field(secret, 'expiration');
  // A token with an unparsable expiration is invalid.
  if (expiration !== '' && !(Date.parse(expiration) > nowMs)) return false;
  return field(secret, 'usage-bootstrap-authentication') === 'true';
}

/** Returns the extra groups of a Secret; undefined if the Secret names a group that is not allowed. */
function extraGroups(secret: KubeObject): readonly string[] | undefined {
  const names = field(secret, 'auth-extra-groups');
  const groups = [...new Set(names === '' ? [] : names.split(','))].sort();
  return groups.every((group) => groupForm.test(group)) ? groups : undefined;
}
