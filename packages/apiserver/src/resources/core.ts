import { defaultPersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim.default';
import {
  preparePersistentVolumeClaimForCreate,
  preparePersistentVolumeClaimForUpdate,
  preparePersistentVolumeClaimStatusUpdate,
} from '@kruise/api/core/persistentvolumeclaim.strategy';
import {
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatusUpdate,
  validatePersistentVolumeClaimUpdate,
} from '@kruise/api/core/persistentvolumeclaim.validate';
import { persistentVolumeClaimWarnings } from '@kruise/api/core/persistentvolumeclaim.warnings';
import { defaultPodTemplateObject } from '@kruise/api/core/podtemplate.default';
import { preparePodTemplateForCreate, preparePodTemplateForUpdate } from '@kruise/api/core/podtemplate.strategy';
import { validatePodTemplate, validatePodTemplateUpdate } from '@kruise/api/core/podtemplate.validate';
import { defaultReplicationController } from '@kruise/api/core/replicationcontroller.default';
import {
  prepareReplicationControllerForCreate,
  prepareReplicationControllerForUpdate,
  prepareReplicationControllerStatusUpdate,
} from '@kruise/api/core/replicationcontroller.strategy';
import {
  validateReplicationController,
  validateReplicationControllerStatusUpdate,
  validateReplicationControllerUpdate,
} from '@kruise/api/core/replicationcontroller.validate';
import { podTemplateObjectWarnings, replicationControllerWarnings } from '@kruise/api/workload.warnings';
import { podRules } from './pod.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

export const coreRules: RulesByResource = {
  pods: podRules,
  podtemplates: rulesFor({
    returnsDeleted: true,
    default: defaultPodTemplateObject,
    prepareForCreate: preparePodTemplateForCreate,
    prepareForUpdate: preparePodTemplateForUpdate,
    validate: validatePodTemplate,
    validateUpdate: validatePodTemplateUpdate,
    warnings: podTemplateObjectWarnings,
  }),
  replicationcontrollers: rulesFor({
    propagation: 'Orphan',
    default: defaultReplicationController,
    prepareForCreate: prepareReplicationControllerForCreate,
    prepareForUpdate: prepareReplicationControllerForUpdate,
    prepareForStatusUpdate: prepareReplicationControllerStatusUpdate,
    validate: validateReplicationController,
    validateUpdate: validateReplicationControllerUpdate,
    validateStatusUpdate: validateReplicationControllerStatusUpdate,
    warnings: replicationControllerWarnings,
  }),
  services: { createOnUpdate: true, generation: 'none', returnsDeleted: true },
  endpoints: { createOnUpdate: true },
  events: { createOnUpdate: true, propagation: 'Unsupported', ttlSeconds: 3600 },
  limitranges: { createOnUpdate: true },
  serviceaccounts: { returnsDeleted: true },
  resourcequotas: { returnsDeleted: true, generation: 'none' },
  persistentvolumes: { returnsDeleted: true, generation: 'none' },
  persistentvolumeclaims: rulesFor({
    returnsDeleted: true,
    generation: 'none',
    default: defaultPersistentVolumeClaim,
    prepareForCreate: preparePersistentVolumeClaimForCreate,
    prepareForUpdate: preparePersistentVolumeClaimForUpdate,
    prepareForStatusUpdate: preparePersistentVolumeClaimStatusUpdate,
    validate: validatePersistentVolumeClaim,
    validateUpdate: validatePersistentVolumeClaimUpdate,
    validateStatusUpdate: validatePersistentVolumeClaimStatusUpdate,
    warnings: persistentVolumeClaimWarnings,
  }),
  namespaces: { returnsDeleted: true, generation: 'none' },
  nodes: { generation: 'none', keepsStatusOnCreate: true },
};
