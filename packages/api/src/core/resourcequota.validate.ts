import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { invalidBare, invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isImmutable } from '../meta/value.validate.ts';
import { isStandardResource } from './resource-name.ts';
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from './resourcequota.ts';
import { validateResourceName, validateResourceQuantity } from './resources.validate.ts';

const computeResources = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const podResources = ['pods', ...computeResources];

/** The scopes of a quota, and the standard resources that each scope supports. */
const scopeResources: { readonly [scope: string]: readonly string[] } = {
  Terminating: podResources,
  NotTerminating: podResources,
  BestEffort: ['pods'],
  NotBestEffort: podResources,
  PriorityClass: podResources,
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
  CrossNamespacePodAffinity: podResources,
};
const scopesWithoutValues = Object.keys(scopeResources).filter(
  (scope) => scope !== 'PriorityClass' && scope !== 'VolumeAttributesClass',
);
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

export function* validateResourceQuota({ metadata, spec = {}, status = {} }: ResourceQuota): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validateSpec(spec);
  yield* validateAmounts(status.hard, 'status.hard');
  yield* validateAmounts(status.used, 'status.used');
}

export function* validateResourceQuotaUpdate(
  { metadata, spec = {} }: ResourceQuota,
  old: ResourceQuota,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateSpec(spec);
  const [scopes, before] = [new Set(spec.scopes), new Set(old.spec?.scopes)];
  if (scopes.symmetricDifference(before).size > 0) yield invalidScopes('spec.scopes', spec.scopes, isImmutable);
}

export function* validateResourceQuotaStatusUpdate(
  { metadata, status = {} }: ResourceQuota,
  old: ResourceQuota,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (!metadata.resourceVersion) yield required('resourceVersion');
  yield* validateAmounts(status.hard, 'status.hard');
  yield* validateAmounts(status.used, 'status.used');
}

function* validateAmounts(list: { readonly [name: string]: string } | undefined, path: string): Generator<Cause> {
  for (const name in list) {
    const at = `${path}[${name}]`;
    yield* validateResourceName(name, at);
    if (!name.includes('/') && !isQuotaResource(name)) {
      yield invalidBare(at, name, 'must be a standard resource for quota');
    }
    yield* validateResourceQuantity(name, list[name]!, at);
  }
}

/**
 * Reports whether a quota may limit a resource: all standard resources except plain storage. Huge pages only as
 * requests.
 */
function isQuotaResource(name: string): boolean {
  return isStandardResource(name) && name !== 'storage';
}

function* validateSpec(spec: ResourceQuotaSpec): Generator<Cause> {
  yield* validateAmounts(spec.hard, 'spec.hard');
  const scopes: readonly string[] = spec.scopes ?? [];
  const resources = Object.keys(spec.hard ?? {}).sort();
  for (const scope of scopes) {
    if (!Object.hasOwn(scopeResources, scope)) yield invalidScopes('spec.scopes', scopes, 'unsupported scope');
    for (const resource of resources) {
      if (isCounted(scope, resource)) continue;
      yield invalidScopes('spec.scopes', scopes, 'unsupported scope applied to resource');
    }
  }
  if (hasOpposites(scopes)) yield invalidScopes('spec.scopes', scopes, 'conflicting scopes');
  if (spec.scopeSelector) yield* validateScopeSelector(spec, resources);
}

function isCounted(scope: string, resource: string): boolean {
  const counted = Object.hasOwn(scopeResources, scope) ? scopeResources[scope] : undefined;
  return !counted || !isQuotaResource(resource) || counted.includes(resource);
}

function hasOpposites(scopes: readonly string[]): boolean {
  return opposites.some(([one, other]) => scopes.includes(one) && scopes.includes(other));
}

function invalidScopes(field: string, scopes: readonly string[] | undefined, detail: string): Cause {
  const shown = scopes === undefined ? '(nil)' : `{${scopes.map((scope) => JSON.stringify(scope)).join(', ')}}`;
  return invalidBare(field, `[]core.ResourceQuotaScope${shown}`, detail);
}

function* validateScopeSelector(spec: ResourceQuotaSpec, resources: readonly string[]): Generator<Cause> {
  const path = 'spec.scopeSelector.matchExpressions';
  const requirements = spec.scopeSelector?.matchExpressions ?? [];
  for (const requirement of requirements) {
    const { scopeName } = requirement;
    if (!Object.hasOwn(scopeResources, scopeName)) yield invalid(`${path}.scopeName`, scopeName, 'unsupported scope');
    for (const resource of resources) {
      if (isCounted(scopeName, resource)) continue;
      yield invalidStructure(path, 'core.ScopeSelector', spec.scopeSelector, 'unsupported scope applied to resource');
    }
    yield* validateRequirement(requirement, path);
  }
  if (hasOpposites(requirements.map(({ scopeName }) => scopeName))) {
    yield invalidScopes(path, spec.scopes, 'conflicting scopes');
  }
}

function* validateRequirement(requirement: ScopedResourceSelectorRequirement, path: string): Generator<Cause> {
  const { scopeName, values = [] } = requirement;
  const operator: string = requirement.operator;
  if (scopesWithoutValues.includes(scopeName) && operator !== 'Exists') {
    yield invalid(
      `${path}.operator`,
      operator,
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
    );
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      yield required(`${path}.values`, detail);
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      yield invalid(`${path}.values`, values, detail);
    }
  } else yield invalid(`${path}.operator`, operator, 'not a valid selector operator');
}
