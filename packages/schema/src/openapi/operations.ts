/**
 * Operations of resources by path, independent of the OpenAPI version. Operation IDs are those that client generators
 * expect: `listCoreV1NamespacedPod`.
 */
import type { Kind } from '../kind.ts';
import {
  createParameters,
  deleteCollectionParameters,
  deleteParameters,
  listParameters,
  nameParameter,
  namespaceParameter,
  optionParameters,
  type Parameter,
  patchParameters,
  pathParameter,
  pretty,
  updateParameters,
} from './parameters.ts';
import {
  type Content,
  type GroupVersion,
  type GroupVersionKind,
  gvkOf,
  type PublishedPage,
  type PublishedResource,
  type PublishedSubresource,
  rootPath,
} from './published.ts';

/** An HTTP method. */
export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

/** An operation: one method at one path. */
export type Operation = {
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly body?: { readonly content: Content; readonly required: boolean };
  readonly responses: readonly (readonly [code: number, content: Content])[];
};

/** A path with its operations. */
export type Path = {
  readonly path: string;
  /** Parameters of all operations of the path. */
  readonly parameters: readonly Parameter[];
  readonly operations: ReadonlyMap<Method, Operation>;
};

/**
 * Returns all paths of a group version, in order.
 *
 * ```ts
 * const paths = pathsOf({ group: '', version: 'v1' }, [{ kind: pod, subresources: [] }]);
 * ```
 */
export function pathsOf(groupVersion: GroupVersion, resources: readonly PublishedResource[]): readonly Path[] {
  const paths = [discoveryPath(groupVersion), ...resources.flatMap(resourcePaths)];
  return paths.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const textTypes = ['application/json', 'application/yaml'];
const protobufType = 'application/vnd.kubernetes.protobuf';
const allTypes = [...textTypes, protobufType];
const streamTypes = [...allTypes, 'application/json;stream=watch', `${protobufType};stream=watch`];
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json'];
const builtinPatchTypes = [...patchTypes, 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'];
const customPatchTypes = [...patchTypes, 'application/apply-patch+yaml'];

function discoveryPath(groupVersion: GroupVersion): Path {
  const operation: Operation = {
    id: `get${operationGroup(groupVersion)}APIResources`,
    description: 'The resources of this version.',
    tag: tagOf(groupVersion),
    parameters: [],
    consumes: allTypes,
    produces: allTypes,
    responses: [[200, { type: 'apiResourceList' }]],
  };
  return { path: `${rootPath(groupVersion)}/`, parameters: [], operations: new Map([['get', operation]]) };
}

/** Returns the path of a non-resource endpoint, whose only operation is GET. */
export function endpointPath({ path, id, description, tag, types, answer }: PublishedPage): Path {
  const operation: Operation = {
    id,
    description,
    tag,
    parameters: [],
    consumes: types,
    produces: types,
    responses: [[200, answer ? { type: 'named', node: answer } : { type: 'text' }]],
  };
  return { path, parameters: [], operations: new Map([['get', operation]]) };
}

function resourcePaths(resource: PublishedResource): Path[] {
  const { kind, custom, subresources } = resource;
  const isNamespaced = kind.scope === 'Namespaced';
  const root = rootPath(kind);
  const collection = isNamespaced ? `${root}/namespaces/{namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  const item = `${collection}/{name}`;
  const can = (verb: string) => kind.verbs.includes(verb);
  const paths: Path[] = [];
  const add = (path: string, operations: readonly Named[], more: readonly Parameter[] = [pretty]): void => {
    if (operations.length === 0) return;
    paths.push(hoist(path, new Map(operations), [...pathParameters(path, kind.kind), ...more]));
  };

  add(collection, [
    ...(can('list') ? [listOperation(resource, '')] : []),
    ...(can('create') ? [createOperation(resource)] : []),
    ...(can('deletecollection') ? [deleteCollectionOperation(resource)] : []),
  ]);
  add(item, [
    ...objectOperations(resource, resource, '', kind.verbs),
    ...(can('delete') ? [deleteOperation(resource)] : []),
  ]);
  if (isNamespaced && can('list')) add(`${root}/${kind.plural}`, [listOperation(resource, 'ForAllNamespaces')]);
  for (const subresource of subresources) {
    if (!subresource.options) {
      add(`${item}/${subresource.name}`, subresourceOperations(resource, subresource));
      continue;
    }
    for (const path of connectPaths(item, subresource)) {
      const { parameters, operations } = connectOperations(resource, subresource, path);
      add(path, operations, parameters);
    }
  }
  if (can('watch') && custom === undefined) {
    const watched = `${root}/watch${isNamespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}`;
    add(watched, [watchOperation(resource, 'watchlist', 'List')]);
    if (can('get')) add(`${watched}/{name}`, [watchOperation(resource, 'watch', '')]);
    if (isNamespaced)
      add(`${root}/watch/${kind.plural}`, [watchOperation(resource, 'watchlist', 'ListForAllNamespaces')]);
  }
  return paths;
}

type Named = readonly [method: Method, operation: Operation];

/** Returns the operations of one object, or of its subresource `name`. */
function objectOperations(
  resource: PublishedResource,
  answered: PublishedResource,
  name: string,
  verbs: readonly string[],
): readonly Named[] {
  return [
    ...(verbs.includes('get') ? [readOperation(resource, answered, name)] : []),
    ...(verbs.includes('update') ? [replaceOperation(resource, answered, name)] : []),
    ...(verbs.includes('patch') ? [patchOperation(resource, answered, name)] : []),
  ];
}

function pathParameters(path: string, kind: string): readonly Parameter[] {
  return [
    ...(path.includes('{name}') ? [nameParameter(kind)] : []),
    ...(path.includes('{namespace}') ? [namespaceParameter] : []),
    ...(path.includes('{path}') ? [pathParameter] : []),
  ];
}

/** Moves parameters that all operations of a path share to the path. */
function hoist(path: string, operations: ReadonlyMap<Method, Operation>, given: readonly Parameter[]): Path {
  const [first, ...others] = [...operations.values()];
  const shared = first!.parameters.filter((each) => others.every(({ parameters }) => parameters.includes(each)));
  const own = new Map(
    [...operations].map(([method, operation]) => {
      const parameters = operation.parameters.filter((each) => !shared.includes(each)).sort(byName);
      return [method, { ...operation, parameters }];
    }),
  );
  return { path, parameters: [...given, ...shared].sort(byName), operations: own };
}

function byName(a: Parameter, b: Parameter): number {
  const [x, y] = [`${a.name} ${a.in}`, `${b.name} ${b.in}`];
  return x < y ? -1 : x > y ? 1 : 0;
}

type Verbal = { readonly verb: string; readonly prefix?: string; readonly suffix?: string };

function operationBase({ kind, custom }: PublishedResource, { verb, prefix = '', suffix = '' }: Verbal) {
  const scope = kind.scope === 'Namespaced' && !suffix.endsWith('ForAllNamespaces') ? 'Namespaced' : '';
  return {
    id: `${verb}${operationGroup(kind)}${prefix}${scope}${kind.kind}${suffix}`,
    tag: tagOf(kind),
    kind: gvkOf(kind),
    consumes: custom ? textTypes : ['*/*'],
    produces: custom ? textTypes : allTypes,
  };
}

function listOperation(resource: PublishedResource, suffix: string): Named {
  const canWatch = resource.kind.verbs.includes('watch');
  const base = operationBase(resource, { verb: 'list', suffix });
  return [
    'get',
    {
      ...base,
      description: `List${canWatch ? ' or watch' : ''} objects of kind ${resource.kind.kind}.`,
      action: 'list',
      parameters: listParameters,
      produces: resource.custom ? base.produces : streamTypes,
      responses: [[200, { type: 'list', resource }]],
    },
  ];
}

function createOperation(resource: PublishedResource): Named {
  const content: Content = { type: 'object', resource };
  return [
    'post',
    {
      ...operationBase(resource, { verb: 'create' }),
      description: `Create ${article(resource.kind)}.`,
      action: 'post',
      parameters: createParameters,
      body: { content, required: true },
      responses: [
        [200, content],
        [201, content],
        [202, content],
      ],
    },
  ];
}

function deleteCollectionOperation(resource: PublishedResource): Named {
  return [
    'delete',
    {
      ...operationBase(resource, { verb: 'delete', prefix: 'Collection' }),
      description: `Delete every ${resource.kind.kind} that is selected.`,
      action: 'deletecollection',
      parameters: deleteCollectionParameters,
      body: { content: { type: 'deleteOptions' }, required: false },
      responses: [[200, { type: 'status' }]],
    },
  ];
}

function readOperation(resource: PublishedResource, answered: PublishedResource, name: string): Named {
  return [
    'get',
    {
      ...operationBase(resource, { verb: 'read', suffix: capitalized(name) }),
      kind: gvkOf(answered.kind),
      description: `Read ${part(name)}${article(resource.kind)}.`,
      action: 'get',
      parameters: [],
      responses: [[200, { type: 'object', resource: answered }]],
    },
  ];
}

function replaceOperation(resource: PublishedResource, answered: PublishedResource, name: string): Named {
  const content: Content = { type: 'object', resource: answered };
  return [
    'put',
    {
      ...operationBase(resource, { verb: 'replace', suffix: capitalized(name) }),
      kind: gvkOf(answered.kind),
      description: `Replace ${part(name)}${article(resource.kind)}.`,
      action: 'put',
      parameters: updateParameters,
      body: { content, required: true },
      responses: [
        [200, content],
        [201, content],
      ],
    },
  ];
}

function patchOperation(resource: PublishedResource, answered: PublishedResource, name: string): Named {
  const content: Content = { type: 'object', resource: answered };
  return [
    'patch',
    {
      ...operationBase(resource, { verb: 'patch', suffix: capitalized(name) }),
      kind: gvkOf(answered.kind),
      description: `Change a part of ${part(name)}${article(resource.kind)}.`,
      action: 'patch',
      parameters: patchParameters,
      // kubectl chooses how to apply by these types.
      consumes: resource.custom ? customPatchTypes : builtinPatchTypes,
      body: { content: { type: 'patch' }, required: true },
      responses: [
        [200, content],
        [201, content],
      ],
    },
  ];
}

function deleteOperation(resource: PublishedResource): Named {
  const answer: Content = resource.returnsDeleted ? { type: 'object', resource } : { type: 'status' };
  return [
    'delete',
    {
      ...operationBase(resource, { verb: 'delete' }),
      description: `Delete ${article(resource.kind)}.`,
      action: 'delete',
      parameters: deleteParameters,
      body: { content: { type: 'deleteOptions' }, required: false },
      responses: [
        [200, answer],
        [202, answer],
      ],
    },
  ];
}

function watchOperation(resource: PublishedResource, action: string, suffix: string): Named {
  return [
    'get',
    {
      ...operationBase(resource, { verb: 'watch', suffix }),
      description: `Watch ${suffix === '' ? article(resource.kind) : `objects of kind ${resource.kind.kind}`}. Superseded by watch=true.`,
      action,
      parameters: listParameters,
      produces: streamTypes,
      responses: [[200, { type: 'watchEvent' }]],
    },
  ];
}

function subresourceOperations(resource: PublishedResource, subresource: PublishedSubresource): readonly Named[] {
  const { name, verbs, kind = resource.kind } = subresource;
  const answered: PublishedResource = kind === resource.kind ? resource : { kind, subresources: [] };
  return [
    ...objectOperations(resource, answered, name, verbs),
    ...(verbs.includes('create') ? [postOperation(resource, answered, name)] : []),
  ];
}

function postOperation(resource: PublishedResource, answered: PublishedResource, name: string): Named {
  const [method, operation] = createOperation(answered);
  const base = operationBase(resource, { verb: 'create', suffix: capitalized(name) });
  const description = `Create ${part(name)}${article(resource.kind)}.`;
  return [method, { ...operation, ...base, kind: gvkOf(answered.kind), description }];
}

/** Returns the paths of a connect subresource. A proxy also has the paths below it. */
function connectPaths(item: string, { name }: PublishedSubresource): readonly string[] {
  const path = `${item}/${name}`;
  return name === 'proxy' ? [path, `${path}/{path}`] : [path];
}

const allMethods: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

function connectOperations(resource: PublishedResource, { name, verbs, options }: PublishedSubresource, path: string) {
  const { kind } = resource;
  const parameters = optionParameters(options!);
  if (name === 'log') {
    const [method, read] = readOperation(resource, resource, name);
    const produces = ['text/plain', ...allTypes];
    const operation: Operation = { ...read, produces, responses: [[200, { type: 'text' }]] };
    return { parameters: [pretty, ...parameters], operations: [[method, operation] as const] };
  }
  const methods = verbs.includes('update') ? allMethods : (['get', 'post'] as const);
  const suffix = `${capitalized(name)}${path.endsWith('{path}') ? 'WithPath' : ''}`;
  const operations = methods.map((method) => {
    const operation: Operation = {
      ...operationBase(resource, { verb: 'connect', prefix: capitalized(method), suffix }),
      kind: gvkOf({ ...kind, kind: options!.name!.split('.').at(-1)! }),
      description: `Connect to ${part(name)}${article(kind)} by ${method.toUpperCase()}.`,
      action: 'connect',
      parameters: [],
      consumes: ['*/*'],
      produces: ['*/*'],
      responses: [[200, { type: 'text' }]],
    };
    return [method, operation] as const;
  });
  return { parameters, operations };
}

/** Returns the reason phrase of a status code. */
export function reasonOf(code: number): string {
  return { 200: 'OK', 201: 'Created', 202: 'Accepted' }[code] ?? String(code);
}

function part(name: string): string {
  return name === '' ? '' : `${name} of `;
}

function article({ kind }: Kind): string {
  return `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the group in operation IDs: `RbacAuthorizationV1`. Groups of Kubernetes use the part before `.k8s.io`. */
function operationGroup({ group, version }: GroupVersion): string {
  return `${groupWords(group).map(capitalized).join('')}${capitalized(version)}`;
}

function tagOf({ group, version }: GroupVersion): string {
  const [first = '', ...rest] = groupWords(group);
  return `${first}${rest.map(capitalized).join('')}_${version}`;
}

/** Returns the words of the group in operation IDs and tags. */
export function groupWords(group: string): readonly string[] {
  if (group === '') return ['core'];
  return group.replace(/\.k8s\.io$/, '').split(/[.-]/);
}
