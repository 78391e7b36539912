import type { CustomResourceDefinition } from './customresourcedefinition.ts';

/** Reports whether objects of the CRD can be or could once be stored. From then on some fields are immutable. */
export function isEstablished({ status }: CustomResourceDefinition): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Established' && holds === 'True') ?? false;
}
