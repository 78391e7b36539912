import type { PolicyRule } from '@kruise/api/rbac/rule';

/** Rules by the name of the role that has them. */
export type RuleSets = { readonly [role: string]: readonly PolicyRule[] };

export const read = 'get list watch';
export const write = 'create delete deletecollection patch update';
export const readWrite = 'create delete deletecollection get list patch update watch';
export const readUpdate = 'get list patch update watch';

const words = (text: string) => text.split(' ').sort();

/** A rule on resources. Each argument is a list of words; `core` stands for the group without a name. */
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

/** A rule on paths that are not resources. */
export function paths(verbs: string, urls: string): PolicyRule {
  return { verbs: words(verbs), nonResourceURLs: words(urls) };
}

/** What everyone who records events needs. */
export const recordEvents = rule('create patch update', 'core events.k8s.io', 'events');
