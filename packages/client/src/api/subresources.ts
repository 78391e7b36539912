import { type TokenRequest, tokenRequest } from '@kruise/api/authentication/tokenrequest';
import { type Scale, scale as scaleKind } from '@kruise/api/autoscaling/scale';
import { binding } from '@kruise/api/core/binding';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { eviction } from '@kruise/api/policy/eviction';
import type { Kind } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { type Client, type DeleteOptions, pathOf, type Reference, type WriteOptions } from './client.ts';

type Options = Omit<WriteOptions, 'subresource'>;

/** Gets the Scale of a workload of any kind. */
export async function getScale(client: Client, kind: Kind, reference: Reference, signal?: AbortSignal): Promise<Scale> {
  const { object } = await client.transport.request({
    method: 'GET',
    path: pathOf(kind, reference, 'scale'),
    ...(signal ? { signal } : {}),
  });
  // The scale subresource of every kind is a Scale.
  return object as Scale;
}

/**
 * Sets the replicas of a workload through its scale subresource.
 *
 * ```ts
 * await setScale(client, deployment, { namespace: 'default', name: 'web' }, 3);
 * ```
 */
export async function setScale(
  client: Client,
  kind: Kind,
  reference: Reference,
  replicas: number,
  options: Options = {},
): Promise<Scale> {
  const { object } = await client.transport.request({
    method: 'PATCH',
    path: pathOf(kind, reference, 'scale'),
    contentType: 'application/merge-patch+json',
    query: { fieldManager: options.fieldManager, dryRun: options.dryRun ? 'All' : undefined },
    body: { kind: scaleKind.kind, apiVersion: apiVersionOf(scaleKind), spec: { replicas } },
    ...(options.signal ? { signal: options.signal } : {}),
  });
  return object as Scale;
}

/**
 * Evicts a Pod. Throws 429 (TooManyRequests) if the eviction would violate a PodDisruptionBudget.
 *
 * ```ts
 * await evict(client, { namespace: 'default', name: 'web-0' }, { gracePeriodSeconds: 30 });
 * ```
 */
export async function evict(
  client: Client,
  reference: Reference,
  { signal, ...deleteOptions }: DeleteOptions = {},
): Promise<void> {
  const { dryRun, ...rest } = deleteOptions;
  const subresource = { name: 'eviction', kind: eviction };
  const body = { metadata: { ...reference }, deleteOptions: rest };
  await client.post(pod, reference, subresource, body, {
    ...(dryRun ? { dryRun } : {}),
    ...(signal ? { signal } : {}),
  });
}

/** Binds a Pod to a node, as a scheduler does. With a uid, only that Pod is bound. */
export async function bind(
  client: Client,
  reference: Reference & { readonly uid?: string },
  node: string,
  options?: Options,
): Promise<void> {
  const body = { metadata: { ...reference }, target: { kind: 'Node', name: node } };
  await client.post(pod, reference, { name: 'binding', kind: binding }, body, options);
}

/** Requests a token of a service account. */
export async function requestToken(
  client: Client,
  account: Reference,
  spec: TokenRequest['spec'],
  options?: Options,
): Promise<TokenRequest> {
  return client.post(serviceAccount, account, { name: 'token', kind: tokenRequest }, { spec }, options);
}
