import * as s from '@kruise/schema';
import { typeMeta } from './type-meta.ts';

export const preconditions = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions',
  'Preconditions of a deletion.',
  {
    uid: s.pointer(1, s.string({ goType: 'types.UID' }), 'The uid the object must have.'),
    resourceVersion: s.pointer(2, s.string(), 'The version the object must have.'),
  },
);
export type Preconditions = s.TypeOf<typeof preconditions>;

export const deleteOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', 'Options of a deletion.', {
  ...typeMeta,
  gracePeriodSeconds: s.pointer(
    1,
    s.int64(),
    'Grace period in seconds; 0 deletes at once. Unset: the default of the kind, normally 30 for Pods.',
  ),
  preconditions: s.pointer(2, preconditions, 'Preconditions; if one is not met, the request fails with 409 Conflict.'),
  orphanDependents: s.pointer(
    3,
    s.boolean(),
    'Orphans the dependents. Deprecated; replaced by propagationPolicy, which excludes it.',
  ),
  propagationPolicy: s.pointer(
    4,
    s.string({ goType: 'v1.DeletionPropagation' }),
    'Propagation to dependents: Orphan keeps them, Background deletes them afterwards, Foreground deletes them first.',
  ),
  dryRun: s.optional(5, s.atomicList(s.string()), 'Dry run: All processes the request without storing changes.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: s.pointer(
    6,
    s.boolean(),
    'Delete an object that cannot be read from the store, without finalizers being heeded. Default false; needs a special right.',
  ),
});
export type DeleteOptions = s.TypeOf<typeof deleteOptions>;

export const createOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions', 'Options of a creation.', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), 'Dry run: All processes the request without storing changes.'),
  fieldManager: s.optional(
    3,
    s.string(),
    'Name of the field manager; defaults to the part of the user agent before the slash.',
  ),
  fieldValidation: s.optional(
    4,
    s.string(),
    'Validation of unknown and duplicate fields: Ignore, Warn (the default) or Strict, which rejects them.',
  ),
});
export type CreateOptions = s.TypeOf<typeof createOptions>;

export const updateOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions', 'Options of an update.', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), 'Dry run: All processes the request without storing changes.'),
  fieldManager: s.optional(
    2,
    s.string(),
    'Name of the field manager; defaults to the part of the user agent before the slash.',
  ),
  fieldValidation: s.optional(
    3,
    s.string(),
    'Validation of unknown and duplicate fields: Ignore, Warn (the default) or Strict, which rejects them.',
  ),
});
export type UpdateOptions = s.TypeOf<typeof updateOptions>;

export const patchOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions', 'Options of a patch.', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), 'Dry run: All processes the request without storing changes.'),
  force: s.pointer(2, s.boolean(), 'Forces the ownership of conflicting fields. Only for apply patches.'),
  fieldManager: s.optional(3, s.string(), 'Name of the field manager. Required for apply patches.'),
  fieldValidation: s.optional(
    4,
    s.string(),
    'Validation of unknown and duplicate fields: Ignore, Warn (the default) or Strict, which rejects them.',
  ),
});
export type PatchOptions = s.TypeOf<typeof patchOptions>;

export const listOptions = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions',
  'Options of a list or a watch.',
  {
    ...typeMeta,
    labelSelector: s.optional(1, s.string(), 'Only objects with these labels. Unset: all.'),
    fieldSelector: s.optional(2, s.string(), 'Only objects with these values in certain fields. Unset: all.'),
    watch: s.optional(3, s.boolean(), 'Watches for changes instead of returning a list.'),
    allowWatchBookmarks: s.optional(
      9,
      s.boolean(),
      'Send periodic events of type BOOKMARK with the current resourceVersion of the watch.',
    ),
    resourceVersion: s.optional(
      4,
      s.string(),
      'Minimum version of the response, or start of a watch. Unset: the most recent version; 0: any cached version.',
    ),
    resourceVersionMatch: s.optional(
      10,
      s.string({ goType: 'v1.ResourceVersionMatch' }),
      'Interpretation of resourceVersion in a list: NotOlderThan or Exact.',
    ),
    timeoutSeconds: s.pointer(5, s.int64(), 'Seconds after which the call ends, whatever it is doing.'),
    limit: s.optional(
      7,
      s.int64(),
      'Maximum number of objects in a response, which then has a continue token. Has no effect on a watch.',
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
  },
);
export type ListOptions = s.TypeOf<typeof listOptions>;

export const getOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions', 'Options of a get.', {
  ...typeMeta,
  resourceVersion: s.optional(
    1,
    s.string(),
    'Minimum version of the response. Unset: the most recent version; 0: any cached version.',
  ),
});
export type GetOptions = s.TypeOf<typeof getOptions>;
