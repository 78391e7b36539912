import { incrementGeneration } from '@kruise/api/meta/strategy';
import type { CSIDriver } from '@kruise/api/storage/csidriver';
import {
  defaultCSIDriver,
  prepareCSIDriver,
  validateCSIDriver,
  validateCSIDriverUpdate,
} from '@kruise/api/storage/csidriver.validate';
import { validateCSINode, validateCSINodeUpdate } from '@kruise/api/storage/csinode.validate';
import {
  validateCSIStorageCapacity,
  validateCSIStorageCapacityUpdate,
} from '@kruise/api/storage/csistoragecapacity.validate';
import {
  defaultStorageClass,
  validateStorageClass,
  validateStorageClassUpdate,
} from '@kruise/api/storage/storageclass.validate';
import {
  prepareVolumeAttachmentStatusUpdate,
  validateVolumeAttachment,
  validateVolumeAttachmentUpdate,
} from '@kruise/api/storage/volumeattachment.validate';
import { type RulesByResource, rulesFor } from './rules.ts';

export const storageRules: RulesByResource = {
  'storageclasses.storage.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    returnsDeleted: true,
    default: defaultStorageClass,
    validate: validateStorageClass,
    validateUpdate: validateStorageClassUpdate,
  }),
  'csidrivers.storage.k8s.io': rulesFor<CSIDriver>({
    unconditionalUpdate: false,
    returnsDeleted: true,
    generation: 'none',
    default: defaultCSIDriver,
    prepareForCreate: (driver) => prepareCSIDriver(driver),
    prepareForUpdate(driver, old) {
      prepareCSIDriver(driver, old);
      // The generation is only incremented on updates; a create does not set it.
      incrementGeneration(driver, old);
    },
    validate: validateCSIDriver,
    validateUpdate: validateCSIDriverUpdate,
  }),
  'csinodes.storage.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    unconditionalUpdate: false,
    returnsDeleted: true,
    validate: validateCSINode,
    validateUpdate: validateCSINodeUpdate,
  }),
  'csistoragecapacities.storage.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    unconditionalUpdate: false,
    validate: validateCSIStorageCapacity,
    validateUpdate: validateCSIStorageCapacityUpdate,
  }),
  'volumeattachments.storage.k8s.io': rulesFor({
    unconditionalUpdate: false,
    returnsDeleted: true,
    generation: 'none',
    statusKeepsMetadata: true,
    prepareForStatusUpdate: prepareVolumeAttachmentStatusUpdate,
    validate: validateVolumeAttachment,
    validateUpdate: validateVolumeAttachmentUpdate,
    validateStatusUpdate: validateVolumeAttachmentUpdate,
  }),
};
