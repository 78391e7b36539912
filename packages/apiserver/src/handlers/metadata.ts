import { generateName } from '@kruise/machinery/generated-names';
import { badRequest, unclassified } from '@kruise/machinery/status';
import { uuid } from '@kruise/machinery/uuid';
import type { Draft } from '@kruise/schema/draft';
import { type RequestContext, timestamp } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Strategy } from '../resource.ts';

/** Sets the namespace of a new object to that of the request; rejects a different namespace. */
export function placeInNamespace(context: RequestContext, resource: Resource, draft: Draft<KubeObject>): void {
  const { metadata } = draft;
  if (resource.kind.scope === 'Cluster') {
    delete metadata.namespace;
    return;
  }
  const { namespace } = context.info;
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Removes server-set fields from a new object, so that no manager owns them. */
export function dropSystemFields({ metadata }: Draft<KubeObject>): void {
  delete metadata.selfLink;
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
}

/** Rejects a create with a resourceVersion. */
export function checkUnversioned({ metadata }: KubeObject): void {
  if (/^[0-9]+$/.test(metadata.resourceVersion ?? '') && Number(metadata.resourceVersion) !== 0) {
    throw unclassified('resourceVersion should not be set on objects to be created');
  }
}

/** Sets the uid and the creationTimestamp of a new object. */
export function fillInSystemFields(
  context: RequestContext,
  { namesAsAsked }: Pick<Strategy, 'namesAsAsked'>,
  draft: Draft<KubeObject>,
): void {
  const { metadata } = draft;
  delete metadata.selfLink;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  metadata.creationTimestamp = timestamp(context);
  metadata.uid = uuid(context.random);
  if (!metadata.generateName || metadata.name) return;
  metadata.name = namesAsAsked ? metadata.generateName : generateName(context.random, metadata.generateName);
}

/** Fills in immutable metadata that an update omits. Validation rejects changes to it. */
export function keepSystemFields(draft: Draft<KubeObject>, old: KubeObject): void {
  const { metadata } = draft;
  const before = old.metadata;
  if (before.uid !== undefined) metadata.uid ||= before.uid;
  metadata.creationTimestamp ??= before.creationTimestamp ?? null;
  if (before.deletionTimestamp) metadata.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
  }
  if (before.generation === undefined) delete metadata.generation;
  else metadata.generation = before.generation;
}

/** Checks that the object of a PUT or PATCH has the name of the URL. */
export function checkName(context: RequestContext, resource: Resource, draft: Draft<KubeObject>): void {
  const { name, namespace } = context.info;
  const { metadata } = draft;
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (resource.kind.scope === 'Cluster') {
    delete metadata.namespace;
    return;
  }
  if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

type Reference = { uid?: string };

/** Removes duplicate owner references with a warning. */
export function dropRepeatedOwners(context: RequestContext, draft: Draft<KubeObject>, afterAdmission: boolean): void {
  const references = draft.metadata.ownerReferences as Reference[] | undefined;
  if (!references || references.length < 2) return;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const distinct = references.filter((reference) => {
    const text = JSON.stringify(Object.entries(reference).sort());
    if (!seen.has(text)) return seen.add(text);
    repeated.add(String(reference.uid));
    return false;
  });
  if (repeated.size === 0) return;
  draft.metadata.ownerReferences = distinct as NonNullable<typeof draft.metadata.ownerReferences>;
  const uids = [...repeated].sort().join(', ');
  context.warnings.add(
    afterAdmission
      ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`
      : `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
  );
}
