import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validateDns1123Subdomain } from '@kruise/values/names';
import { unsupportedStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta } from '../meta/object-meta.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from './flowschema.ts';

const lastPrecedence = 10_000;
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function* validateFlowSchema({ metadata, spec, status }: FlowSchema): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  yield* validateSpec(metadata.name ?? '', spec);
  yield* validateConditions(status?.conditions);
}

export function* validateFlowSchemaStatus({ status }: FlowSchema): Generator<Cause> {
  yield* validateConditions(status?.conditions);
}

/** Validates the conditions of a FlowSchema or of a priority level. */
export function* validateConditions(
  conditions: readonly { readonly type?: string }[] | null | undefined,
): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, { type = '' }] of (conditions ?? []).entries()) {
    const field = `status.conditions[${index}].type`;
    if (seen.has(type)) yield duplicate(field, type);
    seen.add(type);
    if (type === '') yield required(field, 'must not be empty');
  }
}

function* validateSpec(name: string, spec: FlowSchemaSpec | undefined): Generator<Cause> {
  const precedence = spec?.matchingPrecedence ?? 0;
  const field = 'spec.matchingPrecedence';
  if (precedence <= 0) yield invalid(field, precedence, 'must be a positive value');
  if (precedence > lastPrecedence) yield invalid(field, precedence, `must not be greater than ${lastPrecedence}`);
  if (precedence === 1 && name !== 'exempt') {
    yield invalid(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
  const method = spec?.distinguisherMethod;
  if (method && method.type !== 'ByUser' && method.type !== 'ByNamespace') {
    const known = ['ByNamespace', 'ByUser'];
    yield unsupportedStructure('spec.distinguisherMethod.type', 'flowcontrol.FlowDistinguisherMethod', method, known);
  }
  const level = spec?.priorityLevelConfiguration?.name ?? '';
  const levelField = 'spec.priorityLevelConfiguration.name';
  if (level === '') yield required(levelField, 'must reference a priority level');
  else yield* refusals(levelField, level, validateDns1123Subdomain(level));
  for (const [index, rule] of (spec?.rules ?? []).entries()) yield* validateRules(rule, `spec.rules[${index}]`);
}

function* validateRules(rule: PolicyRulesWithSubjects, path: string): Generator<Cause> {
  const { subjects, resourceRules, nonResourceRules } = rule;
  if (!subjects?.length) yield required(`${path}.subjects`, 'subjects must contain at least one value');
  for (const [index, subject] of (subjects ?? []).entries()) {
    yield* validateSubject(subject, `${path}.subjects[${index}]`);
  }
  if (!resourceRules?.length && !nonResourceRules?.length) {
    yield required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty');
  }
  for (const [index, each] of (resourceRules ?? []).entries()) {
    yield* validateResourceRule(each, `${path}.resourceRules[${index}]`);
  }
  for (const [index, each] of (nonResourceRules ?? []).entries()) {
    yield* validatePathRule(each, `${path}.nonResourceRules[${index}]`);
  }
}

const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
/** Subject fields in the order in which Kubernetes reports those that must not be set. */
const otherFields = ['serviceAccount', 'user', 'group'] as const;

function* validateSubject(subject: Subject, path: string): Generator<Cause> {
  const { kind } = subject;
  if (kind !== 'ServiceAccount' && kind !== 'User' && kind !== 'Group') {
    yield notSupported(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User']);
    return;
  }
  const own = subjectFields[kind];
  if (!subject[own]) yield required(`${path}.${own}`, `${own} is required when subject kind is '${kind}'`);
  else if (own === 'serviceAccount') yield* validateAccount(subject, `${path}.serviceAccount`);
  else if (!subject[own].name) yield required(`${path}.${own}.name`);
  for (const field of otherFields) {
    if (field === own || !subject[field]) continue;
    const kindOfField = Object.entries(subjectFields).find(([, each]) => each === field)![0];
    yield forbidden(`${path}.${field}`, `${field} is forbidden when subject kind is not '${kindOfField}'`);
  }
}

function* validateAccount({ serviceAccount }: Subject, path: string): Generator<Cause> {
  const { name = '', namespace = '' } = serviceAccount ?? {};
  if (name === '') yield required(`${path}.name`);
  else if (name !== '*') yield* refusals(`${path}.name`, name, validateDns1123Subdomain(name));
  if (namespace === '') yield required(`${path}.namespace`, 'must specify namespace for service account');
  else yield* refusals(`${path}.namespace`, namespace, validateDns1123Label(namespace));
}

function* validateVerbs(given: readonly string[] | null | undefined, path: string): Generator<Cause> {
  const list = given ?? [];
  if (list.length === 0) yield required(path, 'verbs must contain at least one value');
  else if (list.includes('*')) {
    if (list.length > 1) yield invalid(path, list, "if '*' is present, must not specify other verbs");
  } else if (!list.every((verb) => verbs.includes(verb))) yield notSupported(path, list, verbs);
}

function* validateResourceRule(rule: ResourcePolicyRule, path: string): Generator<Cause> {
  const { apiGroups, resources, clusterScope } = rule;
  const namespaces = rule.namespaces ?? [];
  yield* validateVerbs(rule.verbs, `${path}.verbs`);
  yield* validateList(apiGroups, `${path}.apiGroups`, 'api group');
  yield* validateList(resources, `${path}.resources`, 'resource');
  const field = `${path}.namespaces`;
  if (namespaces.length === 0 && !clusterScope) {
    yield required(field, 'resource rules that are not cluster scoped must supply at least one namespace');
  } else if (namespaces.includes('*')) {
    if (namespaces.length > 1) yield invalid(field, namespaces, "if '*' is present, must not specify other namespaces");
  } else {
    for (const [index, namespace] of namespaces.entries()) {
      const faults = validateDns1123Label(namespace).map(
        (fault) => `each member of this list must be '*' or a DNS-1123 label; ${fault}`,
      );
      yield* refusals(`${field}[${index}]`, namespace, faults);
    }
  }
}

function* validateList(list: readonly string[] | null | undefined, path: string, what: string): Generator<Cause> {
  if (!list?.length) yield required(path, `resource rules must supply at least one ${what}`);
  else if (list.length > 1 && list.includes('*')) {
    yield invalid(path, list, `if '*' is present, must not specify other ${what}s`);
  }
}

function* validatePathRule({ verbs: given, nonResourceURLs }: NonResourcePolicyRule, path: string): Generator<Cause> {
  yield* validateVerbs(given, `${path}.verbs`);
  const urls = nonResourceURLs ?? [];
  const field = `${path}.nonResourceURLs`;
  if (urls.length === 0) yield required(field, 'nonResourceURLs must contain at least one value');
  else if (urls.includes('*')) {
    if (urls.length > 1) yield invalid(field, urls, "if '*' is present, must not specify other non-resource URLs");
  } else for (const [index, url] of urls.entries()) yield* validatePath(url, `${field}[${index}]`);
}

function* validatePath(path: string, field: string): Generator<Cause> {
  if (path === '/') return;
  const stars = path.split('*').length - 1;
  if (path === '') yield invalid(field, path, 'must not be empty');
  else if (!path.startsWith('/')) yield invalid(field, path, 'must start with slash');
  else if (path.includes(' ')) yield invalid(field, path, 'must not contain white-space');
  else if (path.includes('//')) yield invalid(field, path, 'must not contain double slash');
  else if (stars > 1 || (stars === 1 && !path.endsWith('/*'))) {
    yield invalid(field, path, 'wildcard can only do suffix matching');
  }
}
