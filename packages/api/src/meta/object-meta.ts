import * as s from '@kruise/schema';

export const ownerReference = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference',
  'An object this one belongs to, and with which it is deleted. In the same namespace, or without one.',
  {
    apiVersion: s.required(5, s.string(), 'Group and version of the owner, such as apps/v1.'),
    kind: s.required(1, s.string(), 'Kind of the owner.'),
    name: s.required(3, s.string(), 'Name of the owner.'),
    uid: s.required(
      4,
      s.string({ goType: 'types.UID' }),
      'The uid of the owner; a later object of the same name is not it.',
    ),
    controller: s.pointer(6, s.boolean(), 'Whether the owner manages this object; at most one owner does.'),
    blockOwnerDeletion: s.pointer(
      7,
      s.boolean(),
      'Whether the owner, deleted in the foreground, waits until this object is gone. Needs the right to finalize the owner.',
    ),
  },
  { mapType: 'atomic' },
);
export type OwnerReference = s.TypeOf<typeof ownerReference>;

export const managedFieldsEntry = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry',
  'Fields that one manager last wrote.',
  {
    manager: s.optional(1, s.string(), 'Who wrote them.'),
    operation: s.optional(
      2,
      s.string({ goType: 'v1.ManagedFieldsOperationType' }),
      'How: Apply, or Update for everything else.',
    ),
    apiVersion: s.optional(3, s.string(), 'The version the fields are named in.'),
    time: s.pointer(4, s.time(), 'When the entry came about or last gained, changed or lost a field.'),
    fieldsType: s.optional(6, s.string(), 'The form of fieldsV1; FieldsV1 is the only one.'),
    fieldsV1: s.pointer(7, s.fieldsV1(), 'The fields, as a tree of names.'),
    subresource: s.optional(8, s.string(), 'The subresource it was written through; empty for the object itself.'),
  },
);
export type ManagedFieldsEntry = s.TypeOf<typeof managedFieldsEntry>;

export const objectMeta = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  'What every object that is stored has.',
  {
    name: s.optional(1, s.string(), 'Name of the object, unique for its kind in its namespace. Cannot be changed.'),
    generateName: s.optional(
      2,
      s.string(),
      'If name is empty: prefix of a generated name, to which five random characters are added. A name that exists is generated again a few times.',
    ),
    namespace: s.optional(3, s.string(), 'Namespace of the object; empty if its kind has none. Cannot be changed.'),
    selfLink: s.optional(4, s.string(), 'No longer written.'),
    uid: s.optional(
      5,
      s.string({ goType: 'types.UID' }),
      'Tells the object from all others there ever were, also from later ones of the same name. Given by the server.',
    ),
    resourceVersion: s.optional(
      6,
      s.string(),
      'The version of the object, to be compared for equality only. An update that gives it fails if it is not the newest.',
    ),
    generation: s.optional(
      7,
      s.int64(),
      'Rises with every change of what is wanted, not of what is. Given by the server.',
    ),
    creationTimestamp: s.optional(
      8,
      s.time(),
      'CreationTimestamp is a timestamp of when the object was created, given by the server.',
    ),
    deletionTimestamp: s.pointer(
      9,
      s.time(),
      'When the object is to go: the time of its deletion plus the grace period. It vanishes once it has no finalizers. Given by the server.',
    ),
    deletionGracePeriodSeconds: s.pointer(
      10,
      s.int64(),
      'Seconds the object had left when it was deleted. May only be shortened.',
    ),
    labels: s.optional(
      11,
      s.map(s.string()),
      'Names and values to choose objects by. Values have up to 63 letters, digits, -, _ and .',
    ),
    annotations: s.optional(
      12,
      s.map(s.string()),
      'Names and values that say something about the object to programs or people; 256 KiB in all. Not to choose by.',
    ),
    ownerReferences: s.optional(
      13,
      s.listMap(ownerReference, ['uid']),
      'Objects this one belongs to. It is deleted when the last of them is gone.',
      { patchStrategy: 'merge', patchMergeKey: 'uid' },
    ),
    finalizers: s.optional(
      14,
      s.set(s.string()),
      'Finalizers that block the deletion of the object; each controller removes its own entry, in any order.',
      { patchStrategy: 'merge' },
    ),
    managedFields: s.optional(
      17,
      s.atomicList(managedFieldsEntry),
      'Who last wrote which field, for server-side apply. Written by the server.',
    ),
  },
);
export type ObjectMeta = s.TypeOf<typeof objectMeta>;
