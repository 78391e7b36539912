/** Parameters of requests, in the path and in the query. */
import { flatFields, type ObjectNode, resolve } from '../language.ts';

/** A parameter of a request. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
};

const inQuery = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
});

/** Path parameter for the namespace. */
export const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'The namespace of the object.',
};
/** Path parameter for the proxied path. */
export const pathParameter: Parameter = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'The rest of the path, which is passed on.',
};
/** Returns the path parameter for the name of an object. */
export const nameParameter = (kind: string): Parameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `The name of the ${kind}.`,
});

/** Query parameter of every request that returns objects. */
export const pretty = inQuery('pretty', 'string', 'true prints the answer for people to read.');

const dryRun = inQuery('dryRun', 'string', 'All does everything but keep the change.');
const fieldManager = inQuery('fieldManager', 'string', 'The name under which the fields that are set are owned.');
const fieldValidation = inQuery(
  'fieldValidation',
  'string',
  'What to do about unknown and repeated fields: Ignore them, Warn of them (the default), or refuse them with Strict.',
);
const selection: readonly Parameter[] = [
  inQuery('continue', 'string', 'Where to go on with a list that was cut short by limit: what its last part said.'),
  inQuery('fieldSelector', 'string', 'Only objects whose fields are so.'),
  inQuery('labelSelector', 'string', 'Only objects whose labels are so.'),
  inQuery('limit', 'integer', 'The most objects to answer with; the answer says how to go on.'),
  inQuery('resourceVersion', 'string', 'Which state to answer from, or where to begin to watch.'),
  inQuery('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  inQuery('sendInitialEvents', 'boolean', 'Begin a watch with what there is, and mark where that ends.'),
  inQuery('timeoutSeconds', 'integer', 'How long to list or watch at most.'),
];

/** Query parameters of lists and watches. */
export const listParameters: readonly Parameter[] = [
  ...selection,
  inQuery('allowWatchBookmarks', 'boolean', 'Tell now and then how far the watch has come.'),
  inQuery('watch', 'boolean', 'Stay, and tell of changes as they come.'),
];
/** Query parameters of POST. */
export const createParameters: readonly Parameter[] = [dryRun, fieldManager, fieldValidation];
/** Query parameters of PUT. */
export const updateParameters: readonly Parameter[] = [dryRun, fieldManager, fieldValidation];
/** Query parameters of PATCH. */
export const patchParameters: readonly Parameter[] = [
  dryRun,
  fieldManager,
  fieldValidation,
  inQuery('force', 'boolean', 'For an apply: take over fields that others own.'),
];
/** Query parameters of DELETE of one object. */
export const deleteParameters: readonly Parameter[] = [
  dryRun,
  inQuery('gracePeriodSeconds', 'integer', 'How long to wait before the object is removed; 0 is at once.'),
  inQuery(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Remove an object that cannot be read from the store, unseen.',
  ),
  inQuery('orphanDependents', 'boolean', 'Leave dependents behind. Superseded by propagationPolicy.'),
  inQuery('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
];
/** Query parameters of DELETE of a collection. */
export const deleteCollectionParameters: readonly Parameter[] = [...selection, ...deleteParameters];

/**
 * Returns the fields of an options object as query parameters; times are accepted but, as in Kubernetes, not published.
 */
export function optionParameters(options: ObjectNode): readonly Parameter[] {
  const parameters: Parameter[] = [];
  for (const [name, { node, doc = '' }] of flatFields(options)) {
    if (name === 'kind' || name === 'apiVersion') continue;
    const found = resolve(node);
    const { type } = found.type === 'list' ? resolve(found.items) : found;
    if (type === 'time') continue;
    parameters.push(inQuery(name, type === 'integer' || type === 'boolean' ? type : 'string', doc));
  }
  return parameters;
}
