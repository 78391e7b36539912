import { describe } from 'node:test';
import { type Json, objectsOf, testErrors, testUpdateErrors } from '../meta/kind.fixtures.ts';
import { type CSIDriver, csiDriver } from './csidriver.ts';
import { defaultCSIDriver, validateCSIDriver, validateCSIDriverUpdate } from './csidriver.validate.ts';
import { type CSINode, csiNode } from './csinode.ts';
import { validateCSINode, validateCSINodeUpdate } from './csinode.validate.ts';
import { type CSIStorageCapacity, csiStorageCapacity } from './csistoragecapacity.ts';
import { validateCSIStorageCapacity, validateCSIStorageCapacityUpdate } from './csistoragecapacity.validate.ts';
import { type StorageClass, storageClass } from './storageclass.ts';
import { defaultStorageClass, validateStorageClass, validateStorageClassUpdate } from './storageclass.validate.ts';
import { type VolumeAttachment, volumeAttachment } from './volumeattachment.ts';
import { validateVolumeAttachment, validateVolumeAttachmentUpdate } from './volumeattachment.validate.ts';

describe('a StorageClass', () => {
  const make = objectsOf<StorageClass>(storageClass, { provisioner: 'example.com/p' }, defaultStorageClass);
  const term = { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] };
  testErrors(make, validateStorageClass, [
    ['needs a provisioner', {}, []],
    ['names someone', { provisioner: '' }, ['provisioner: Required value']],
    [
      'deletes or retains',
      { reclaimPolicy: 'Recycle' },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      'has each place once',
      { allowedTopologies: [term, term] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
  ]);
  testUpdateErrors(make, validateStorageClassUpdate, [
    ['may let volumes grow', {}, { allowVolumeExpansion: true }, []],
    [
      'keeps its parameters',
      {},
      { parameters: { a: 'b' } },
      ['parameters: Forbidden: updates to parameters are forbidden.'],
    ],
    [
      'keeps when volumes are bound',
      {},
      { volumeBindingMode: 'WaitForFirstConsumer' },
      ['volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable'],
    ],
  ]);
});

describe('a CSIDriver', () => {
  const make = objectsOf<CSIDriver>(csiDriver, {}, defaultCSIDriver);
  const withSpec = (spec: Json) => make({ spec });
  testErrors(withSpec, validateCSIDriver, [
    ['may say nothing', {}, []],
    [
      'requests tokens of a minimum lifetime',
      { tokenRequests: [{ audience: 'a', expirationSeconds: 599 }] },
      ['spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'],
    ],
    [
      'requests one token for an audience',
      { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] },
      ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
    ],
  ]);
  testUpdateErrors(withSpec, validateCSIDriverUpdate, [
    [
      'keeps whether it attaches',
      {},
      { attachRequired: false },
      ['spec.attachedRequired: Invalid value: false: field is immutable'],
    ],
  ]);
});

describe('a CSINode', () => {
  const make = objectsOf<CSINode>(csiNode, {});
  const withDrivers = (spec: Json) => make({ spec });
  const driver = { name: 'd.example.com', nodeID: 'n', topologyKeys: ['a'] };
  testErrors(withDrivers, validateCSINode, [
    ['has drivers', { drivers: [driver] }, []],
    ['has each once', { drivers: [driver, driver] }, ['spec.drivers[1].name: Duplicate value: "d.example.com"']],
    ['is known to them', { drivers: [{ ...driver, nodeID: '' }] }, ['spec.drivers[0].nodeID: Required value']],
  ]);
  testUpdateErrors(withDrivers, validateCSINodeUpdate, [
    ['may lose a driver', { drivers: [driver] }, { drivers: [] }, []],
  ]);
});

describe('a CSIStorageCapacity', () => {
  const make = objectsOf<CSIStorageCapacity>(csiStorageCapacity, { storageClassName: 'a' });
  testErrors(make, validateCSIStorageCapacity, [
    ['may be nothing', { capacity: '0' }, []],
    ['is not less', { capacity: '-1' }, ['capacity: Invalid value: "-1": must be greater than or equal to 0']],
  ]);
  testUpdateErrors(make, validateCSIStorageCapacityUpdate, [
    ['keeps its class', {}, { storageClassName: 'b' }, ['storageClassName: Invalid value: "b": field is immutable']],
  ]);
});

describe('a VolumeAttachment', () => {
  const sound = { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } };
  const make = objectsOf<VolumeAttachment>(volumeAttachment, { spec: sound });
  const withSpec = (spec: Json) => make({ spec: { ...sound, ...spec } });
  const exactly = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  testErrors(withSpec, validateVolumeAttachment, [
    ['attaches a volume to a node', {}, []],
    ['attaches one', { source: {} }, [`spec.source: Required value: ${exactly}`]],
    [
      'attaches a volume of a Pod only by CSI',
      { source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } } } },
      ['spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes'],
    ],
  ]);
  testUpdateErrors(withSpec, validateVolumeAttachmentUpdate, [
    [
      'is for one node',
      {},
      { nodeName: 'other' },
      [
        'spec: Invalid value: storage.VolumeAttachmentSpec{Attacher:"d.example.com", Source:map[string]interface {}{"persistentVolumeName":"v"}, NodeName:"other"}: field is immutable',
      ],
    ],
  ]);
});
