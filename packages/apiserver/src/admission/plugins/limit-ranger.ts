import type { Container } from '@kruise/api/core/container';
import { type LimitRange, type LimitRangeItem, limitRange } from '@kruise/api/core/limitrange';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { podLimits, podRequests } from '@kruise/machinery/pod-resources';
import { type Amounts, amountsOf, type ResourceList } from '@kruise/machinery/resource-list';
import type { Draft } from '@kruise/schema/draft';
import {
  asApproximateFloat,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantitySign,
} from '@kruise/values/quantity';
import { type AdmissionPlugin, type Attributes, draftOf, forbiddenWrite, isResource, isWriteTo } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

const annotation = 'kubernetes.io/limit-ranger';

/**
 * LimitRanger plugin: enforces the limits of a namespace on Pods, containers and PVCs, and sets default requests and
 * limits.
 */
export function limitRanger(lookup: Lookup): AdmissionPlugin {
  const ranges = lookup.of(limitRange);
  const rangesFor = ({ namespace, oldObject }: Attributes): readonly LimitRange[] =>
    oldObject?.metadata.deletionTimestamp ? [] : ranges.list(namespace);

  return {
    name: 'LimitRanger',
    handles(attributes) {
      const { operation, subresource, resource } = attributes;
      if (isResource(resource.kind, pod)) {
        return operation === 'CREATE' ? subresource === '' : operation === 'UPDATE' && subresource === 'resize';
      }
      return (operation === 'CREATE' || operation === 'UPDATE') && isWriteTo(attributes, persistentVolumeClaim);
    },
    mutate(attributes) {
      if (!isResource(attributes.resource.kind, pod)) return;
      for (const range of rangesFor(attributes)) setDefaults(draftOf<Pod>(attributes), range);
    },
    validate(attributes) {
      const { object, resource } = attributes;
      for (const { spec } of rangesFor(attributes)) {
        const faults = (spec?.limits ?? []).flatMap((limit) =>
          isResource(resource.kind, pod)
            ? [...podFaults(limit, object as Pod)]
            : [...claimFaults(limit, object as PersistentVolumeClaim)],
        );
        if (faults.length > 0) throw forbiddenWrite(attributes, aggregated(faults));
      }
    },
  };
}

/** Aggregates several errors into one text without duplicates; more than one error is put in brackets. */
function aggregated(faults: readonly string[]): string {
  const distinct = [...new Set(faults)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}

function setDefaults(draft: Draft<Pod>, { spec }: LimitRange): void {
  const ofContainers = (spec?.limits ?? []).filter(({ type }) => type === 'Container');
  const limits: ResourceList = Object.assign({}, ...ofContainers.map((limit) => limit.default));
  const requests: ResourceList = Object.assign({}, ...ofContainers.map((limit) => limit.defaultRequest));
  const set: string[] = [];
  for (const container of draft.spec?.containers ?? []) {
    set.push(...setContainerDefaults(container, requests, limits, `container ${container.name}`));
  }
  for (const container of draft.spec?.initContainers ?? []) {
    set.push(...setContainerDefaults(container, requests, limits, `init container ${container.name}`));
  }
  if (set.length === 0) return;
  const annotations = (draft.metadata.annotations ??= {});
  annotations[annotation] = `LimitRanger plugin set: ${set.join('; ')}`;
}

function setContainerDefaults(
  container: Draft<Container>,
  requests: ResourceList,
  limits: ResourceList,
  title: string,
): string[] {
  const resources = (container.resources ??= {});
  return (['requests', 'limits'] as const).flatMap((field) => {
    const missing = Object.entries(field === 'requests' ? requests : limits).filter(
      ([name]) => resources[field]?.[name] === undefined,
    );
    if (missing.length === 0) return [];
    resources[field] = { ...resources[field], ...Object.fromEntries(missing) };
    const names = missing.map(([name]) => name).sort();
    return [`${names.join(', ')} ${field === 'requests' ? 'request' : 'limit'} for ${title}`];
  });
}

function* podFaults(limit: LimitRangeItem, { spec }: Pod): Generator<string> {
  if (limit.type === 'Container') {
    for (const { resources } of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
      yield* faultsOf(limit, amountsOf(resources?.requests), amountsOf(resources?.limits));
    }
  } else if (limit.type === 'Pod') {
    yield* faultsOf(limit, podRequests(spec!, { overhead: false }), podLimits(spec!, { overhead: false }));
  }
}

function* faultsOf(limit: LimitRangeItem, requests: Amounts, limits: Amounts): Generator<string> {
  for (const [name, minimum] of amountsOf(limit.min)) {
    const fault = belowMinimum(minimum, requests.get(name), limits.get(name));
    if (fault) yield `minimum ${name} usage per ${limit.type} is ${formatQuantity(minimum)}${fault}`;
  }
  for (const [name, maximum] of amountsOf(limit.max)) {
    const fault = aboveMaximum(maximum, requests.get(name), limits.get(name));
    if (fault) yield `maximum ${name} usage per ${limit.type} is ${formatQuantity(maximum)}${fault}`;
  }
  for (const [name, ratio] of amountsOf(limit.maxLimitRequestRatio)) {
    const fault = aboveRatio(ratio, requests.get(name), limits.get(name));
    if (fault) yield `${name} max limit to request ratio per ${limit.type} is ${formatQuantity(ratio)}, but ${fault}`;
  }
}

function belowMinimum(minimum: Quantity, request: Quantity | undefined, limit: Quantity | undefined): string {
  if (!request) return '.  No request is specified';
  if (compareQuantities(request, minimum) < 0) return `, but request is ${formatQuantity(request)}`;
  return limit && compareQuantities(limit, minimum) < 0 ? `, but limit is ${formatQuantity(limit)}` : '';
}

function aboveMaximum(maximum: Quantity, request: Quantity | undefined, limit: Quantity | undefined): string {
  if (!limit) return '.  No limit is specified';
  if (compareQuantities(limit, maximum) > 0) return `, but limit is ${formatQuantity(limit)}`;
  return request && compareQuantities(request, maximum) > 0 ? `, but request is ${formatQuantity(request)}` : '';
}

function aboveRatio(ratio: Quantity, request: Quantity | undefined, limit: Quantity | undefined): string {
  if (!request || quantitySign(request) === 0) return 'no request is specified or request is 0';
  if (!limit || quantitySign(limit) === 0) return 'no limit is specified or limit is 0';
  const observed = asApproximateFloat(limit) / asApproximateFloat(request);
  return observed > asApproximateFloat(ratio) ? `provided ratio is ${observed.toFixed(6)}` : '';
}

/** Only the storage requests of a PVC are limited. */
function* claimFaults(limit: LimitRangeItem, { spec }: PersistentVolumeClaim): Generator<string> {
  if (limit.type !== 'PersistentVolumeClaim') return;
  const requests = spec?.resources?.requests ?? {};
  const amount = (name: string) => (requests[name] === undefined ? undefined : parseQuantity(requests[name]));
  for (const [name, minimum] of amountsOf(limit.min)) {
    const fault = belowMinimum(minimum, amount(name), undefined);
    if (fault) yield `minimum ${name} usage per ${limit.type} is ${formatQuantity(minimum)}${fault}`;
  }
  for (const [name, maximum] of amountsOf(limit.max)) {
    const request = amount(name);
    const fault = request
      ? aboveMaximum(maximum, undefined, request).replace('limit', 'request')
      : '.  No request is specified';
    if (fault) yield `maximum ${name} usage per ${limit.type} is ${formatQuantity(maximum)}${fault}`;
  }
}
