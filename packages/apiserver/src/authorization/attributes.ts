import { forbidden } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Attributes } from './authorizer.ts';

/** Returns the authorization attributes of a request. */
export function attributesOf(context: RequestContext): Attributes {
  const { info, user } = context;
  return info.isResource ? resourceAttributesOf(context) : { user, verb: info.verb, resource: false, path: info.path };
}

function resourceAttributesOf({ info, user, query }: RequestContext): Extract<Attributes, { resource: true }> {
  const { verb, group, version, plural, subresource, namespace, name } = info;
  const fieldSelector = query.get('fieldSelector');
  const labelSelector = query.get('labelSelector');
  return {
    user,
    verb,
    resource: true,
    group,
    version,
    plural,
    subresource,
    namespace,
    name,
    ...(fieldSelector === null ? {} : { fieldSelector }),
    ...(labelSelector === null ? {} : { labelSelector }),
  };
}

/** Authorizes the creation of an object by a request with another verb. */
export async function authorizeCreate(core: Core, context: RequestContext): Promise<void> {
  const { fieldSelector: _, labelSelector: __, ...attributes } = resourceAttributesOf(context);
  const wanted: Attributes = { ...attributes, verb: 'create' };
  const { verdict, reason } = await core.authorizer.authorize(wanted);
  if (verdict !== 'allow') throw forbiddenError(wanted, reason);
}

/** Creates the Forbidden error, in Kubernetes' words. */
export function forbiddenError(attributes: Attributes, reason: string): Error {
  const suffix = reason === '' ? '' : `: ${reason}`;
  const { user, verb } = attributes;
  const denial = `User ${escaped(user.username)} cannot ${verb}`;
  if (!attributes.resource) {
    return forbidden({ group: '', plural: '' }, '', `${denial} path ${escaped(attributes.path)}${suffix}`);
  }
  const { group, plural, subresource, namespace, name } = attributes;
  const what = subresource === '' ? plural : `${plural}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${escaped(namespace)}`;
  return forbidden(
    { group, plural },
    name,
    `${denial} resource ${escaped(what)} in API group ${escaped(group)} ${where}${suffix}`,
  );
}

const html: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escaped(text: string): string {
  return JSON.stringify(text).replace(/[&<>]/g, (character) => html[character]!);
}
