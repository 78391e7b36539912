import { forbiddenError } from '../authorization/attributes.ts';
import type { Attributes, Authorizer } from '../authorization/authorizer.ts';
import { PlainTextError } from '../handlers/http-errors.ts';
import { serviceAccountGroups, serviceAccountOf } from '../service-account-user.ts';
import type { User } from '../user.ts';
import { type Credentials, headerValues } from './authenticator.ts';
import { unescapedKey } from './front-proxy.ts';

type Item = {
  readonly group: '' | 'authentication.k8s.io';
  readonly plural: 'users' | 'groups' | 'serviceaccounts' | 'uids' | 'userextras';
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
};

const extraPrefix = 'impersonate-extra-';

/** Applies impersonation: returns the user of a request, or another user that this user may impersonate. */
export async function impersonate(
  authorizer: Authorizer,
  user: User,
  { headers, rawHeaders, rawPath }: Credentials,
): Promise<User> {
  // Nearly all requests have no impersonation headers.
  let isRequested = false;
  for (const name in headers) isRequested ||= name.startsWith('impersonate-');
  if (!isRequested) return user;

  const [username = ''] = headerValues(rawHeaders, 'impersonate-user');
  const groups = headerValues(rawHeaders, 'impersonate-group');
  const [uid = ''] = headerValues(rawHeaders, 'impersonate-uid');
  const extra = extraOf(headers, rawHeaders);
  const items = [...itemsOf(username, groups, uid, extra)];
  if (items.length === 0) return user;
  if (username === '') throw withoutUser(rawPath, items);
  for (const item of items) await check(authorizer, user, item);
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: groupsOf(username, groups),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

type Extra = { readonly [key: string]: readonly string[] };

function extraOf(headers: Credentials['headers'], rawHeaders: readonly string[]): Extra {
  const extra: { [key: string]: readonly string[] } = {};
  for (const name of Object.keys(headers)) {
    if (name.startsWith(extraPrefix))
      extra[unescapedKey(name.slice(extraPrefix.length))] = headerValues(rawHeaders, name);
  }
  return extra;
}

function* itemsOf(username: string, groups: readonly string[], uid: string, extra: Extra): Generator<Item> {
  const account = serviceAccountOf(username);
  if (account) yield { group: '', plural: 'serviceaccounts', ...account };
  else if (username !== '') yield { group: '', plural: 'users', name: username };
  for (const name of groups) yield { group: '', plural: 'groups', name };
  for (const [key, values] of Object.entries(extra)) {
    for (const name of values) yield { group: 'authentication.k8s.io', plural: 'userextras', subresource: key, name };
  }
  if (uid !== '') yield { group: 'authentication.k8s.io', plural: 'uids', name: uid };
}

async function check(authorizer: Authorizer, user: User, item: Item): Promise<void> {
  const { group, plural, subresource = '', namespace = '', name } = item;
  const attributes: Attributes = {
    user,
    verb: 'impersonate',
    resource: true,
    group,
    version: group === '' ? '' : 'v1',
    plural,
    subresource,
    namespace,
    name,
  };
  const { verdict, reason } = await authorizer.authorize(attributes);
  if (verdict !== 'allow') throw forbiddenError(attributes, reason);
}

/**
 * Returns the groups of the impersonated user. A service account without groups gets its default groups; every user
 * except the anonymous one is in system:authenticated.
 */
function groupsOf(username: string, isRequested: readonly string[]): readonly string[] {
  const account = serviceAccountOf(username);
  const groups = account && isRequested.length === 0 ? serviceAccountGroups(account.namespace) : isRequested;
  const unauthenticated = 'system:unauthenticated';
  if (username === 'system:anonymous') return groups.includes(unauthenticated) ? groups : [...groups, unauthenticated];
  const isSettled = groups.includes('system:authenticated') || groups.includes(unauthenticated);
  return isSettled ? groups : [...groups, 'system:authenticated'];
}

function withoutUser(path: string, items: readonly Item[]): PlainTextError {
  const kinds = {
    groups: 'Group',
    users: 'User',
    serviceaccounts: 'ServiceAccount',
    uids: 'UID',
    userextras: 'UserExtra',
  };
  const printed = items.map(({ plural, group, subresource = '', name }) => {
    const version = group === '' ? '' : `${group}/v1`;
    return `{${kinds[plural]}  ${name}  ${version}  ${subresource}}`;
  });
  const why = `requested [${printed.join(' ')}] without impersonating a user`;
  return new PlainTextError(500, `Internal Server Error: ${JSON.stringify(path)}: ${why}`);
}
