import type { Draft } from '@kruise/schema/draft';
import type { CustomResourceDefinition } from './customresourcedefinition.ts';

/**
 * The status is the server's, but a version that is stored from now on is noted at once: no object may be written in a
 * version that the status does not name.
 */
export function noteStoredVersion(object: Draft<CustomResourceDefinition>): void {
  // A list that is empty, or was not sent, is null.
  const storage = object.spec.versions?.find((version) => version.storage);
  const stored = object.status?.storedVersions ?? [];
  if (!storage || stored.includes(storage.name)) return;
  // The status may be shared with the stored object: it is replaced, not changed.
  object.status = { ...object.status, storedVersions: [...stored, storage.name] } as NonNullable<typeof object.status>;
}
