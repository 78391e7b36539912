import {
  validateControllerRevision,
  validateControllerRevisionUpdate,
} from '@kruise/api/apps/controllerrevision.validate';
import { defaultDaemonSet, templateGeneration } from '@kruise/api/apps/daemonset.default';
import {
  prepareDaemonSetForCreate,
  prepareDaemonSetForUpdate,
  prepareDaemonSetStatusUpdate,
} from '@kruise/api/apps/daemonset.strategy';
import {
  validateDaemonSet,
  validateDaemonSetStatusUpdate,
  validateDaemonSetUpdate,
} from '@kruise/api/apps/daemonset.validate';
import type { Deployment } from '@kruise/api/apps/deployment';
import { defaultDeployment } from '@kruise/api/apps/deployment.default';
import {
  prepareDeploymentForCreate,
  prepareDeploymentForUpdate,
  prepareDeploymentStatusUpdate,
} from '@kruise/api/apps/deployment.strategy';
import {
  validateDeployment,
  validateDeploymentStatusUpdate,
  validateDeploymentUpdate,
} from '@kruise/api/apps/deployment.validate';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import { defaultReplicaSet } from '@kruise/api/apps/replicaset.default';
import {
  prepareReplicaSetForCreate,
  prepareReplicaSetForUpdate,
  prepareReplicaSetStatusUpdate,
} from '@kruise/api/apps/replicaset.strategy';
import {
  validateReplicaSet,
  validateReplicaSetStatusUpdate,
  validateReplicaSetUpdate,
} from '@kruise/api/apps/replicaset.validate';
import { defaultStatefulSet } from '@kruise/api/apps/statefulset.default';
import {
  prepareStatefulSetForCreate,
  prepareStatefulSetForUpdate,
  prepareStatefulSetStatusUpdate,
} from '@kruise/api/apps/statefulset.strategy';
import {
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from '@kruise/api/apps/statefulset.validate';
import { daemonSetWarnings, deploymentWarnings, statefulSetWarnings } from '@kruise/api/workload.warnings';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import { type RulesByResource, rulesFor } from './rules.ts';

export const appsRules: RulesByResource = {
  'controllerrevisions.apps': rulesFor({
    validate: validateControllerRevision,
    validateUpdate: validateControllerRevisionUpdate,
  }),
  'daemonsets.apps': rulesFor({
    fieldAnnotations: [templateGeneration],
    default: defaultDaemonSet,
    prepareForCreate: prepareDaemonSetForCreate,
    prepareForUpdate: prepareDaemonSetForUpdate,
    prepareForStatusUpdate: prepareDaemonSetStatusUpdate,
    validate: validateDaemonSet,
    validateUpdate: validateDaemonSetUpdate,
    validateStatusUpdate: validateDaemonSetStatusUpdate,
    warnings: daemonSetWarnings,
  }),
  'deployments.apps': rulesFor<Deployment>({
    statusResetFields: fieldSetOf(fieldPath('spec'), fieldPath('metadata', 'labels')),
    default: defaultDeployment,
    prepareForCreate: prepareDeploymentForCreate,
    prepareForUpdate: prepareDeploymentForUpdate,
    prepareForStatusUpdate: prepareDeploymentStatusUpdate,
    validate: validateDeployment,
    validateUpdate: validateDeploymentUpdate,
    validateStatusUpdate: validateDeploymentStatusUpdate,
    warnings: deploymentWarnings,
  }),
  'replicasets.apps': rulesFor<ReplicaSet>({
    default: defaultReplicaSet,
    prepareForCreate: prepareReplicaSetForCreate,
    prepareForUpdate: prepareReplicaSetForUpdate,
    prepareForStatusUpdate: prepareReplicaSetStatusUpdate,
    validate: validateReplicaSet,
    validateUpdate: validateReplicaSetUpdate,
    validateStatusUpdate: validateReplicaSetStatusUpdate,
    warnings: deploymentWarnings,
  }),
  'statefulsets.apps': rulesFor({
    default: defaultStatefulSet,
    prepareForCreate: prepareStatefulSetForCreate,
    prepareForUpdate: prepareStatefulSetForUpdate,
    prepareForStatusUpdate: prepareStatefulSetStatusUpdate,
    validate: validateStatefulSet,
    validateUpdate: validateStatefulSetUpdate,
    validateStatusUpdate: validateStatefulSetStatusUpdate,
    warnings: statefulSetWarnings,
  }),
};
