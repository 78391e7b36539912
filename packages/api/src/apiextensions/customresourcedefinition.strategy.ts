import type { Draft } from '@kruise/schema/draft';
import type { CustomResourceDefinition } from './customresourcedefinition.ts';

/**
 * Adds a new storage version to status.storedVersions. The server owns the status, but no object may be stored in a
 * version that the status does not list.
 */
export function noteStoredVersion(object: Draft<CustomResourceDefinition>): void {
  // A list that is empty, or was not sent, is null.
  const storage = object.spec.versions?.find((version) => version.storage);
  const stored = object.status?.storedVersions ?? [];
  if (!storage || stored.includes(storage.name)) return;
  // The status may be shared with the stored object: it is replaced, not changed.
  object.status = { ...object.status, storedVersions: [...stored, storage.name] } as NonNullable<typeof object.status>;
}
