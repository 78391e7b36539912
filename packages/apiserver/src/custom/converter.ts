import type { KubeObject } from '../object.ts';

/**
 * Turns objects of a custom resource into another version of it. Objects that are of that version already are not
 * asked about. What comes back is not yet in the form of the version: the caller sees to that.
 */
export type Converter = {
  convert(objects: readonly KubeObject[], apiVersion: string): readonly KubeObject[] | Promise<readonly KubeObject[]>;
};

/** Versions that differ in nothing but their name. */
export const renaming: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
};
