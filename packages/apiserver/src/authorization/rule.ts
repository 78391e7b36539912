import type { PolicyRule } from '@kruise/api/rbac/rule';
import { trimTrailing } from '@kruise/values/trim';
import type { Attributes } from './authorizer.ts';

/** Reports whether a rule allows the requested action. */
export function allows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (!attributes.resource) return rule.nonResourceURLs?.some((path) => matchesPath(path, attributes.path)) ?? false;
  const { group, plural, subresource, name } = attributes;
  if (!includes(rule.apiGroups, group)) return false;
  if (!matchesResource(rule.resources ?? [], plural, subresource)) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || names.includes(name);
}

type Values = readonly string[] | null | undefined;

function includes(values: Values, wanted: string): boolean {
  return values?.some((value) => value === '*' || value === wanted) ?? false;
}

function matchesResource(resources: readonly string[], plural: string, subresource: string): boolean {
  if (subresource === '') return includes(resources, plural);
  return includes(resources, `${plural}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(trimTrailing(pattern, '*'));
}

/** Breaks a rule down into rules of one verb, group, resource and name, or of one verb and path. */
function* parts(rule: PolicyRule): Generator<PolicyRule> {
  const names = rule.resourceNames?.length ? rule.resourceNames : [undefined];
  for (const group of rule.apiGroups ?? [])
    for (const resource of rule.resources ?? [])
      for (const verb of rule.verbs ?? [])
        for (const name of names)
          yield {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name === undefined ? {} : { resourceNames: [name] }),
          };
  for (const path of rule.nonResourceURLs ?? [])
    for (const verb of rule.verbs ?? []) yield { verbs: [verb], nonResourceURLs: [path] };
}

/** Returns the breakdown rules of `wanted` that `held` does not cover. */
export function uncovered(wanted: Iterable<PolicyRule>, held: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing: PolicyRule[] = [];
  for (const rule of wanted)
    for (const part of parts(rule)) if (!held.some((owned) => covers(owned, part))) missing.push(part);
  return missing;
}

/** Reports whether a rule covers a breakdown rule. Only a `*` covers a `*`. */
function covers(
  rule: PolicyRule,
  { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule,
): boolean {
  if (!includes(rule.verbs, verbs[0]!)) return false;
  const path = nonResourceURLs?.[0];
  if (path !== undefined) return rule.nonResourceURLs?.some((pattern) => matchesPath(pattern, path)) ?? false;
  if (!includes(rule.apiGroups, apiGroups![0]!)) return false;
  const [plural, subresource = ''] = splitOnce(resources![0]!);
  if (!matchesResource(rule.resources ?? [], plural, subresource)) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || (resourceNames !== undefined && names.includes(resourceNames![0]!));
}

function splitOnce(resource: string): [string, string?] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [resource] : [resource.slice(0, slash), resource.slice(slash + 1)];
}

/** Formats breakdown rules for messages: rules that differ only by verb are merged, and the result is sorted. */
export function printedParts(rules: readonly PolicyRule[]): readonly string[] {
  const together = new Map<string, PolicyRule>();
  const single: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs) {
      single.push(rule);
      continue;
    }
    const id = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const known = together.get(id);
    together.set(id, known ? { ...known, verbs: [...known.verbs, ...rule.verbs] } : rule);
  }
  return [...new Set([...single, ...together.values()].map(printedRule))].sort();
}

function printedRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const fields = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const;
  const printed = fields.flatMap(([name, values]) => (values?.length ? [`${name}:${quoted(values)}`] : []));
  return `{${printed.join(', ')}}`;
}

/** Formats a list of strings like Go's `%q`. */
export function quoted(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
