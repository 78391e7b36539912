const prefix = 'system:serviceaccount:';

/** Namespace and name of a ServiceAccount. */
export type ServiceAccountName = { readonly namespace: string; readonly name: string };

/** Returns the username of a ServiceAccount. */
export function serviceAccountUsername(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`;
}

/** Returns the ServiceAccount of a username, if it is one. */
export function serviceAccountOf(username: string): ServiceAccountName | undefined {
  if (!username.startsWith(prefix)) return undefined;
  const [namespace, name, ...more] = username.slice(prefix.length).split(':');
  if (!namespace || !name || more.length > 0) return undefined;
  return { namespace, name };
}

/** Returns the groups of every ServiceAccount in a namespace. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
