import { createHash } from 'node:crypto';
import { apiVersionOf } from './kind.ts';
import { Definitions, type Json } from './openapi/definitions.ts';
import { endpointPath, type Operation, type Path, pathsOf, reasonOf } from './openapi/operations.ts';
import type { Parameter } from './openapi/parameters.ts';
import type { PublishedPage, PublishedResource, Vocabulary } from './openapi/published.ts';
import { runSteps, type Steps } from './openapi/steps.ts';

/** Paths that are described in one step, with the definitions that they are the first to reference. */
const pathsPerStep = 8;

/**
 * Returns the OpenAPI 2.0 document of all resources and non-resource endpoints, as served at `/openapi/v2`.
 *
 * ```ts
 * const document = openApiV2([{ kind: pod, subresources: [] }], vocabulary);
 * ```
 */
export function openApiV2(
  resources: readonly PublishedResource[],
  vocabulary: Vocabulary,
  pages: readonly PublishedPage[] = [],
): Json {
  return runSteps(buildOpenApiV2(resources, vocabulary, pages));
}

/** Builds the document of `openApiV2` in steps. */
export function* buildOpenApiV2(
  resources: readonly PublishedResource[],
  vocabulary: Vocabulary,
  pages: readonly PublishedPage[] = [],
): Steps<Json> {
  const definitions = new Definitions('v2', resources, vocabulary);
  const shared = new SharedParameters();
  const described = pages.map(endpointPath);
  for (const members of Map.groupBy(resources, ({ kind }) => apiVersionOf(kind)).values()) {
    described.push(...pathsOf(members[0]!.kind, members));
    yield;
  }
  described.sort((a, b) => (a.path < b.path ? -1 : 1));
  const paths: [string, Json][] = [];
  for (const path of described) {
    paths.push([path.path, pathItem(path, definitions, shared)]);
    if (paths.length % pathsPerStep === 0) yield;
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(paths),
    definitions: definitions.schemas,
    parameters: shared.written,
    securityDefinitions: {
      BearerToken: { description: 'A bearer token.', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  };
}

/** Parameters are defined once and referenced. kubectl looks for these two only where they are used. */
const inPlace: ReadonlySet<string> = new Set(['dryRun', 'fieldValidation']);

class SharedParameters {
  readonly #written = new Map<string, Json>();
  readonly #references = new Map<Parameter, Json>();

  get written(): Json {
    return Object.fromEntries([...this.#written].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns the parameter itself, or a reference to its definition. */
  use(parameter: Parameter): Json {
    const known = this.#references.get(parameter);
    if (known) return known;
    const { name, in: place, type, description } = parameter;
    const written: Json = {
      uniqueItems: true,
      type,
      description,
      name,
      in: place,
      ...(place === 'path' ? { required: true } : {}),
    };
    const isShared = !inPlace.has(name) && name !== 'name';
    const reference = isShared ? this.share(name, written) : written;
    this.#references.set(parameter, reference);
    return reference;
  }

  /** Returns a unique name for each parameter, because parameters of one name differ in their purpose. */
  share(name: string, parameter: Json): Json {
    const digest = createHash('sha256').update(JSON.stringify(parameter)).digest('base64url').slice(0, 8);
    this.#written.set(`${name}-${digest}`, parameter);
    return { $ref: `#/parameters/${name}-${digest}` };
  }
}

function pathItem({ parameters, operations }: Path, definitions: Definitions, shared: SharedParameters): Json {
  const written = [...operations].map(([method, operation]) => [
    method,
    operationObject(operation, definitions, shared),
  ]);
  return {
    ...Object.fromEntries(written),
    ...(parameters.length > 0 ? { parameters: parameters.map((each) => shared.use(each)) } : {}),
  };
}

function operationObject(operation: Operation, definitions: Definitions, shared: SharedParameters): Json {
  const { id, description, tag, action, kind, body, consumes, produces, responses } = operation;
  const parameters = [
    ...(body ? [bodyParameter(body, definitions, shared)] : []),
    ...operation.parameters.map((each) => shared.use(each)),
  ];
  return {
    description,
    consumes,
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      ...Object.fromEntries(
        responses.map(([code, content]) => [
          code,
          { description: reasonOf(code), schema: definitions.content(content) },
        ]),
      ),
      401: { description: 'Unauthorized' },
    },
    ...(action ? { 'x-kubernetes-action': action } : {}),
    ...(kind ? { 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

function bodyParameter(
  { content, required }: NonNullable<Operation['body']>,
  definitions: Definitions,
  shared: SharedParameters,
): Json {
  const schema = definitions.content(content);
  const parameter: Json = { name: 'body', in: 'body', ...(required ? { required: true } : {}), schema };
  return content.type === 'object' ? parameter : shared.share('body', parameter);
}
