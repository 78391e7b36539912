/** Asks the API server who someone is and what they may see, on behalf of a component that serves pages of its own. */
import { tokenReview } from '@kruise/api/authentication/tokenreview';
import { subjectAccessReview } from '@kruise/api/authorization/subjectaccessreview';
import type { Client } from './client.ts';
import type { Access } from './health.ts';

/**
 * Who may read a page: whoever shows a token that the server knows, and is granted `get` on the page's path. The
 * client must be allowed to ask (`system:auth-delegator`).
 *
 * ```ts
 * await serveHealth({ port: 10257, tls, metrics, mayRead: delegatedAuthorization(client) });
 * ```
 */
export function delegatedAuthorization(
  client: Client,
): (path: string, authorization: string | undefined) => Promise<Access> {
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
