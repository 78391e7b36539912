import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '@kruise/api/apiextensions/customresourcedefinition';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { KubeObject } from '../object.ts';

export type Definition = CustomResourceDefinition;
export type DefinitionVersion = CustomResourceDefinitionVersion;

/** Finalizer that keeps a definition until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Casts an object of the definitions resource. */
export function asDefinition(object: KubeObject): Definition {
  return object as unknown as Definition;
}

export type DefinitionCondition =
  | 'NamesAccepted'
  | 'Established'
  | 'Terminating'
  | 'KubernetesAPIApprovalPolicyConformant';

export function hasCondition({ status }: Definition, type: DefinitionCondition): boolean {
  return isConditionTrue(status?.conditions, type);
}

/** Reports whether the server serves the objects of a definition. */
export function isServing(definition: Definition): boolean {
  return hasCondition(definition, 'NamesAccepted') || hasCondition(definition, 'Established');
}

/** Returns the storage version; a validated definition has exactly one. */
export function storageVersionOf({ spec }: Definition): string {
  return spec.versions.find(({ storage }) => storage)!.name;
}
