import { conflict } from '@kruise/machinery/status';
import type { Strategy } from '../resource.ts';

/** Checks the preconditions of a DELETE, for kinds whose deletion Kubernetes starts with an update. */
export const checkStoredPreconditions: NonNullable<Strategy['checkPreconditions']> = (
  { kind },
  { metadata },
  preconditions,
) => {
  const wanted = { UID: preconditions?.uid, ResourceVersion: preconditions?.resourceVersion };
  const found = { UID: metadata.uid, ResourceVersion: metadata.resourceVersion };
  for (const what of ['UID', 'ResourceVersion'] as const) {
    if (wanted[what] === undefined || wanted[what] === found[what]) continue;
    const why = `Precondition failed: ${what} in precondition: ${wanted[what]}, ${what} in object meta: ${found[what]}`;
    throw conflict(kind, metadata.name ?? '', why);
  }
};
