/** The owners of a Pod, and the WorkloadSpread of one of them. */
import type { Pod } from '@kruise/api/core/pod';
import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { isBeingDeleted } from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isNotFound, notFound } from '@kruise/machinery/status';
import { groupOf } from '@kruise/schema/kind';
import { ParseError } from '@kruise/values/parse-error';
import type { WebhookContext } from '../../../webhooks/context.ts';
import { type CustomWorkload, customWorkloadsIn, entryFor } from '../../allowlist.ts';
import { readWorkload } from '../../custom-target.ts';
import { integerAt } from '../../field-path.ts';
import { builtinKindOf, type Reference, spreadsOf, sumAt } from '../../target.ts';

/** Limit on the length of a chain of owners, which guards against cycles. */
const maxOwners = 8;

/**
 * Returns the WorkloadSpread of a Pod: that of its controller, otherwise that of the controller's controller, and so
 * on.
 */
export async function spreadFor(pod: Pod, context: WebhookContext): Promise<WorkloadSpread | undefined> {
  const { caches } = context;
  const { namespace = '' } = pod.metadata;
  if (caches.of(workloadSpread).list({ namespace }).length === 0) return undefined;
  const customWorkloads = readableWorkloads(context);
  let owner = controllerOf(pod);
  for (let height = 0; owner && height < maxOwners && isWorkload(owner, customWorkloads); height++) {
    const found = spreadsOf(caches, namespace, owner).find(
      (spread) => !isBeingDeleted(spread) && isSelected(pod, spread),
    );
    if (found) return found;
    owner = controllerOf(await ownerOf(context, namespace, owner));
  }
  return undefined;
}

/**
 * Returns the number of Pods that a WorkloadSpread distributes; 0 if the workload does not exist yet. Throws
 * `ParseError`.
 */
export async function replicasFor({ metadata, spec }: WorkloadSpread, context: WebhookContext): Promise<number> {
  const { targetRef, targetFilter } = spec;
  const object = await findWorkload(context, metadata.namespace ?? '', targetRef);
  if (!object) return 0;
  const { replicasPathList = [] } = targetFilter ?? {};
  if (replicasPathList.length > 0) return sumAt(object, replicasPathList);
  if (builtinKindOf(targetRef))
    return integerAt(object, targetRef.kind === 'Job' ? 'spec.parallelism' : 'spec.replicas');
  const entry = entryFor(readableWorkloads(context), targetRef);
  try {
    return integerAt(object, entry?.replicasPath ?? '');
  } catch (error) {
    // A wrong configuration for this workload must not prevent the creation of its Pods.
    if (error instanceof ParseError) return 0;
    throw error;
  }
}

/**
 * Returns the configured workloads; none if the configuration cannot be parsed, which must not prevent the creation of
 * Pods.
 */
function readableWorkloads({ caches, settings }: WebhookContext): readonly CustomWorkload[] {
  try {
    return customWorkloadsIn(caches, settings.namespace);
  } catch (error) {
    if (error instanceof ParseError) return [];
    throw error;
  }
}

function isWorkload(owner: Reference, list: readonly CustomWorkload[]): boolean {
  if (builtinKindOf(owner)) return true;
  const group = groupOf(owner.apiVersion);
  const isMeant = (each: { readonly group: string; readonly kind: string }) =>
    each.group === group && each.kind === owner.kind;
  return list.some((each) => isMeant(each) || each.intermediates.some(isMeant));
}

/** Reports whether the target filter selects a Pod. A filter without a selector selects nothing. */
function isSelected({ metadata }: Pod, { spec: { targetFilter } }: WorkloadSpread): boolean {
  return !targetFilter || selectorOf(targetFilter.selector).matches(metadata.labels);
}

/**
 * Returns the owner of a Pod, or of its owner. Throws if the owner is not found, so that the creator of the Pod
 * retries.
 */
async function ownerOf(context: WebhookContext, namespace: string, owner: Reference): Promise<KubernetesObject> {
  const found = await findWorkload(context, namespace, owner);
  if (!found) throw notFound({ group: groupOf(owner.apiVersion), plural: owner.kind }, owner.name);
  return found;
}

async function findWorkload(
  { caches, client, kinds }: WebhookContext,
  namespace: string,
  reference: Reference,
): Promise<KubernetesObject | undefined> {
  const { name } = reference;
  const kind = builtinKindOf(reference);
  if (!kind) return readWorkload({ client, kinds }, namespace, reference);
  const known = caches.of(kind).get({ namespace, name });
  if (known) return known;
  try {
    // A newly created owner may not be in the cache yet.
    return await client.get(kind, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
