const prefix = 'system:serviceaccount:';

/** Which account a user is. */
export type ServiceAccountName = { readonly namespace: string; readonly name: string };

/** The name an account has as a user. */
export function serviceAccountUsername(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`;
}

/** The account behind a user name, if it is the name of one. */
export function serviceAccountOf(username: string): ServiceAccountName | undefined {
  if (!username.startsWith(prefix)) return undefined;
  const [namespace, name, ...more] = username.slice(prefix.length).split(':');
  if (!namespace || !name || more.length > 0) return undefined;
  return { namespace, name };
}

/** The groups every account of a namespace is in. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
