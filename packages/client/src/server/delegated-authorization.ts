/**
 * Delegated authentication and authorization: TokenReview and SubjectAccessReview for components that serve
 * non-resource endpoints of their own.
 */
import { tokenReview } from '@kruise/api/authentication/tokenreview';
import { subjectAccessReview } from '@kruise/api/authorization/subjectaccessreview';
import type { Client } from '../api/client.ts';
import type { AccessDecision } from './health.ts';

/**
 * Returns an authorizer for non-resource endpoints: the caller needs a valid bearer token and the permission to `get`
 * the path. The client needs the ClusterRole `system:auth-delegator`.
 *
 * ```ts
 * await serveHealth({ port: 10257, tls, metrics, authorize: delegatedAuthorization(client) });
 * ```
 */
export function delegatedAuthorization(
  client: Client,
): (path: string, authorization: string | undefined) => Promise<AccessDecision> {
  return async (path, authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'unknown';
    const { status: identity } = await client.create(tokenReview, { metadata: {}, spec: { token } });
    if (!identity?.authenticated) return 'unknown';
    const { username = '', groups = [], uid = '', extra } = identity.user ?? {};
    const { status } = await client.create(subjectAccessReview, {
      metadata: {},
      spec: {
        user: username,
        groups,
        uid,
        ...(extra ? { extra } : {}),
        nonResourceAttributes: { path, verb: 'get' },
      },
    });
    return status?.allowed ? 'allowed' : 'forbidden';
  };
}
