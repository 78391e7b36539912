import { deleteOptions as deleteOptionsSchema } from '@kruise/api/meta/options';
import { badRequest, methodNotSupported } from '@kruise/machinery/status';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf } from '@kruise/schema/kind';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { admitAction } from '../handlers/admit.ts';
import { type Body, decodeBody, decodeOptions } from '../handlers/body.ts';
import { create } from '../handlers/create.ts';
import { deleteMany, deleteOne, deleteOptions } from '../handlers/delete.ts';
import { methodNotAllowed, unknownPath } from '../handlers/http-errors.ts';
import { listOptions, watchOptions } from '../handlers/list-options.ts';
import { patch } from '../handlers/patch.ts';
import { patchOf } from '../handlers/patching.ts';
import { put } from '../handlers/put.ts';
import { readMany, readOne } from '../handlers/read.ts';
import { objectOf, type RequestResult } from '../handlers/result.ts';
import { readSubresource, writeSubresource } from '../handlers/subresource.ts';
import type { Updated } from '../handlers/update.ts';
import { prepareWatch } from '../handlers/watch.ts';
import { writeOptions } from '../handlers/write-options.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { PipelineRequest, Stage } from './request.ts';

/** Runs the backend, or the handler of the verb: admission, validation and storage. */
export const dispatch: Stage<PipelineRequest, RequestResult | undefined> = {
  name: 'Dispatch',
  transports: 'all',
  failsWith: 'any',
  run(request) {
    const turn = request.waitForTurn();
    return turn ? turn.then(() => serve(request)) : serve(request);
  },
  keep(request, result) {
    request.result = result;
    if (result) request.record?.response(() => objectOf(result));
  },
};

function serve({ core, context, resource, body, backend }: PipelineRequest): Promise<RequestResult | undefined> {
  if (backend) return backend();
  return resource ? serveResource(core, context, resource, body) : serveVirtual(core, context, body);
}

/** Serves a request for a resource with stored objects. */
async function serveResource(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body | undefined,
): Promise<RequestResult> {
  const { info, query } = context;
  if (resource.deprecation !== undefined) {
    // A patch type that is not supported has no route, so there is nothing to warn about.
    if (info.verb === 'patch' && body) patchOf(resource, body);
    context.warnings.add(resource.deprecation);
  }
  if (info.subresource !== '') {
    const subresource = resource.subresources.get(info.subresource);
    if (!subresource) throw unknownPath();
    if (info.verb === 'get') return readSubresource(core, context, resource, subresource);
    return writeSubresource(core, context, resource, subresource, body);
  }
  if (!resource.kind.verbs.includes(info.verb)) throw methodNotAllowed();

  switch (info.verb) {
    case 'get':
      return { type: 'found', code: 200, resource, found: await readOne(core, context, resource) };
    case 'list':
      return {
        type: 'list',
        resource,
        listed: await readMany(core, context, resource, listOptions(query)),
      };
    case 'watch': {
      const options = watchOptions(query, core.features.watchList);
      return { type: 'watch', resource, open: prepareWatch(core, context, resource, options) };
    }
    case 'create': {
      const options = writeOptions(query, 'CreateOptions');
      const decode = () => decodeBody(context, resource, required(body), options.fieldValidation);
      return { type: 'found', code: 201, resource, found: await create(core, context, resource, options, decode) };
    }
    case 'update':
      return written(resource, await put(core, context, resource, required(body)));
    case 'patch':
      return written(resource, await patch(core, context, resource, required(body)));
    case 'delete': {
      const options = deleteOptions(query, body && decodeOptions(body, codecOf(deleteOptionsSchema)));
      return { type: 'object', ...(await deleteOne(core, context, resource, info.name, options)) };
    }
    case 'deletecollection': {
      const options = deleteOptions(query, body && decodeOptions(body, codecOf(deleteOptionsSchema)));
      const listed = await deleteMany(core, context, resource, listOptions(query), options);
      return { type: 'list', resource, listed };
    }
    default:
      throw methodNotAllowed();
  }
}

/** Serves a virtual resource, which has no stored objects. Admission runs as for any other resource. */
async function serveVirtual(core: Core, context: RequestContext, body: Body | undefined): Promise<RequestResult> {
  const { group, version, plural, verb, subresource } = context.info;
  const resource = core.virtual.get(`${group}/${version}/${plural}`);
  if (!resource || subresource !== '') throw unknownPath();
  const { kind, deprecation } = resource;
  if (deprecation !== undefined) context.warnings.add(deprecation);
  if (verb === 'create' && resource.create) {
    const options = writeOptions(context.query, 'CreateOptions');
    const sent = decodeBody(context, resource, required(body), options.fieldValidation) as KubeObject;
    const object = await admitAction(core, context, resource, resource, sent, options);
    return { type: 'object', code: 201, object: await resource.create(context, object), schema: kind.root };
  }
  if (verb === 'get' && resource.get) {
    return { type: 'object', code: 200, object: await resource.get(context), schema: kind.root };
  }
  if (verb === 'list' && resource.list) {
    const list = {
      kind: kind.listKind,
      apiVersion: apiVersionOf(kind),
      metadata: {},
      items: await resource.list(context),
    };
    return { type: 'object', code: 200, object: list, schema: kind.list };
  }
  throw verb === 'watch' ? methodNotSupported(context.info, 'watch') : methodNotAllowed();
}

function written(resource: Resource, { created, ...found }: Updated): RequestResult {
  return { type: 'found', code: created ? 201 : 200, resource, found };
}

function required(body: Body | undefined): Body {
  if (!body) throw badRequest('the request has no body');
  return body;
}
