import * as s from '@kruise/schema';

export const ownerReference = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference',
  'Reference to an owner: the dependent is deleted with its owners. The owner must be in the same namespace or cluster-scoped.',
  {
    apiVersion: s.required(5, s.string(), 'Group and version of the owner, such as apps/v1.'),
    kind: s.required(1, s.string(), 'Kind of the owner.'),
    name: s.required(3, s.string(), 'Name of the owner.'),
    uid: s.required(
      4,
      s.string({ goType: 'types.UID' }),
      'The uid of the owner; a later object of the same name is not it.',
    ),
    controller: s.pointer(
      6,
      s.boolean(),
      'Controller reference: the owner manages this object; at most one owner does.',
    ),
    blockOwnerDeletion: s.pointer(
      7,
      s.boolean(),
      'Blocks the deletion of the owner in the foreground until this object is deleted. Setting it requires the permission to update the finalizers of the owner.',
    ),
  },
  { mapType: 'atomic' },
);
export type OwnerReference = s.TypeOf<typeof ownerReference>;

export const managedFieldsEntry = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry',
  'Fields that one manager last wrote.',
  {
    manager: s.optional(1, s.string(), 'Name of the field manager.'),
    operation: s.optional(
      2,
      s.string({ goType: 'v1.ManagedFieldsOperationType' }),
      'Operation of the manager: Apply, or Update for all other writes.',
    ),
    apiVersion: s.optional(3, s.string(), 'The version the fields are named in.'),
    time: s.pointer(
      4,
      s.time(),
      'Time at which the entry was created, or at which it last gained, changed or lost a field.',
    ),
    fieldsType: s.optional(6, s.string(), 'The form of fieldsV1; FieldsV1 is the only one.'),
    fieldsV1: s.pointer(7, s.fieldsV1(), 'The fields, as a tree of names.'),
    subresource: s.optional(8, s.string(), 'Subresource of the write; empty for the main resource.'),
  },
);
export type ManagedFieldsEntry = s.TypeOf<typeof managedFieldsEntry>;

export const objectMeta = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  'Metadata of every stored object.',
  {
    name: s.optional(1, s.string(), 'Name of the object, unique for its kind in its namespace. Cannot be changed.'),
    generateName: s.optional(
      2,
      s.string(),
      'Prefix of a generated name, used if name is empty: five random characters are added. A name that already exists is generated again a few times.',
    ),
    namespace: s.optional(3, s.string(), 'Namespace of the object; empty if its kind has none. Cannot be changed.'),
    selfLink: s.optional(4, s.string(), 'No longer written.'),
    uid: s.optional(
      5,
      s.string({ goType: 'types.UID' }),
      'Unique ID of the object, which distinguishes it from all others, including later objects of the same name. Set by the server.',
    ),
    resourceVersion: s.optional(
      6,
      s.string(),
      'The version of the object, to be compared for equality only. An update that gives it fails if it is not the newest.',
    ),
    generation: s.optional(
      7,
      s.int64(),
      'Sequence number of the desired state: it increases with every change of the spec, not of the status. Set by the server.',
    ),
    creationTimestamp: s.optional(
      8,
      s.time(),
      'CreationTimestamp is a timestamp of when the object was created, given by the server.',
    ),
    deletionTimestamp: s.pointer(
      9,
      s.time(),
      'Time at which the object is to be deleted: the time of the delete request plus the grace period. The object is removed when it has no finalizers. Set by the server.',
    ),
    deletionGracePeriodSeconds: s.pointer(
      10,
      s.int64(),
      'Grace period of the deletion in seconds. Can only be shortened.',
    ),
    labels: s.optional(
      11,
      s.map(s.string()),
      'Names and values to choose objects by. Values have up to 63 letters, digits, -, _ and .',
    ),
    annotations: s.optional(
      12,
      s.map(s.string()),
      'Keys and values with additional information; 256 KiB in total. They cannot be used in selectors.',
    ),
    ownerReferences: s.optional(
      13,
      s.listMap(ownerReference, ['uid']),
      'Owners of the object. It is garbage-collected when the last of them is deleted.',
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
      'Field managers and the fields that each of them owns, for server-side apply. Set by the server.',
    ),
  },
);
export type ObjectMeta = s.TypeOf<typeof objectMeta>;
