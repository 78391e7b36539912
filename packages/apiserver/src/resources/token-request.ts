import { type TokenRequestSpec, tokenRequest } from '@kruise/api/authentication/tokenrequest';
import { badRequest, conflict, invalid, notFound } from '@kruise/machinery/status';
import { type Cause, invalid as invalidField } from '@kruise/schema/field-error';
import { formatTime } from '@kruise/values/time';
import type { Authentication } from '../authentication/authentication.ts';
import type { TokenObjects } from '../authentication/service-account-tokens.ts';
import { type Bound, identityOf } from '../authentication/token-issuer.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import { find } from '../objects/stored-objects.ts';
import type { Subresource } from '../resource.ts';
import { trackingOf } from '../reviews/review.ts';
import { serializerOf } from './serializer.ts';

const defaultSeconds = 3600;
const leastSeconds = 600;
const mostSeconds = 2 ** 32;
/** Expiration that kubelets request for Pods that may not refresh their token: such tokens are valid for a year. */
const extendedTokenRequestSeconds = 3607;
const yearSeconds = 365 * 24 * 3600;

type Spec = TokenRequestSpec & { readonly expirationSeconds: number };

/** `serviceaccounts/token`: issues a service account token. */
export function tokenSubresource(core: Core, authentication: Authentication): Subresource {
  const { objects, issuer, audiences: apiAudiences } = authentication;
  const serializer = serializerOf(tokenRequest, {
    default(draft) {
      const spec = (draft.spec ??= {}) as { expirationSeconds?: number };
      spec.expirationSeconds ??= defaultSeconds;
    },
  });
  const track = trackingOf(tokenRequest, serializer);

  async function act(context: RequestContext, sent: KubeObject) {
    const { namespace, name } = context.info;
    const request = track(context, sent, 'token');
    refuse(name, [...metadataFaults(request, namespace, name)]);
    await core.feed.waitForCurrent();
    const account = find(objects.serviceAccounts, namespace, name);
    if (!account) throw notFound({ group: '', plural: 'serviceaccounts' }, name);
    const requested = request.spec as Spec;
    const spec = { ...requested, audiences: requested.audiences?.length ? requested.audiences : apiAudiences };
    refuse('', [...lifetimeFaults(spec.expirationSeconds)]);
    const made = serializer.canonical({
      ...request,
      metadata: { ...request.metadata, name, namespace, creationTimestamp: time(core.clock.now()) },
      spec,
      status: { token: '', expirationTimestamp: null },
    });

    const bound = boundObject(objects, namespace, name, spec);
    const isExtended =
      bound.pod !== undefined &&
      spec.expirationSeconds === extendedTokenRequestSeconds &&
      spec.audiences.every((audience) => apiAudiences.includes(audience));
    const token = await issuer.issue({
      account,
      audiences: spec.audiences,
      expirationSeconds: isExtended ? yearSeconds : spec.expirationSeconds,
      ...(isExtended ? { warnAfterSeconds: spec.expirationSeconds } : {}),
      bound,
    });
    const expirationTimestamp = time(core.clock.now() + spec.expirationSeconds * 1000);
    return { code: 201, object: { ...made, status: { token, expirationTimestamp } } };
  }

  return { type: 'action', kind: tokenRequest, verbs: ['create'], serializer, act };
}

function time(ms: number): string {
  return formatTime(ms);
}

function refuse(name: string, causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalid(tokenRequest, name, causes);
}

function* metadataFaults({ metadata }: KubeObject, namespace: string, name: string): Generator<Cause> {
  if (metadata.name && metadata.name !== name) {
    yield invalidField('metadata.name', metadata.name, 'must match the service account name if specified');
  } else if (metadata.namespace && metadata.namespace !== namespace) {
    yield invalidField(
      'metadata.namespace',
      metadata.namespace,
      'must match the service account namespace if specified',
    );
  }
}

function* lifetimeFaults(seconds: number): Generator<Cause> {
  const field = 'spec.expirationSeconds';
  if (seconds < leastSeconds) yield invalidField(field, seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > mostSeconds) yield invalidField(field, seconds, 'may not specify a duration larger than 2^32 seconds');
}

/** Returns the object that a token is bound to, which must exist and have the requested uid. */
function boundObject(objects: TokenObjects, namespace: string, account: string, { boundObjectRef }: Spec): Bound {
  if (!boundObjectRef) return {};
  const { kind = '', apiVersion = '', name = '', uid } = boundObjectRef;
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
  const bound = group === '' ? lookUp(objects, namespace, account, kind, name) : undefined;
  if (!bound) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  if (uid && uid !== bound.uid) {
    throw conflict(
      { group, plural: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return bound.bound;
}

function lookUp(
  objects: TokenObjects,
  namespace: string,
  account: string,
  kind: string,
  name: string,
): { readonly bound: Bound; readonly uid: string | undefined } | undefined {
  const existing = (found: KubeObject | undefined, plural: string): KubeObject => {
    if (!found) throw notFound({ group: '', plural }, name);
    return found;
  };
  switch (kind) {
    case 'Pod': {
      const pod = existing(find(objects.pods, namespace, name), 'pods');
      const { serviceAccountName, nodeName } = pod.spec as { serviceAccountName?: string; nodeName?: string };
      if (serviceAccountName !== account) {
        throw badRequest(
          `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
        );
      }
      const node = nodeName ? find(objects.nodes, '', nodeName) : undefined;
      const where = nodeName ? { node: node ? identityOf(node) : { name: nodeName } } : {};
      return { bound: { pod, ...where }, uid: pod.metadata.uid };
    }
    case 'Secret': {
      const secret = existing(find(objects.secrets, namespace, name), 'secrets');
      return { bound: { secret }, uid: secret.metadata.uid };
    }
    case 'Node': {
      const node = existing(find(objects.nodes, '', name), 'nodes');
      return { bound: { node: identityOf(node) }, uid: node.metadata.uid };
    }
    default:
      return undefined;
  }
}
