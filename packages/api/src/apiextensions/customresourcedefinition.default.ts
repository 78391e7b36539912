import type { Draft } from '@kruise/schema/draft';
import type { CustomResourceDefinition } from './customresourcedefinition.ts';

/**
 * Derives names from the kind, defaults the conversion strategy to None, and adds the storage version to the stored
 * versions.
 */
export function defaultCustomResourceDefinition(object: Draft<CustomResourceDefinition>): void {
  const { spec } = object;
  const { names } = spec;
  if (!names.singular) names.singular = names.kind.toLowerCase();
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
  // A list that is empty, or was not sent, is null.
  const storage = spec.versions?.find((version) => version.storage);
  if (storage && !object.status?.storedVersions?.length) {
    object.status = { ...object.status, storedVersions: [storage.name] } as NonNullable<typeof object.status>;
  }
}
