import { Definitions, type Json } from './openapi/definitions.ts';
import { endpointPath, type Operation, type Path, pathsOf, reasonOf } from './openapi/operations.ts';
import type { Parameter } from './openapi/parameters.ts';
import type { Content, GroupVersion, PublishedPage, PublishedResource, Vocabulary } from './openapi/published.ts';
import { runSteps, type Steps } from './openapi/steps.ts';

export type {
  GroupVersion,
  PublishedPage,
  PublishedResource,
  PublishedSubresource,
  Vocabulary,
} from './openapi/published.ts';

/** Paths that are described in one step, with the definitions that they are the first to reference. */
const pathsPerStep = 8;

/**
 * Returns the OpenAPI 3.0 document of one group version, as served at `/openapi/v3/apis/apps/v1`.
 *
 * ```ts
 * const document = openApiV3({ group: 'apps', version: 'v1' }, [{ kind: deployment, subresources: [] }], vocabulary);
 * ```
 */
export function openApiV3(
  groupVersion: GroupVersion,
  resources: readonly PublishedResource[],
  vocabulary: Vocabulary,
): Json {
  return runSteps(buildOpenApiV3(groupVersion, resources, vocabulary));
}

/** Builds the document of `openApiV3` in steps. */
export function* buildOpenApiV3(
  groupVersion: GroupVersion,
  resources: readonly PublishedResource[],
  vocabulary: Vocabulary,
): Steps<Json> {
  return yield* buildDocument(pathsOf(groupVersion, resources), new Definitions('v3', resources, vocabulary));
}

/** Builds the OpenAPI 3.0 document of one non-resource endpoint, as served at `/openapi/v3/version`. */
export function* buildOpenApiV3OfPage(page: PublishedPage, vocabulary: Vocabulary): Steps<Json> {
  return yield* buildDocument([endpointPath(page)], new Definitions('v3', [], vocabulary));
}

function* buildDocument(described: readonly Path[], definitions: Definitions): Steps<Json> {
  const paths: [string, Json][] = [];
  for (const path of described) {
    paths.push([path.path, pathItem(path, definitions)]);
    if (paths.length % pathsPerStep === 0) yield;
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(paths),
    components: {
      schemas: definitions.schemas,
      securitySchemes: {
        BearerToken: { type: 'apiKey', description: 'A bearer token.', name: 'authorization', in: 'header' },
      },
    },
  };
}

function pathItem({ parameters, operations }: Path, definitions: Definitions): Json {
  const written = [...operations].map(([method, operation]) => [method, operationObject(operation, definitions)]);
  return {
    ...Object.fromEntries(written),
    ...(parameters.length > 0 ? { parameters: parameters.map(parameterObject) } : {}),
  };
}

function operationObject(operation: Operation, definitions: Definitions): Json {
  const { id, description, tag, action, kind, parameters, consumes, produces, body, responses } = operation;
  const contentOf = (types: readonly string[], content: Content): Json => {
    const schema = definitions.content(content);
    return Object.fromEntries(types.map((type) => [type, { schema }]));
  };
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length > 0 ? { parameters: parameters.map(parameterObject) } : {}),
    ...(body
      ? { requestBody: { content: contentOf(consumes, body.content), ...(body.required ? { required: true } : {}) } }
      : {}),
    responses: {
      ...Object.fromEntries(
        responses.map(([code, content]) => [
          code,
          { description: reasonOf(code), content: contentOf(produces, content) },
        ]),
      ),
      401: { description: 'Unauthorized' },
    },
    ...(action ? { 'x-kubernetes-action': action } : {}),
    ...(kind ? { 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

function parameterObject({ name, in: place, type, description }: Parameter): Json {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}
