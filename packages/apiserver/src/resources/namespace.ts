import type { Namespace } from '@kruise/api/core/namespace';
import { defaultNamespace, labelWithGeneratedName } from '@kruise/api/core/namespace.default';
import {
  prepareNamespaceForCreate,
  prepareNamespaceForUpdate,
  validateNamespace,
  validateNamespaceFinalizeUpdate,
  validateNamespaceStatusUpdate,
  validateNamespaceUpdate,
} from '@kruise/api/core/namespace.validate';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { timestamp } from '../context.ts';
import { type DeletionPlan, finalizersAfter } from '../handlers/deletion.ts';
import type { KubeObject } from '../object.ts';
import { checkStoredPreconditions } from './preconditions.ts';
import { copyField, rulesFor } from './rules.ts';

export const namespaceRules = rulesFor<Namespace>({
  returnsDeleted: true,
  generation: 'none',
  default: defaultNamespace,
  prepareForCreate: prepareNamespaceForCreate,
  prepareForUpdate: prepareNamespaceForUpdate,
  completeCreate: labelWithGeneratedName,
  validate: validateNamespace,
  validateUpdate: validateNamespaceUpdate,
  validateStatusUpdate: validateNamespaceStatusUpdate,
  parts: {
    finalize: {
      verbs: ['update'],
      resetFields: fieldSetOf(fieldPath('status')),
      prepareForUpdate: (draft, old) => copyField(draft as never, old as never, 'status'),
      validateUpdate: validateNamespaceFinalizeUpdate,
    },
  },
  checkPreconditions: checkStoredPreconditions,
  planDeletion(namespace, options, context): DeletionPlan | undefined {
    const { metadata, spec, status } = namespace;
    const { finalizers: _, ...kept } = metadata;
    if (metadata.deletionTimestamp) {
      // The namespace controller finalizes a Namespace; another DELETE changes nothing until that is done.
      return spec?.finalizers?.length ? { action: 'nothing' } : undefined;
    }
    const finalizers = finalizersAfter({ propagation: 'Background' }, namespace, options);
    const marked: Namespace = {
      ...namespace,
      metadata: {
        ...kept,
        deletionTimestamp: timestamp(context),
        ...(finalizers.length === 0 ? {} : { finalizers }),
      },
      status: { ...status, phase: 'Terminating' },
    };
    return { action: 'mark', object: marked as unknown as KubeObject };
  },
});
