import { type Cause, duplicate, invalid, notSupported, required, tooMany } from '@kruise/schema/field-error';
import { validatePathSegment, validateQualifiedName } from '@kruise/values/names';
import { invalidBare } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { oneOf, refusals } from '../meta/value.validate.ts';
import type { ExpressionCheck } from './expression-check.ts';
import type { MatchCondition, MatchResources, NamedRuleWithOperations, RuleWithOperations } from './rule.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
export const failurePolicies = ['Fail', 'Ignore'];
export const matchPolicies = ['Equivalent', 'Exact'];
const maxConditions = 64;

export function* validateRule(rule: RuleWithOperations, path: string): Generator<Cause> {
  const named: readonly string[] = rule.operations ?? [];
  if (named.length === 0) yield required(`${path}.operations`);
  if (named.length > 1 && named.includes('*')) {
    const shown = `[]admissionregistration.OperationType{${named.map((name) => JSON.stringify(name)).join(', ')}}`;
    yield invalidBare(`${path}.operations`, shown, "if '*' is present, must not specify other operations");
  }
  for (const [index, operation] of named.entries()) yield* oneOf(`${path}.operations[${index}]`, operation, operations);
  const { apiGroups = [], apiVersions = [], scope } = rule;
  if (apiGroups.length === 0) yield required(`${path}.apiGroups`);
  if (apiGroups.length > 1 && apiGroups.includes('*')) {
    yield invalid(`${path}.apiGroups`, apiGroups, "if '*' is present, must not specify other API groups");
  }
  if (apiVersions.length === 0) yield required(`${path}.apiVersions`);
  if (apiVersions.length > 1 && apiVersions.includes('*')) {
    yield invalid(`${path}.apiVersions`, apiVersions, "if '*' is present, must not specify other API versions");
  }
  for (const [index, version] of apiVersions.entries()) {
    if (version === '') yield required(`${path}.apiVersions[${index}]`);
  }
  yield* validateResources(rule.resources ?? [], `${path}.resources`);
  if (scope !== undefined) yield* oneOf(`${path}.scope`, scope, scopes);
}

/** Validates `pods`, `pods/*`, `*\/status`: a resource that an earlier one already covers is an error. */
function* validateResources(resources: readonly string[], path: string): Generator<Cause> {
  if (resources.length === 0) yield required(path);
  const [whole, everywhere] = [new Set<string>(), new Set<string>()];
  let namesLast = false;
  for (const [index, text] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (text === '') {
      yield required(at);
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      namesLast = text !== '*';
      continue;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (whole.has(resource)) yield invalid(at, text, `if '${resource}/*' is present, must not specify ${text}`);
    if (everywhere.has(subresource)) {
      yield invalid(at, text, `if '*/${subresource}' is present, must not specify ${text}`);
    }
    if (subresource === '*') whole.add(resource);
    if (resource === '*') everywhere.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    yield invalid(path, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes('*') && namesLast) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    yield invalid(path, resources, detail);
  }
}

export function* validateMatchResources(match: MatchResources, path: string): Generator<Cause> {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  if (matchPolicy === undefined) yield required(`${path}.matchPolicy`);
  else yield* oneOf(`${path}.matchPolicy`, matchPolicy, matchPolicies);
  if (!namespaceSelector) yield required(`${path}.namespaceSelector`);
  else yield* validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`);
  if (!objectSelector) yield required(`${path}.objectSelector`);
  else yield* validateLabelSelector(objectSelector, `${path}.objectSelector`);
  for (const [index, rule] of resourceRules.entries())
    yield* validateNamedRule(rule, `${path}.resourceRules[${index}]`);
  for (const [index, rule] of excludeResourceRules.entries()) {
    yield* validateNamedRule(rule, `${path}.excludeResourceRules[${index}]`);
  }
}

function* validateNamedRule(rule: NamedRuleWithOperations, path: string): Generator<Cause> {
  const names = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const at = `${path}.resourceNames[${index}]`;
    yield* refusals(at, name, validatePathSegment(name));
    if (names.has(name)) yield duplicate(at, name);
    names.add(name);
  }
  yield* validateRule(rule, path);
}

export type ConditionOptions = {
  readonly check: ExpressionCheck;
  readonly params: boolean;
  /** The expressions of the stored object. */
  readonly stored: ReadonlySet<string>;
};

export function* validateMatchConditions(
  conditions: readonly MatchCondition[],
  { check, params, stored }: ConditionOptions,
  path: string,
): Generator<Cause> {
  if (conditions.length > maxConditions) yield tooMany(path, conditions.length, maxConditions);
  const names = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    const text = expression.trim();
    if (text === '') yield required(`${at}.expression`);
    else {
      const isStored = stored.has(text);
      yield* check(text, { path: `${at}.expression`, params, authorizer: true, yields: 'bool', isStored });
    }
    if (!name) yield required(`${at}.name`);
    else yield* refusals(`${at}.name`, name, validateQualifiedName(name));
    if (name && names.has(name)) yield duplicate(`${at}.name`, name);
    names.add(name);
  }
}

/** Validates an enumerated value that Kubernetes keeps as a string type of its own. */
export function* validateChoice(field: string, value: string | undefined, known: readonly string[]): Generator<Cause> {
  if (value === undefined) yield required(field);
  else if (!known.includes(value)) yield notSupported(field, value, known);
}
