import { type Cause, duplicate, forbidden, invalid, notFoundValue, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validateQualifiedName } from '@kruise/values/names';
import {
  compareQuantities,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantitySign,
  roundUpQuantity,
  scaledValue,
} from '@kruise/values/quantity';
import { invalidBare } from '../meta/go-value.ts';
import { mustNotBeNegative, refusals } from '../meta/value.validate.ts';
import {
  hugePagesPrefix,
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isOvercommitAllowed,
  isStandardContainerResource,
  isStandardResource,
} from './resource-name.ts';
import type { ResourceClaim, ResourceRequirements } from './resources.ts';

/** Validates the requests and limits of a container. */
export function* validateContainerResources(
  { limits, requests, claims }: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  path: string,
): Generator<Cause> {
  for (const name in limits) {
    const at = `${path}.limits[${name}]`;
    yield* validateContainerResourceName(name, at);
    yield* validateResourceQuantity(name, limits[name]!, at);
    if (isHugePages(name)) yield* validateHugePages(name, limits[name]!, at);
  }
  for (const name in requests) {
    const at = `${path}.requests[${name}]`;
    yield* validateContainerResourceName(name, at);
    yield* validateResourceQuantity(name, requests[name]!, at);
    yield* validateAgainstLimit(name, requests[name]!, limits?.[name], path);
    if (isHugePages(name)) yield* validateHugePages(name, requests[name]!, at);
  }
  if (needsComputeBeside(limits, requests)) yield forbidden(path, 'HugePages require cpu or memory');
  if (claims) yield* validateClaims(claims, claimNames, `${path}.claims`);
}

/**
 * Reports whether there are only valid amounts of CPU and memory, as in nearly all containers: then there are no
 * errors. A plain function because it is called for every container, and iterating over a map is several times slower
 * in a generator.
 */
export function areUsualResources({ limits, requests, claims }: ResourceRequirements): boolean {
  if (claims) return false;
  for (const name in limits) if (!isUsual(name, limits[name]!)) return false;
  for (const name in requests) {
    const [request, limit] = [requests[name]!, limits?.[name]];
    if (!isUsual(name, request)) return false;
    if (limit === undefined || limit === request) continue;
    if (compareQuantities(quantityOf(request), quantityOf(limit)) > 0) return false;
  }
  return true;
}

function isUsual(name: string, quantity: string): boolean {
  return (name === 'cpu' || name === 'memory') && !isNegative(quantity);
}

/** Validates the overhead of a Pod. */
export function* validateOverhead(overhead: ResourceList, path: string): Generator<Cause> {
  yield* validateContainerResources({ limits: overhead }, new Set(), path);
}

type ResourceList = { readonly [name: string]: string };

/** Validates a resource name of any object. */
export function* validateResourceName(name: string, path: string): Generator<Cause> {
  const faults = validateQualifiedName(name);
  for (const fault of faults) yield invalidBare(path, name, fault);
  if (faults.length === 0 && !name.includes('/') && !isStandardResource(name)) {
    yield invalidBare(path, name, 'must be a standard resource type or fully qualified');
  }
}

/** Validates a resource name of a container. */
export function* validateContainerResourceName(name: string, path: string): Generator<Cause> {
  yield* validateResourceName(name, path);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) yield invalidBare(path, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    yield invalidBare(path, name, "doesn't follow extended resource name standard");
  }
}

/** Validates the quantity of a resource: not negative, and an integer where the resource is counted. */
export function* validateResourceQuantity(name: string, quantity: string, path: string): Generator<Cause> {
  if (isNegative(quantity)) yield invalid(path, quantity, mustNotBeNegative);
  if (!isWholeQuantity(quantity) && isIntegerResource(name)) {
    yield invalidBare(path, goQuantity(quantity), 'must be an integer');
  }
}

const plainlyWhole = /^[0-9]+(?:[kMGTPE]i?)?$/;

/** Reports whether a quantity is an integer. */
export function isWholeQuantity(text: string): boolean {
  if (plainlyWhole.test(text)) return true;
  const quantity = parseQuantity(text);
  return compareQuantities(quantity, roundUpQuantity(quantity, 0)) === 0;
}

/** Reports whether a canonical quantity is negative. */
export function isNegative(quantity: string): boolean {
  return quantity.startsWith('-');
}

/** Formats the Go struct of a quantity, which Kubernetes prints here instead of the quantity. */
export function goQuantity(text: string): string {
  const { unscaled, scale, family } = parseQuantity(text);
  const amount = `resource.int64Amount{value:${unscaled}, scale:${scale}}`;
  const decimal = 'resource.infDecAmount{Dec:(*inf.Dec)(nil)}';
  return `resource.Quantity{i:${amount}, d:${decimal}, s:"${text}", Format:"${family}"}`;
}

function* validateAgainstLimit(
  name: string,
  request: string,
  limit: string | undefined,
  path: string,
): Generator<Cause> {
  if (request === limit) return;
  const isShared = isOvercommitAllowed(name);
  if (limit === undefined) {
    if (!isShared) yield required(`${path}.limits`, 'Limit must be set for non overcommitable resources');
    return;
  }
  const order = compareQuantities(quantityOf(request), quantityOf(limit));
  if (order !== 0 && !isShared) {
    yield invalid(`${path}.requests`, request, `must be equal to ${name} limit of ${limit}`);
  } else if (order > 0) {
    yield invalid(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function* validateHugePages(name: string, quantity: string, path: string): Generator<Cause> {
  if (!isWholePages(name, quantity)) {
    yield invalid(path, quantity, `${quantity} is not positive integer multiple of ${name}`);
  }
}

function isWholePages(name: string, quantity: string): boolean {
  const size = name.slice(hugePagesPrefix.length);
  if (!isQuantity(size)) return false;
  const pageSize = parseQuantity(size);
  if (quantitySign(pageSize) <= 0 || !isWholeQuantity(size)) return false;
  return scaledValue(parseQuantity(quantity), 0) % scaledValue(pageSize, 0) === 0n;
}

function needsComputeBeside(limits: ResourceList = {}, requests: ResourceList = {}): boolean {
  let hasHugePages = false;
  for (const name in limits) hasHugePages ||= isHugePages(name);
  for (const name in requests) hasHugePages ||= isHugePages(name);
  return (
    hasHugePages && !['cpu', 'memory'].some((name) => Object.hasOwn(limits, name) || Object.hasOwn(requests, name))
  );
}

// The containers of a cluster use the same few quantities, so parsed ones are cached.
const quantities = new Map<string, Quantity>();
const maxQuantities = 4096;

function quantityOf(text: string): Quantity {
  let quantity = quantities.get(text);
  if (quantity === undefined) {
    quantity = parseQuantity(text);
    if (quantities.size === maxQuantities) quantities.clear();
    quantities.set(text, quantity);
  }
  return quantity;
}

function* validateClaims(
  claims: readonly ResourceClaim[],
  claimNames: ReadonlySet<string>,
  path: string,
): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, { name, request }] of claims.entries()) {
    const at = `${path}[${index}]`;
    if (!name) {
      yield required(at);
      continue;
    }
    if (seen.has(name)) yield duplicate(at, name);
    else {
      if (request) yield* refusals(`${at}.request`, request, validateDns1123Label(request));
      const key = request ? `${name}/${request}` : name;
      if (seen.has(key)) yield duplicate(at, key);
      else if (!request) for (const other of seen) if (other.startsWith(`${name}/`)) yield duplicate(at, name);
      seen.add(key);
    }
    if (!claimNames.has(name)) {
      const known = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort().join(', ')}`;
      const { message, ...cause } = notFoundValue(at, name);
      yield { ...cause, message: `${message}: must be one of the names in pod.spec.resourceClaims${known}` };
    }
  }
}
