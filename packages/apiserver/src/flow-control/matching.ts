import type { FlowSchema } from '@kruise/api/flowcontrol/flowschema';
import type { RequestInfo } from '../request-info.ts';
import type { User } from '../user.ts';

type Rule = NonNullable<NonNullable<FlowSchema['spec']>['rules']>[number];
type Subject = NonNullable<Rule['subjects']>[number];
type ResourceRule = NonNullable<Rule['resourceRules']>[number];
type PathRule = NonNullable<Rule['nonResourceRules']>[number];

/** FlowSchema and its rules whose subjects match a user; only the request remains to be matched. */
type Candidate = { readonly schema: FlowSchema; readonly rules: readonly Rule[] };

/** Finds the first FlowSchema that matches a request, by matchingPrecedence and then by name. */
export type SchemaMatcher = (user: User, info: RequestInfo) => FlowSchema | undefined;

/** Compiles FlowSchemas for matching. Candidates are memoized per user object: the same user yields the same object. */
export function createMatcher(schemas: readonly FlowSchema[]): SchemaMatcher {
  const ordered = [...schemas].sort(compareSchemas);
  const candidates = new WeakMap<User, readonly Candidate[]>();

  function candidatesOf(user: User): readonly Candidate[] {
    let found = candidates.get(user);
    if (!found) {
      found = ordered.flatMap((schema) => {
        const rules = (schema.spec?.rules ?? []).filter(({ subjects }) => subjects?.some((each) => is(user, each)));
        return rules.length === 0 ? [] : [{ schema, rules }];
      });
      candidates.set(user, found);
    }
    return found;
  }

  return (user, info) => {
    for (const { schema, rules } of candidatesOf(user)) {
      for (const rule of rules) if (applies(rule, info)) return schema;
    }
    return undefined;
  };
}

function compareSchemas(a: FlowSchema, b: FlowSchema): number {
  const difference = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0);
  return difference || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

function is({ username, groups }: User, { user, group, serviceAccount }: Subject): boolean {
  if (user) return user.name === '*' || user.name === username;
  if (group) return group.name === '*' || groups.includes(group.name);
  if (!serviceAccount) return false;
  const { namespace, name } = serviceAccount;
  const prefix = `system:serviceaccount:${namespace}:`;
  return name === '*' ? username.startsWith(prefix) : username === `${prefix}${name}`;
}

function applies({ resourceRules, nonResourceRules }: Rule, info: RequestInfo): boolean {
  if (info.isResource) return resourceRules?.some((rule) => coversResource(rule, info)) ?? false;
  return nonResourceRules?.some((rule) => coversPath(rule, info)) ?? false;
}

function coversResource(rule: ResourceRule, { verb, group, plural, subresource, namespace }: RequestInfo): boolean {
  const { verbs, apiGroups, resources, clusterScope, namespaces } = rule;
  const resource = subresource === '' ? plural : `${plural}/${subresource}`;
  return (
    has(verbs, verb) &&
    has(apiGroups, group) &&
    (has(resources, resource) || (subresource !== '' && resources.includes(`*/${subresource}`))) &&
    (namespace === '' ? clusterScope === true : has(namespaces, namespace))
  );
}

function coversPath({ verbs, nonResourceURLs }: PathRule, { verb, path }: RequestInfo): boolean {
  if (!has(verbs, verb)) return false;
  return nonResourceURLs.some((url) => (url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path));
}

function has(all: readonly string[] | null | undefined, one: string): boolean {
  return all?.[0] === '*' || (all?.includes(one) ?? false);
}
