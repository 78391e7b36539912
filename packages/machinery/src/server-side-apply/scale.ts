/**
 * The scale subresource shows one field of an object, its replicas, as an object of another kind. Whoever owns the one
 * owns the other, so entries are translated on the way in and back on the way out.
 */
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { type FieldPath, fieldPath } from '../field-set/field-path.ts';
import { difference, fieldSetOf, hasPath, isEmpty } from '../field-set/field-set.ts';
import { identityOf, type Manager, readManagers, writeManagers } from './managers.ts';

/** By version of the object: the path of its replicas; null where that version cannot be scaled. */
export type ReplicasPaths = { readonly [apiVersion: string]: FieldPath | null };

const scaleVersion = 'autoscaling/v1';
const replicasOfScale = fieldPath('spec', 'replicas');

/** The entries a Scale has: of each owner of the object's replicas, just that. */
export function scaleEntries(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const scaled = new Map<string, Manager>();
  for (const [identity, manager] of readManagers(entries)) {
    const path = pathIn(paths, manager.apiVersion);
    if (!path || !hasPath(manager.fields, path)) continue;
    scaled.set(identity, { ...manager, apiVersion: scaleVersion, fields: fieldSetOf(replicasOfScale) });
  }
  return writeManagers(scaled);
}

/**
 * The entries of an object after a request to its scale: whoever no longer owns the replicas of the Scale has lost those
 * of the object, and whoever does now has gained them. As in Kubernetes, those who gain them have no time.
 */
export function entriesAfterScale(
  {
    parent,
    scale,
  }: {
    readonly parent: readonly ManagedFieldsEntry[] | undefined;
    readonly scale: readonly ManagedFieldsEntry[] | undefined;
  },
  apiVersion: string,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const owners = new Map(Array.from(readManagers(scale).values(), (owner) => [ownerOf(owner), owner]));
  const managers = new Map<string, Manager>();
  for (const [identity, manager] of readManagers(parent)) {
    const path = pathIn(paths, manager.apiVersion);
    if (path === undefined) continue;
    const owns = path !== null && hasPath(manager.fields, path);
    const isKept = !owns || owners.delete(ownerOf(manager));
    const fields = isKept ? manager.fields : difference(manager.fields, fieldSetOf(path));
    if (!isEmpty(fields)) managers.set(identity, isKept ? manager : { ...manager, fields });
  }
  const path = pathIn(paths, apiVersion);
  for (const owner of owners.values()) {
    if (!path || !hasPath(owner.fields, replicasOfScale)) continue;
    const gained = { ...owner, apiVersion, time: undefined, fields: fieldSetOf(path) };
    managers.set(identityOf(gained), gained);
  }
  return writeManagers(managers);
}

/** Versions come from clients, and may have the name of something every object has. */
function pathIn(paths: ReplicasPaths, apiVersion: string): FieldPath | null | undefined {
  return Object.hasOwn(paths, apiVersion) ? paths[apiVersion] : undefined;
}

/** The version does not count here: the same owner has entries of different ones on the object and on its scale. */
function ownerOf({ manager, operation, subresource }: Manager): string {
  return JSON.stringify([manager, operation, subresource]);
}
