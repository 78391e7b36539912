/** Resources of a sidecar that are computed from the other containers of its Pod. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { ResourceRequirements } from '@kruise/api/core/resources';
import type { SidecarContainer } from '@kruise/api/kruise/sidecarset';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityOf,
  zeroQuantity,
} from '@kruise/values/quantity';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { evaluate, toQuantity } from './expression.ts';

type Policy = NonNullable<SidecarContainer['resourcesPolicy']>;
type Resource = 'cpu' | 'memory';
type Amounts = { readonly [resource: string]: string };

/**
 * Returns the resources of the sidecar in a Pod. Other sidecars do not count. Throws `ParseError` if they cannot be
 * computed.
 */
export function resourcesFor(policy: Policy, pod: Pod, sidecars: ReadonlySet<string>): ResourceRequirements {
  const targets = targetsOf(policy, pod, sidecars);
  const { limits, requests } = policy.resourcesExpr;
  const limitOf = (resource: Resource) => aggregateOfLimits(policy, targets, resource);
  // A container without a request counts as 0.
  const requestOf = (resource: Resource) => aggregateOfRequests(policy, targets, resource) ?? zeroQuantity;
  return {
    ...amounts('limits', limits && valuesOf(limits, limitOf, 'limits')),
    ...amounts('requests', requests && valuesOf(requests, requestOf, 'requests')),
  };
}

function amounts(name: 'limits' | 'requests', values: Amounts | undefined): ResourceRequirements {
  return values && Object.keys(values).length > 0 ? { [name]: values } : {};
}

/** Returns the long-running containers that the policy targets. */
function targetsOf(
  { targetContainersNameRegex: pattern = '' }: Policy,
  { spec }: Pod,
  sidecars: ReadonlySet<string>,
): readonly Container[] {
  const native = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const named = compiled(pattern);
  const targets = [...native, ...(spec?.containers ?? [])].filter(
    ({ name }) => !sidecars.has(name) && named.matcher(name).find(),
  );
  if (targets.length === 0) throw new ParseError(`no containers match the regex pattern ${quote(pattern)}`);
  return targets;
}

function compiled(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const why = `invalid regex pattern ${quote(pattern)}: ${error.message}`;
    throw new ParseError(`failed to get target containers: ${why}`);
  }
}

/** Returns the total limit; undefined if any target has no limit. */
function aggregateOfLimits(policy: Policy, targets: readonly Container[], resource: Resource): Quantity | undefined {
  const limits = targets.map(({ resources }) => resources?.limits?.[resource]);
  return limits.includes(undefined) ? undefined : aggregate(policy, limits as readonly string[]);
}

function aggregateOfRequests(policy: Policy, targets: readonly Container[], resource: Resource): Quantity | undefined {
  const requests = targets.map(({ resources }) => resources?.requests?.[resource]);
  return aggregate(
    policy,
    requests.filter((request) => request !== undefined),
  );
}

function aggregate({ targetContainersMode: mode }: Policy, texts: readonly string[]): Quantity | undefined {
  const combine = modes.get(mode);
  return combine && texts.map(parseQuantity).reduce(combine, undefined as never);
}

const modes: ReadonlyMap<string, (sum: Quantity | undefined, next: Quantity) => Quantity> = new Map([
  ['sum', (sum, next) => addQuantities(sum ?? zeroQuantity, next)],
  ['max', (most, next) => (most && compareQuantities(next, most) <= 0 ? most : next)],
]);

function valuesOf(
  expressions: { readonly [resource in Resource]?: string },
  measured: (resource: Resource) => Quantity | undefined,
  kind: string,
): Amounts {
  const values = (['cpu', 'memory'] as const).flatMap((resource) => {
    const expression = expressions[resource];
    const value = expression ? measured(resource) : undefined;
    if (!expression || !value) return [];
    const shown = resource === 'cpu' ? 'CPU' : resource;
    return [[resource, evaluated(expression, value, `failed to evaluate ${shown} ${kind} expression`)] as const];
  });
  return Object.fromEntries(values);
}

/**
 * Evaluates an expression. The variable is memory if the expression mentions it, whatever resource the expression is
 * for.
 */
function evaluated(expression: string, measured: Quantity, what: string): string {
  const variable = /\bmemory\b/.test(expression) ? 'memory' : 'cpu';
  try {
    const value = evaluate(expression, { [variable]: measured });
    if (typeof value !== 'number' || variable === 'cpu') return formatQuantity(toQuantity(value));
    return formatQuantity(quantityOf(Math.trunc(value)));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new ParseError(`${what}: failed to parse expression ${quote(expression)}: ${error.message}`);
  }
}
