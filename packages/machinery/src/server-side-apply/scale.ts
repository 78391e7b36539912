/**
 * Managed fields of the scale subresource, which shows the replicas of an object as a Scale. The owner of one field
 * owns the other, so entries are translated in both directions.
 */
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { type FieldPath, fieldPath } from '../field-set/field-path.ts';
import { difference, fieldSetOf, hasPath, isEmpty } from '../field-set/field-set.ts';
import { identityOf, type Manager, readManagers, writeManagers } from './managers.ts';

/** Path of the replicas by API version; null if that version has no scale subresource. */
export type ReplicasPaths = { readonly [apiVersion: string]: FieldPath | null };

const scaleVersion = 'autoscaling/v1';
const replicasOfScale = fieldPath('spec', 'replicas');

/**
 * Returns the entries of a Scale: the replicas of each manager that owns them.
 *
 * ```ts
 * const paths = { 'apps/v1': fieldPath('spec', 'replicas') };
 * const entries = scaleEntries(set.metadata.managedFields, paths);
 * ```
 */
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
 * Returns the entries of an object after a request to its scale: managers that no longer own the replicas of the Scale
 * lose those of the object, and new owners gain them. As in Kubernetes, new owners have no time.
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

/** Versions come from clients and may be names of inherited properties. */
function pathIn(paths: ReplicasPaths, apiVersion: string): FieldPath | null | undefined {
  return Object.hasOwn(paths, apiVersion) ? paths[apiVersion] : undefined;
}

/** The version is ignored: the same manager has entries of different versions on the object and on its scale. */
function ownerOf({ manager, operation, subresource }: Manager): string {
  return JSON.stringify([manager, operation, subresource]);
}
