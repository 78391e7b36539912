import type { PolicyRule } from '@kruise/api/rbac/rule';

/** Rules by role name. */
export type RuleSets = { readonly [role: string]: readonly PolicyRule[] };

export const read = 'get list watch';
export const write = 'create delete deletecollection patch update';
export const readWrite = 'create delete deletecollection get list patch update watch';
export const readUpdate = 'get list patch update watch';

const words = (text: string) => text.split(' ').sort();

/** Creates a rule on resources. Each argument is a space-separated list; `core` is the core group. */
export function rule(verbs: string, groups: string, resources: string, names?: string): PolicyRule {
  return {
    verbs: words(verbs),
    apiGroups: words(groups)
      .map((group) => (group === 'core' ? '' : group))
      .sort(),
    resources: words(resources),
    ...(names === undefined ? {} : { resourceNames: words(names) }),
  };
}

/** Creates a rule on non-resource URLs. */
export function paths(verbs: string, urls: string): PolicyRule {
  return { verbs: words(verbs), nonResourceURLs: words(urls) };
}

/** Rule for clients that record events. */
export const recordEvents = rule('create patch update', 'core events.k8s.io', 'events');
