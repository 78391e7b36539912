import type { KubeObject } from '../object.ts';

/**
 * Converter between versions of a custom resource. Objects that already have the version are not passed. The caller
 * prunes the result and applies defaults.
 */
export type Converter = {
  convert(objects: readonly KubeObject[], apiVersion: string): readonly KubeObject[] | Promise<readonly KubeObject[]>;
};

/** Converts by changing only the apiVersion (strategy None). */
export const versionRename: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
};
