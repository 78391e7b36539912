/** Authentication and authorization of the kubelet API, delegated to the API server. */
import { createHash } from 'node:crypto';
import { tokenReview } from '@kruise/api/authentication/tokenreview';
import { subjectAccessReview } from '@kruise/api/authorization/subjectaccessreview';
import type { Client } from '@kruise/client/client';
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { RequestTarget } from './request-target.ts';

/** An authenticated user. */
export type Caller = { readonly name: string; readonly groups: readonly string[]; readonly uid?: string };

/** Verb and node subresources of a request, for authorization. */
export type Access = { readonly verb: string; readonly subresources: readonly string[] };

/** Authentication and authorization of requests. */
export type AccessControl = {
  /** Returns the user of a token; undefined if the token is not valid. */
  callerOf(token: string): Promise<Caller | undefined>;
  allows(caller: Caller, access: Access): Promise<boolean>;
};

const verbs: { readonly [method: string]: string } = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Returns the access a request needs. One allowed subresource is enough. */
export function accessOf(method: string, { segments: [first = ''] }: RequestTarget): Access {
  return { verb: verbs[method] ?? '', subresources: subresourcesOf(first) };
}

function subresourcesOf(first: string): readonly string[] {
  switch (first) {
    case 'stats':
    case 'metrics':
    case 'checkpoint':
    case 'statusz':
      return [first];
    case 'logs':
      return ['log'];
    case 'flagz':
      return ['configz'];
    case 'pods':
    case 'runningpods':
      return ['pods', 'proxy'];
    case 'healthz':
    case 'configz':
      return [first, 'proxy'];
    default:
      return ['proxy'];
  }
}

const identityMs = 120_000;
const allowedMs = 300_000;
const deniedMs = 30_000;
const maxCacheEntries = 10_000;

/** Creates an access control that asks the API server and caches the decisions. */
export function delegatedAccess(client: Client, clock: Clock, nodeName: string): AccessControl {
  const identities = createExpiringCache<Caller | undefined>(clock);
  const decisions = createExpiringCache<boolean>(clock);

  async function reviewAccess({ name, groups, uid }: Caller, verb: string, subresource: string): Promise<boolean> {
    const { status } = await client.create(subjectAccessReview, {
      metadata: {},
      spec: {
        user: name,
        groups: [...groups],
        ...(uid ? { uid } : {}),
        resourceAttributes: { verb, version: 'v1', resource: 'nodes', name: nodeName, subresource },
      },
    });
    return status?.allowed ?? false;
  }

  return {
    // A digest bounds the size of an entry, however long the token is, and keeps tokens out of memory dumps.
    callerOf: (token) =>
      identities(createHash('sha256').update(token).digest('base64'), async () => {
        const { status } = await client.create(tokenReview, { metadata: {}, spec: { token } });
        const { username = '', groups = [], uid } = status?.user ?? {};
        const caller = status?.authenticated ? { name: username, groups, ...(uid ? { uid } : {}) } : undefined;
        return [caller, identityMs];
      }),
    async allows(caller, { verb, subresources }) {
      for (const subresource of subresources) {
        const key = JSON.stringify([caller.name, caller.groups, verb, subresource]);
        const allowed = await decisions(key, async () => {
          const isAllowed = await reviewAccess(caller, verb, subresource);
          return [isAllowed, isAllowed ? allowedMs : deniedMs];
        });
        if (allowed) return true;
      }
      return false;
    },
  };
}

type ExpiringCache<T> = (key: string, find: () => Promise<readonly [value: T, forMs: number]>) => Promise<T>;

/** Creates a cache whose entries expire after the time that each lookup returns. */
function createExpiringCache<T>(clock: Clock): ExpiringCache<T> {
  const entries = new Map<string, { readonly value: T; readonly until: Instant }>();
  return async (key, find) => {
    const found = entries.get(key);
    if (found && clock.now() < found.until) return found.value;
    const [value, forMs] = await find();
    entries.delete(key);
    entries.set(key, { value, until: clock.now() + forMs });
    if (entries.size > maxCacheEntries) entries.delete(entries.keys().next().value!);
    return value;
  };
}
