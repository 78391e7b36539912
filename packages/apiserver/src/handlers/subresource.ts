import { badRequest } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';

import type { KubeObject } from '../object.ts';
import type { Resource, Subresource } from '../resource.ts';
import { admitAction } from './admit.ts';
import { type Body, decodeBody } from './body.ts';
import { methodNotAllowed } from './http-errors.ts';
import { patch } from './patch.ts';
import { put } from './put.ts';
import { readOne } from './read.ts';
import type { RequestResult } from './result.ts';
import { patchView, putView } from './view.ts';
import { writeOptions } from './write-options.ts';

/** Reads a subresource. */
export async function readSubresource(
  core: Core,
  context: RequestContext,
  resource: Resource,
  subresource: Subresource,
): Promise<RequestResult> {
  if (subresource.type === 'action' || subresource.type === 'connect' || !subresource.verbs.includes('get')) {
    throw methodNotAllowed();
  }
  const found = await readOne(core, context, resource);
  if (subresource.type === 'part') return { type: 'found', code: 200, resource, found };
  return {
    type: 'object',
    code: 200,
    object: (subresource.read ?? subresource.toView)(found.object),
    schema: subresource.kind.root,
  };
}

/** Writes a subresource, or executes its action. */
export async function writeSubresource(
  core: Core,
  context: RequestContext,
  resource: Resource,
  subresource: Subresource,
  body: Body | undefined,
): Promise<RequestResult> {
  const { verb, subresource: name } = context.info;
  if (subresource.type === 'connect' || !subresource.verbs.includes(verb)) throw methodNotAllowed();
  if (!body) throw badRequest('the request has no body');
  switch (subresource.type) {
    case 'part': {
      const part = { name, strategy: subresource.strategy };
      const write = verb === 'update' ? put : patch;
      const { created, ...found } = await write(core, context, resource, body, part);
      return { type: 'found', code: created ? 201 : 200, resource, found };
    }
    case 'view': {
      const object =
        verb === 'update'
          ? await putView(core, context, resource, subresource, body)
          : await patchView(core, context, resource, subresource, body);
      return { type: 'object', code: 200, object, schema: subresource.kind.root };
    }
    case 'action': {
      const options = writeOptions(context.query, 'CreateOptions');
      const sent = decodeBody(context, subresource, body, options.fieldValidation) as KubeObject;
      const object = await admitAction(core, context, resource, subresource, sent, options);
      const done = await subresource.act(context, object);
      return { type: 'object', ...done, schema: subresource.kind.root };
    }
  }
}
