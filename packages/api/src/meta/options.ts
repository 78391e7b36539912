import * as s from '@kruise/schema';
import { typeMeta } from './type-meta.ts';

export const preconditions = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions',
  'What must be true for a deletion to happen.',
  {
    uid: s.pointer(1, s.string({ goType: 'types.UID' }), 'The uid the object must have.'),
    resourceVersion: s.pointer(2, s.string(), 'The version the object must have.'),
  },
);
export type Preconditions = s.TypeOf<typeof preconditions>;

export const deleteOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', 'How to delete.', {
  ...typeMeta,
  gracePeriodSeconds: s.pointer(
    1,
    s.int64(),
    'Seconds until the object goes; 0 at once. Unset: as the kind decides, 30 for Pods as a rule.',
  ),
  preconditions: s.pointer(2, preconditions, 'What must be true, or else the answer is 409 Conflict.'),
  orphanDependents: s.pointer(
    3,
    s.boolean(),
    'Whether to leave what belongs to it. Deprecated in favour of propagationPolicy, and not together with it.',
  ),
  propagationPolicy: s.pointer(
    4,
    s.string({ goType: 'v1.DeletionPropagation' }),
    'What becomes of what belongs to it: Orphan leaves it, Background deletes it afterwards, Foreground deletes it first.',
  ),
  dryRun: s.optional(5, s.atomicList(s.string()), 'All to go through everything but change nothing.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: s.pointer(
    6,
    s.boolean(),
    'Delete an object that cannot be read from the store, without finalizers being heeded. Default false; needs a special right.',
  ),
});
export type DeleteOptions = s.TypeOf<typeof deleteOptions>;

export const createOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions', 'How to create.', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), 'All to go through everything but change nothing.'),
  fieldManager: s.optional(
    3,
    s.string(),
    'Who writes, for managedFields; by default what comes before the / of the user agent.',
  ),
  fieldValidation: s.optional(
    4,
    s.string(),
    'What unknown and repeated fields cause: Ignore, Warn (the default) or Strict, which refuses them.',
  ),
});
export type CreateOptions = s.TypeOf<typeof createOptions>;

export const updateOptions = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions',
  'How to replace an object.',
  {
    ...typeMeta,
    dryRun: s.optional(1, s.list(s.string()), 'All to go through everything but change nothing.'),
    fieldManager: s.optional(
      2,
      s.string(),
      'Who writes, for managedFields; by default what comes before the / of the user agent.',
    ),
    fieldValidation: s.optional(
      3,
      s.string(),
      'What unknown and repeated fields cause: Ignore, Warn (the default) or Strict, which refuses them.',
    ),
  },
);
export type UpdateOptions = s.TypeOf<typeof updateOptions>;

export const patchOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions', 'How to patch.', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), 'All to go through everything but change nothing.'),
  force: s.pointer(2, s.boolean(), 'Take fields from other managers in a conflict. For apply patches only.'),
  fieldManager: s.optional(3, s.string(), 'Who writes, for managedFields. Must be given for apply patches.'),
  fieldValidation: s.optional(
    4,
    s.string(),
    'What unknown and repeated fields cause: Ignore, Warn (the default) or Strict, which refuses them.',
  ),
});
export type PatchOptions = s.TypeOf<typeof patchOptions>;

export const listOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions', 'What to list, or to watch.', {
  ...typeMeta,
  labelSelector: s.optional(1, s.string(), 'Only objects with these labels. Unset: all.'),
  fieldSelector: s.optional(2, s.string(), 'Only objects with these values in certain fields. Unset: all.'),
  watch: s.optional(3, s.boolean(), 'Send changes as they happen instead of a list.'),
  allowWatchBookmarks: s.optional(
    9,
    s.boolean(),
    'Send periodic events of type BOOKMARK with the current resourceVersion of the watch.',
  ),
  resourceVersion: s.optional(
    4,
    s.string(),
    'How fresh the answer must be, or from where to watch. Unset: as fresh as can be; 0: whatever is at hand.',
  ),
  resourceVersionMatch: s.optional(
    10,
    s.string({ goType: 'v1.ResourceVersionMatch' }),
    'How to take it when listing: NotOlderThan or Exact.',
  ),
  timeoutSeconds: s.pointer(5, s.int64(), 'Seconds after which the call ends, whatever it is doing.'),
  limit: s.optional(
    7,
    s.int64(),
    'How many objects to send at most; the answer then says how to go on. Of no effect on a watch.',
  ),
  continue: s.optional(
    8,
    s.string(),
    'The continue token of the last response. No other option may change meanwhile; 410 Gone means that the list must be restarted.',
  ),
  sendInitialEvents: s.pointer(
    11,
    s.boolean(),
    'Begin a watch with all objects there are, closed by a bookmark. Needs resourceVersionMatch NotOlderThan.',
  ),
});
export type ListOptions = s.TypeOf<typeof listOptions>;

export const getOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions', 'How to read an object.', {
  ...typeMeta,
  resourceVersion: s.optional(
    1,
    s.string(),
    'How fresh the answer must be. Unset: as fresh as can be; 0: whatever is at hand.',
  ),
});
export type GetOptions = s.TypeOf<typeof getOptions>;
