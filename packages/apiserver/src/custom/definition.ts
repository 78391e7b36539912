import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '@kruise/api/apiextensions/customresourcedefinition';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { KubeObject } from '../object.ts';

export type Definition = CustomResourceDefinition;
export type DefinitionVersion = CustomResourceDefinitionVersion;

/** Keeps a definition until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** An object of the resource that holds definitions. */
export function asDefinition(object: KubeObject): Definition {
  return object as unknown as Definition;
}

export type DefinitionCondition =
  | 'NamesAccepted'
  | 'Established'
  | 'Terminating'
  | 'KubernetesAPIApprovalPolicyConformant';

export function holds({ status }: Definition, type: DefinitionCondition): boolean {
  return isConditionTrue(status?.conditions, type);
}

/** Whether requests for its objects are answered. */
export function isServing(definition: Definition): boolean {
  return holds(definition, 'NamesAccepted') || holds(definition, 'Established');
}

/** The version objects are stored in; a definition that passed validation has exactly one. */
export function storageVersionOf({ spec }: Definition): string {
  return spec.versions.find(({ storage }) => storage)!.name;
}
