import type { CustomResourceDefinition } from './customresourcedefinition.ts';

/** Whether objects of the definition can be or could once be stored: from then on some things are settled. */
export function isEstablished({ status }: CustomResourceDefinition): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Established' && holds === 'True') ?? false;
}
