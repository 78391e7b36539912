import type { RequestContext } from '../context.ts';

/** Audit level: how much of a request is recorded. */
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';

/** Audit stages at which an event can be recorded. */
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

export type AuditRule = {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly {
    readonly group?: string;
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
};

/** Audit policy: `audit.k8s.io/v1` Policy. */
export type AuditPolicy = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly rules: readonly AuditRule[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
};

/** Level and omitted stages for a request. */
export type AuditScope = {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
};

const levels: readonly string[] = ['None', 'Metadata', 'Request', 'RequestResponse'];
const stages: readonly string[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

/** Parses a policy. Throws with the reason if the policy is invalid. */
export function readPolicy(value: unknown): AuditPolicy {
  const policy = value as Partial<AuditPolicy> | null;
  if (policy?.kind !== 'Policy' || policy.apiVersion !== 'audit.k8s.io/v1') {
    throw new Error('the audit policy is not a Policy of audit.k8s.io/v1');
  }
  const { rules } = policy;
  if (!Array.isArray(rules) || rules.length === 0) throw new Error('the audit policy has no rules');
  for (const [index, rule] of (rules as readonly AuditRule[]).entries()) {
    const where = `rule ${index + 1} of the audit policy`;
    if (!levels.includes(rule.level)) throw new Error(`${where} has no level of ${levels.join(', ')}`);
    if (rule.nonResourceURLs?.length && (rule.resources?.length || rule.namespaces?.length)) {
      throw new Error(`${where} is about resources and other paths at once`);
    }
    for (const stage of rule.omitStages ?? []) {
      if (!stages.includes(stage)) throw new Error(`${where} omits ${stage}, which is no stage`);
    }
  }
  return policy as AuditPolicy;
}

/** Returns the audit scope of a request: the first matching rule decides, and without a match nothing is recorded. */
export function scopeOf(policy: AuditPolicy, context: RequestContext): AuditScope {
  const rule = policy.rules.find((each) => matches(each, context));
  return {
    level: rule?.level ?? 'None',
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? policy.omitManagedFields ?? false,
  };
}

function matches(rule: AuditRule, { user, info }: RequestContext): boolean {
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  if (users.length > 0 && !users.includes(user.username)) return false;
  if (userGroups.length > 0 && !userGroups.some((group) => user.groups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (info.isResource) {
    if (nonResourceURLs.length > 0) return false;
    if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false;
    return resources.length === 0 || resources.some((each) => matchesResource(each, info));
  }
  if (namespaces.length > 0 || resources.length > 0) return false;
  return nonResourceURLs.length === 0 || nonResourceURLs.some((url) => matchesPath(url, info.path));
}

function matchesResource(
  { group = '', resources = [], resourceNames = [] }: NonNullable<AuditRule['resources']>[number],
  info: RequestContext['info'],
): boolean {
  if (group !== info.group) return false;
  if (resources.length === 0) return true;
  const { plural, subresource, name } = info;
  const full = subresource === '' ? plural : `${plural}/${subresource}`;
  return resources.some((each) => {
    const isResource =
      each === full || each === '*' || each === `${plural}/*` || (subresource !== '' && each === `*/${subresource}`);
    return isResource && (resourceNames.length === 0 || resourceNames.includes(name));
  });
}

function matchesPath(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  return url.endsWith('*') && path.startsWith(url.slice(0, -1));
}
