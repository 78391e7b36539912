/** Resources of small API groups. */
import type { Lease } from '@kruise/api/coordination/lease';
import { prepareLease, validateLease, validateLeaseUpdate } from '@kruise/api/coordination/lease.validate';
import {
  defaultRuntimeClass,
  validateRuntimeClass,
  validateRuntimeClassUpdate,
} from '@kruise/api/node/runtimeclass.validate';
import {
  validatePodDisruptionBudget,
  validatePodDisruptionBudgetStatusUpdate,
} from '@kruise/api/policy/poddisruptionbudget.validate';
import {
  defaultPriorityClass,
  validatePriorityClass,
  validatePriorityClassUpdate,
} from '@kruise/api/scheduling/priorityclass.validate';
import { type RulesByResource, rulesFor } from './rules.ts';

export const clusterRules: RulesByResource = {
  'leases.coordination.k8s.io': rulesFor<Lease>({
    createOnUpdate: true,
    unconditionalUpdate: false,
    prepareForCreate: (lease) => prepareLease(lease),
    prepareForUpdate: (lease, old) => prepareLease(lease, old),
    validate: validateLease,
    validateUpdate: validateLeaseUpdate,
  }),
  'runtimeclasses.node.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    createOnUpdate: true,
    unconditionalUpdate: false,
    default: defaultRuntimeClass,
    validate: validateRuntimeClass,
    validateUpdate: validateRuntimeClassUpdate,
  }),
  'poddisruptionbudgets.policy': rulesFor({
    unconditionalUpdate: false,
    validate: validatePodDisruptionBudget,
    validateUpdate: validatePodDisruptionBudget,
    validateStatusUpdate: validatePodDisruptionBudgetStatusUpdate,
  }),
  'priorityclasses.scheduling.k8s.io': rulesFor({
    generation: () => false,
    default: defaultPriorityClass,
    validate: validatePriorityClass,
    validateUpdate: validatePriorityClassUpdate,
  }),
};
