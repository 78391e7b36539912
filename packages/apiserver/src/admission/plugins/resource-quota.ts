import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type ResourceQuota, resourceQuota } from '@kruise/api/core/resourcequota';
import { service } from '@kruise/api/core/service';
import { type QuotaEvaluator, quotaEvaluatorOf, quotaMatches } from '@kruise/machinery/quota';
import { type Amounts, addAmounts, amountsOf, resourceListOf } from '@kruise/machinery/resource-list';
import { isConflict } from '@kruise/machinery/status';
import { resourceOf } from '@kruise/schema/kind';
import {
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantitySign,
  subtractQuantities,
  zeroQuantity,
} from '@kruise/values/quantity';
import { type AdmissionPlugin, type Attributes, forbiddenWrite, isResource } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

/** Resources that no quota counts: events, and reviews that are not stored. */
const ignored = new Set([
  'bindings',
  'componentstatuses',
  'events',
  'events.events.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
]);

/** Number of attempts to write the usage after conflicts. */
const attempts = 4;

type Waiter = {
  readonly attributes: Attributes;
  readonly resolve: (error?: unknown) => void;
};

/**
 * ResourceQuota plugin: denies writes that exceed a quota. Usage is recorded before the object is stored, so that two
 * concurrent writers cannot both use the remaining quota. Writes to a namespace that arrive while its usage is being
 * written are batched into one status update.
 */
export function resourceQuotas(lookup: Lookup, writeStatus: (quota: ResourceQuota) => Promise<void>): AdmissionPlugin {
  const quotas = lookup.of(resourceQuota);
  const queues = new Map<string, Waiter[]>();

  function enqueue(attributes: Attributes): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        attributes,
        resolve: (error?: unknown) => (error === undefined ? resolve() : reject(error as Error)),
      };
      const queue = queues.get(attributes.namespace);
      if (queue) queue.push(waiter);
      else void work(attributes.namespace, [waiter]);
    });
  }

  async function work(namespace: string, first: Waiter[]): Promise<void> {
    let batch = first;
    while (batch.length > 0) {
      queues.set(namespace, []);
      await settleAll(namespace, batch);
      batch = queues.get(namespace)!;
    }
    queues.delete(namespace);
  }

  async function settleAll(namespace: string, waiters: readonly Waiter[]): Promise<void> {
    let current = quotas.list(namespace);
    let pending = waiters;
    for (let attempt = 1; ; attempt++) {
      const counted = countAll(current, pending);
      pending = counted.pending;
      const failed = await writeAll(current, counted.quotas);
      const [error] = failed.values();
      if (error === undefined || attempt === attempts || !isConflict(error)) {
        for (const { resolve } of pending) resolve(error);
        return;
      }
      await lookup.waitForCurrent();
      current = quotas.list(namespace).filter(({ metadata }) => failed.has(metadata.name!));
    }
  }

  /** Returns the write error of each quota that could not be updated, by name. */
  async function writeAll(
    before: readonly ResourceQuota[],
    after: readonly ResourceQuota[],
  ): Promise<ReadonlyMap<string, unknown>> {
    const failed = new Map<string, unknown>();
    for (const [index, quota] of after.entries()) {
      if (quota === before[index]) continue;
      try {
        await writeStatus(quota);
      } catch (error) {
        failed.set(quota.metadata.name!, error);
      }
    }
    return failed;
  }

  return {
    name: 'ResourceQuota',
    handles: (attributes) =>
      attributes.namespace !== '' && changesUsage(attributes) && !ignored.has(resourceOf(attributes.resource.kind)),
    validate: (attributes) => (quotas.list(attributes.namespace).length > 0 ? enqueue(attributes) : undefined),
  };
}

/**
 * Charges the writes in order, each against the quota that the earlier writes leave. Resolves writes that need no
 * status update.
 */
function countAll(
  start: readonly ResourceQuota[],
  waiters: readonly Waiter[],
): { readonly quotas: readonly ResourceQuota[]; readonly pending: readonly Waiter[] } {
  let quotas = start;
  const pending: Waiter[] = [];
  for (const waiter of waiters) {
    try {
      const after = count(quotas, waiter.attributes);
      // A dry run is checked but consumes no quota.
      if (after === quotas || waiter.attributes.dryRun) {
        waiter.resolve();
        continue;
      }
      quotas = after;
      pending.push(waiter);
    } catch (error) {
      waiter.resolve(error);
    }
  }
  return { quotas, pending };
}

/** Reports whether a write can increase usage. */
function changesUsage({ operation, resource: { kind }, subresource, object, oldObject }: Attributes): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
  if (isResource(kind, pod)) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    return operation === 'CREATE' || hasDeadline(object as Pod) !== hasDeadline(oldObject as Pod);
  }
  if (isResource(kind, persistentVolumeClaim)) return subresource === '' || subresource === 'status';
  if (isResource(kind, service)) return subresource === '';
  return subresource === '' && operation === 'CREATE' && kind.kind !== 'Namespace';
}

/** Pods with activeDeadlineSeconds are counted in the Terminating scope. */
function hasDeadline({ spec }: Pod): boolean {
  return spec?.activeDeadlineSeconds != null;
}

/**
 * Returns the quotas after a write; unchanged quotas are the same objects. Throws if the write would exceed a quota.
 */
function count(quotas: readonly ResourceQuota[], attributes: Attributes): readonly ResourceQuota[] {
  const { resource, object, oldObject, context, operation, subresource } = attributes;
  const evaluator = quotaEvaluatorOf(resource.kind);
  const matching = quotas.filter((quota) => quotaMatches(evaluator, quota, object));
  for (const quota of matching) checkCountable(attributes, evaluator, quota);
  if (matching.length === 0) return quotas;

  const nowMs = context.clock.now();
  const usage = evaluator.usage(object, nowMs);
  const negative = [...usage].filter(([, amount]) => quantitySign(amount) < 0).map(([name]) => name);
  if (negative.length > 0) {
    throw forbiddenWrite(attributes, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  const growth = operation === 'UPDATE' ? grownBy(usage, evaluator.usage(oldObject, nowMs)) : usage;

  let changed = false;
  const after = quotas.map((quota) => {
    if (!matching.includes(quota)) return quota;
    const isCounted = operation === 'UPDATE' && quotaMatches(evaluator, quota, oldObject);
    const requested = requestedOf(quota, isCounted ? growth : usage);
    if (requested.size === 0) return quota;
    if (subresource !== 'status') checkLimits(attributes, quota, requested);
    changed = true;
    const used = addAmounts(amountsOf(quota.status?.used), requested);
    return { ...quota, status: { ...quota.status, used: resourceListOf(used) } };
  });
  return changed ? after : quotas;
}

function checkCountable(attributes: Attributes, evaluator: QuotaEvaluator, { metadata, status }: ResourceQuota): void {
  const names = Object.keys(status?.hard ?? {})
    .filter((name) => evaluator.counts(name))
    .sort();
  const lacking = evaluator.lacks?.(names, attributes.object) ?? '';
  if (lacking !== '') throw forbiddenWrite(attributes, `failed quota: ${metadata.name}: ${lacking}`);
  if (names.every((name) => status?.used?.[name] !== undefined)) return;
  throw forbiddenWrite(attributes, `status unknown for quota: ${metadata.name}, resources: ${names.join(',')}`);
}

function grownBy(usage: Amounts, before: Amounts): Amounts {
  const grown = new Map<string, Quantity>();
  for (const [name, amount] of usage) {
    const difference = subtractQuantities(amount, before.get(name) ?? zeroQuantity);
    if (quantitySign(difference) > 0) grown.set(name, difference);
  }
  return grown;
}

/** Returns the non-zero usage of the resources that a quota limits. */
function requestedOf({ status }: ResourceQuota, usage: Amounts): Amounts {
  return new Map(
    [...usage].filter(([name, amount]) => status?.hard?.[name] !== undefined && quantitySign(amount) !== 0),
  );
}

function checkLimits(attributes: Attributes, { metadata, status }: ResourceQuota, requested: Amounts): void {
  const used = amountsOf(status?.used);
  const hard = amountsOf(status?.hard);
  const total = addAmounts(used, requested);
  const exceeded = [...requested.keys()]
    .filter((name) => compareQuantities(total.get(name)!, hard.get(name)!) > 0)
    .sort();
  if (exceeded.length === 0) return;
  const print = (amounts: Amounts) =>
    exceeded.flatMap((name) => (amounts.has(name) ? [`${name}=${formatQuantity(amounts.get(name)!)}`] : [])).join(',');
  throw forbiddenWrite(
    attributes,
    `exceeded quota: ${metadata.name}, requested: ${print(requested)}, used: ${print(used)}, limited: ${print(hard)}`,
  );
}
