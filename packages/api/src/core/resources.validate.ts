import { type Cause, duplicate, forbidden, invalid, notFoundValue, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validateQualifiedName } from '@kruise/values/names';
import {
  compareQuantities,
  isQuantity,
  MILLI,
  parseQuantity,
  type Quantity,
  quantitySign,
  scaledValue,
} from '@kruise/values/quantity';
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

/** What a container requests and is limited to. */
export function* validateContainerResources(
  resources: ResourceRequirements | undefined,
  claimNames: ReadonlySet<string>,
  path: string,
): Generator<Cause> {
  if (resources === undefined) return;
  const { limits = {}, requests = {} } = resources;
  for (const name in limits) {
    yield* validateContainerQuantity(name, limits[name]!, `${path}.limits[${name}]`);
  }
  for (const name in requests) {
    const at = `${path}.requests[${name}]`;
    yield* validateContainerResourceName(name, at);
    yield* validateResourceQuantity(name, requests[name]!, at);
    yield* validateAgainstLimit(name, requests[name]!, limits[name], path);
    yield* validateHugePages(name, requests[name]!, at);
  }
  if (needsComputeBeside(limits, requests)) yield forbidden(path, 'HugePages require cpu or memory');
  if (resources.claims) yield* validateClaims(resources.claims, claimNames, `${path}.claims`);
}

/** What a Pod needs beyond its containers. */
export function* validateOverhead(overhead: ResourceList, path: string): Generator<Cause> {
  yield* validateContainerResources({ limits: overhead }, new Set(), path);
}

type ResourceList = { readonly [name: string]: string };

function* validateContainerQuantity(name: string, quantity: string, path: string): Generator<Cause> {
  yield* validateContainerResourceName(name, path);
  yield* validateResourceQuantity(name, quantity, path);
  yield* validateHugePages(name, quantity, path);
}

/** The name of a resource anything may be about. */
export function* validateResourceName(name: string, path: string): Generator<Cause> {
  const faults = validateQualifiedName(name);
  if (faults.length > 0) yield* refusals(path, name, faults);
  else if (!name.includes('/') && !isStandardResource(name)) {
    yield invalid(path, name, 'must be a standard resource type or fully qualified');
  }
}

function* validateContainerResourceName(name: string, path: string): Generator<Cause> {
  if (name === 'cpu' || name === 'memory') return;
  yield* validateResourceName(name, path);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) yield invalid(path, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    yield invalid(path, name, "doesn't follow extended resource name standard");
  }
}

/** An amount of a resource: not negative, and whole where it is counted. */
export function* validateResourceQuantity(name: string, quantity: string, path: string): Generator<Cause> {
  if (isNegative(quantity)) yield invalid(path, quantity, mustNotBeNegative);
  if (!isWhole.test(quantity) && isIntegerResource(name)) {
    const parsed = parseQuantity(quantity);
    if (scaledValue(parsed, MILLI) % 1000n !== 0n) {
      yield { ...invalid(path, '', ''), message: `Invalid value: ${goQuantity(parsed, quantity)}: must be an integer` };
    }
  }
}

const isWhole = /^[0-9]+(?:[kMGTPE]i?)?$/;

/** A canonical quantity says so itself. */
export function isNegative(quantity: string): boolean {
  return quantity.startsWith('-');
}

/** The structure Kubernetes keeps a quantity in, which it prints here instead of the quantity. */
function goQuantity({ unscaled, scale, family }: Quantity, text: string): string {
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
  const order = compareQuantities(parseQuantity(request), parseQuantity(limit));
  if (order !== 0 && !isShared) {
    yield invalid(`${path}.requests`, request, `must be equal to ${name} limit of ${limit}`);
  } else if (order > 0) {
    yield invalid(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function* validateHugePages(name: string, quantity: string, path: string): Generator<Cause> {
  if (isHugePages(name) && !isWholePages(name, quantity)) {
    yield invalid(path, quantity, `${quantity} is not positive integer multiple of ${name}`);
  }
}

function isWholePages(name: string, quantity: string): boolean {
  const size = name.slice(hugePagesPrefix.length);
  if (!isQuantity(size)) return false;
  const pageSize = parseQuantity(size);
  if (quantitySign(pageSize) <= 0 || scaledValue(pageSize, MILLI) % 1000n !== 0n) return false;
  return scaledValue(parseQuantity(quantity), 0) % scaledValue(pageSize, 0) === 0n;
}

function needsComputeBeside(limits: ResourceList, requests: ResourceList): boolean {
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  return names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory');
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
