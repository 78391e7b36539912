import { validateConfigMap, validateConfigMapUpdate } from '@kruise/api/core/configmap.validate';
import {
  defaultEndpoints,
  endpointsWarnings,
  validateEndpoints,
  validateEndpointsUpdate,
} from '@kruise/api/core/endpoints.validate';
import { validateEvent } from '@kruise/api/core/event.validate';
import type { LimitRange } from '@kruise/api/core/limitrange';
import { defaultLimitRange } from '@kruise/api/core/limitrange.default';
import { validateLimitRange } from '@kruise/api/core/limitrange.validate';
import { defaultNode } from '@kruise/api/core/node.default';
import {
  nodeWarnings,
  prepareNodeForCreate,
  prepareNodeForUpdate,
  prepareNodeStatusUpdate,
  validateNode,
  validateNodeStatusUpdate,
  validateNodeUpdate,
} from '@kruise/api/core/node.validate';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { defaultPersistentVolume } from '@kruise/api/core/persistentvolume.default';
import {
  preparePersistentVolumeForCreate,
  preparePersistentVolumeForUpdate,
  preparePersistentVolumeStatusUpdate,
  validatePersistentVolume,
  validatePersistentVolumeStatusUpdate,
  validatePersistentVolumeUpdate,
} from '@kruise/api/core/persistentvolume.validate';
import { persistentVolumeWarnings } from '@kruise/api/core/persistentvolume.warnings';
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
import { defaultResourceQuota } from '@kruise/api/core/resourcequota.default';
import {
  validateResourceQuota,
  validateResourceQuotaStatusUpdate,
  validateResourceQuotaUpdate,
} from '@kruise/api/core/resourcequota.validate';
import type { Secret } from '@kruise/api/core/secret';
import { defaultSecret } from '@kruise/api/core/secret.default';
import { validateSecret, validateSecretUpdate } from '@kruise/api/core/secret.validate';
import { secretWarnings } from '@kruise/api/core/secret.warnings';
import type { Service } from '@kruise/api/core/service';
import { defaultService } from '@kruise/api/core/service.default';
import { prepareServiceForUpdate } from '@kruise/api/core/service.strategy';
import {
  serviceStatusWarnings,
  serviceWarnings,
  validateService,
  validateServiceStatusUpdate,
  validateServiceUpdate,
} from '@kruise/api/core/service.validate';
import {
  prepareServiceAccount,
  serviceAccountWarnings,
  validateServiceAccount,
  validateServiceAccountUpdate,
} from '@kruise/api/core/serviceaccount.validate';
import { podTemplateObjectWarnings, replicationControllerWarnings } from '@kruise/api/workload.warnings';
import { uuid } from '@kruise/machinery/uuid';
import { timestamp } from '../context.ts';
import { eventRules } from './events.ts';
import { namespaceRules } from './namespace.ts';
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
  services: rulesFor<Service>({
    createOnUpdate: true,
    generation: 'none',
    returnsDeleted: true,
    default: defaultService,
    defaultsWhole: true,
    prepareForUpdate: prepareServiceForUpdate,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    validateStatusUpdate: validateServiceStatusUpdate,
    warnings: serviceWarnings,
    statusWarnings: serviceStatusWarnings,
  }),
  endpoints: rulesFor({
    createOnUpdate: true,
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    default: defaultEndpoints,
    validate: validateEndpoints,
    validateUpdate: validateEndpointsUpdate,
    warnings: endpointsWarnings,
  }),
  events: rulesFor({ ...eventRules, validate: validateEvent, validateUpdate: validateEvent }),
  limitranges: rulesFor<LimitRange>({
    createOnUpdate: true,
    default: defaultLimitRange,
    prepareForCreate({ metadata }, { random }) {
      if (!metadata.name && !metadata.generateName) metadata.name = uuid(random);
    },
    validate: validateLimitRange,
    validateUpdate: validateLimitRange,
  }),
  configmaps: rulesFor({ validate: validateConfigMap, validateUpdate: validateConfigMapUpdate }),
  secrets: rulesFor<Secret>({
    default: defaultSecret,
    prepareForUpdate(secret, old) {
      if (!secret.type && old.type) secret.type = old.type;
    },
    validate: validateSecret,
    validateUpdate: validateSecretUpdate,
    warnings: secretWarnings,
  }),
  serviceaccounts: rulesFor({
    returnsDeleted: true,
    prepareForCreate: prepareServiceAccount,
    prepareForUpdate: prepareServiceAccount,
    validate: validateServiceAccount,
    validateUpdate: validateServiceAccountUpdate,
    warnings: serviceAccountWarnings,
  }),
  resourcequotas: rulesFor({
    returnsDeleted: true,
    generation: 'none',
    default: defaultResourceQuota,
    validate: validateResourceQuota,
    validateUpdate: validateResourceQuotaUpdate,
    validateStatusUpdate: validateResourceQuotaStatusUpdate,
  }),
  persistentvolumes: rulesFor<PersistentVolume>({
    returnsDeleted: true,
    generation: 'none',
    default: defaultPersistentVolume,
    prepareForCreate: (volume, context) => preparePersistentVolumeForCreate(volume, timestamp(context)),
    prepareForUpdate: preparePersistentVolumeForUpdate,
    prepareForStatusUpdate: (volume, old, context) =>
      preparePersistentVolumeStatusUpdate(volume, old, timestamp(context)),
    validate: validatePersistentVolume,
    validateUpdate: validatePersistentVolumeUpdate,
    validateStatusUpdate: validatePersistentVolumeStatusUpdate,
    warnings: persistentVolumeWarnings,
  }),
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
  namespaces: namespaceRules,
  nodes: rulesFor({
    generation: 'none',
    keepsStatusOnCreate: true,
    default: defaultNode,
    prepareForCreate: prepareNodeForCreate,
    prepareForUpdate: prepareNodeForUpdate,
    prepareForStatusUpdate: prepareNodeStatusUpdate,
    validate: validateNode,
    validateUpdate: validateNodeUpdate,
    validateStatusUpdate: validateNodeStatusUpdate,
    warnings: nodeWarnings,
  }),
};
