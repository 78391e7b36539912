import type { CustomResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { defaultCustomResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition.default';
import { noteStoredVersion } from '@kruise/api/apiextensions/customresourcedefinition.strategy';
import {
  validateCustomResourceDefinition,
  validateCustomResourceDefinitionStatus,
  validateCustomResourceDefinitionUpdate,
} from '@kruise/api/apiextensions/customresourcedefinition.validate';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { formatTime } from '@kruise/values/time';
import { cleanupFinalizer } from '../custom/definition.ts';
import { terminating, withDefinitionCondition } from '../custom/status.ts';
import type { DeletionPlan } from '../handlers/deletion.ts';
import type { KubeObject } from '../object.ts';
import { checkStoredPreconditions } from './preconditions.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

export const apiextensionsRules: RulesByResource = {
  'customresourcedefinitions.apiextensions.k8s.io': rulesFor<CustomResourceDefinition>({
    unconditionalUpdate: false,
    statusResetFields: fieldSetOf(fieldPath('metadata'), fieldPath('spec')),
    default: defaultCustomResourceDefinition,
    defaultsWhole: true,
    prepareForCreate: noteStoredVersion,
    prepareForUpdate: noteStoredVersion,
    validate: validateCustomResourceDefinition,
    validateUpdate: validateCustomResourceDefinitionUpdate,
    validateStatusUpdate: validateCustomResourceDefinitionStatus,
    checkPreconditions: checkStoredPreconditions,
    planDeletion: (object, _options, { clock }) => planDeletion(object, clock.now()),
  }),
};

/** The first DELETE only marks a definition as terminating: its objects are deleted first. */
function planDeletion(definition: CustomResourceDefinition, nowMs: number): DeletionPlan | undefined {
  const { metadata, status } = definition;
  if (metadata.deletionTimestamp) return undefined;
  const pending = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  const object = {
    ...definition,
    metadata: {
      ...metadata,
      deletionTimestamp: formatTime(nowMs),
      finalizers: [...new Set([...(metadata.finalizers ?? []), cleanupFinalizer])],
    },
    status: withDefinitionCondition(status, terminating('True', 'InstanceDeletionPending', pending), nowMs),
  };
  return { action: 'mark', object: object as unknown as KubeObject };
}
