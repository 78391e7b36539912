/**
 * Writes that the API server rejects: once, for a while or permanently. Policies, quotas and webhooks are real objects
 * that a user creates and deletes; validation errors are injected into the server.
 */
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { validatingAdmissionPolicyBinding } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import type { Client } from '@kruise/client/client';
import { admission, allow, deny } from '@kruise/client/webhook';
import { failure, isAlreadyExists, isNotFound, StatusError } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import { pick, type Random, randomInteger } from '@kruise/values/random';
import type { ObservedRequest, World } from './world.ts';

/** Writes that are rejected together. */
type Scope = {
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
};

const workloadGroups = ['apps', 'apps.kruise.io', 'batch'];

const scopes = {
  'the creation of Pods': { operations: ['CREATE'], groups: [''], resources: ['pods'] },
  'updates of Pods': { operations: ['UPDATE'], groups: [''], resources: ['pods', 'pods/resize'] },
  'the status of Pods': { operations: ['UPDATE'], groups: [''], resources: ['pods/status'] },
  'the deletion of Pods': { operations: ['DELETE'], groups: [''], resources: ['pods'] },
  'the status of workloads': { operations: ['UPDATE'], groups: workloadGroups, resources: ['*/status'] },
  'what belongs to workloads': {
    operations: ['CREATE', 'UPDATE'],
    groups: ['', 'apps'],
    resources: ['controllerrevisions', 'replicasets', 'persistentvolumeclaims'],
  },
} as const satisfies { readonly [scope: string]: Scope };

export type RejectedScope = keyof typeof scopes;
export const rejectedScopes = Object.keys(scopes) as readonly RejectedScope[];

const rejectionKinds = [
  'is refused by validation',
  'is refused by a policy',
  'is forbidden by a policy',
  'is denied by a webhook',
  'waits for a webhook that is down',
  'exceeds a quota',
] as const;

export type RejectionKind = (typeof rejectionKinds)[number];

export type Rejection = {
  readonly kind: RejectionKind;
  readonly target: RejectedScope;
  readonly atMs: number;
  readonly lastsMs: number;
};

/** Duration of a permanent rejection: longer than every simulation. */
export const permanentMs = 24 * 3_600_000;

/** Duration of a rejection of one request, if the mechanism can count, and of a few requests otherwise. */
const onceMs = 500;

/** One of so many simulations has rejected writes. */
const simulationsPerRejection = 3;

export function isRejection(fault: { readonly kind: string }): fault is Rejection {
  return (rejectionKinds as readonly string[]).includes(fault.kind);
}

/** Draws the rejections of a scenario; most simulations have none. */
export function drawRejections(random: Random, durationMs: number, longestMs: number): readonly Rejection[] {
  if (randomInteger(random, simulationsPerRejection) !== 0) return [];
  return Array.from({ length: 1 + randomInteger(random, 2) }, (): Rejection => {
    const target = pick(random, rejectedScopes);
    const isQuota = target === 'the creation of Pods';
    const kinds = rejectionKinds.filter((kind) => kind !== 'exceeds a quota' || isQuota);
    const lastsMs = pick(random, [onceMs, 1 + randomInteger(random, longestMs), permanentMs]);
    return { kind: pick(random, kinds), target, atMs: randomInteger(random, durationMs), lastsMs };
  });
}

/** Rejects writes from now on, and stops after the duration. */
export function rejectWrites(world: World, rejection: Rejection, client: () => Client | undefined): void {
  const { kind, target, lastsMs } = rejection;
  const scope: Scope = scopes[target];
  const name = `refusal-${rejection.atMs}`;
  const isOnce = lastsMs <= onceMs;
  /** Calls `end` after the duration, unless the rejection is permanent. */
  const ended = (end: () => void) => {
    if (lastsMs < permanentMs) world.clock.setTimer(lastsMs, end);
  };
  /** Creates an object and deletes it at the end; retries both until they succeed. */
  const during = (create: (client: Client) => Promise<unknown>, remove: (client: Client) => Promise<unknown>) => {
    const created = persist(world, client, create);
    ended(() => void created.then(() => persist(world, client, remove)));
  };
  switch (kind) {
    case 'is refused by validation': {
      const stop = world.rejectRequests((observed) => {
        if (!isInScope(observed, scope)) return undefined;
        if (isOnce) stop();
        const message = `${observed.request.path} is invalid: spec: Forbidden: refused by the simulation`;
        return new StatusError(failure({ code: 422, reason: 'Invalid', message }));
      });
      ended(stop);
      return;
    }
    case 'is refused by a policy':
    case 'is forbidden by a policy': {
      const reason = kind === 'is forbidden by a policy' ? 'Forbidden' : 'Invalid';
      during(
        async (client) => {
          const spec = {
            matchConstraints: { resourceRules: [ruleOf(scope)] },
            validations: [{ expression: "request.userInfo.username == 'user'", message: 'refused', reason }],
          };
          await existing(client.create(validatingAdmissionPolicy, { metadata: { name }, spec }));
          const binding = { policyName: name, validationActions: ['Deny' as const] };
          await existing(client.create(validatingAdmissionPolicyBinding, { metadata: { name }, spec: binding }));
        },
        async (client) => {
          await missing(client.delete(validatingAdmissionPolicyBinding, { name }));
          await missing(client.delete(validatingAdmissionPolicy, { name }));
        },
      );
      return;
    }
    case 'is denied by a webhook':
    case 'waits for a webhook that is down': {
      const place = `refusals/refuser/${name}`;
      let isUsed = false;
      const denyAll = admission(({ userInfo }) => {
        if (userInfo.username === 'user' || (isOnce && isUsed)) return allow();
        isUsed = true;
        return deny('refused by the simulation');
      });
      if (kind === 'is denied by a webhook') world.setWebhook(place, denyAll);
      const service = { namespace: 'refusals', name: 'refuser', path: `/${name}` };
      const matchConditions = [{ name: 'not-users', expression: "request.userInfo.username != 'user'" }];
      during(
        (client) =>
          existing(
            client.create(validatingWebhookConfiguration, {
              metadata: { name },
              webhooks: [
                {
                  name: `${name}.example.com`,
                  rules: [ruleOf(scope)],
                  clientConfig: { service },
                  failurePolicy: 'Fail',
                  matchConditions,
                  sideEffects: 'None',
                  admissionReviewVersions: ['v1'],
                },
              ],
            }),
          ),
        (client) => missing(client.delete(validatingWebhookConfiguration, { name })),
      );
      return;
    }
    case 'exceeds a quota': {
      const metadata = { name, namespace: 'default' };
      during(
        (client) => existing(client.create(resourceQuota, { metadata, spec: { hard: { pods: '2' } } })),
        (client) => missing(client.delete(resourceQuota, metadata)),
      );
      return;
    }
  }
}

const retryMs = 500;

async function persist(
  world: World,
  client: () => Client | undefined,
  attempt: (client: Client) => Promise<unknown>,
): Promise<void> {
  for (;;) {
    const found = client();
    try {
      if (found) return void (await attempt(found));
    } catch {
      // The API server may be down or respond too late. The attempt is repeated until it succeeds.
    }
    await after(world.clock, retryMs);
  }
}

async function existing(created: Promise<unknown>): Promise<void> {
  await created.catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function missing(deleted: Promise<unknown>): Promise<void> {
  await deleted.catch((error) => {
    if (!isNotFound(error)) throw error;
  });
}

function ruleOf({ operations, groups, resources }: Scope) {
  return {
    operations: [...operations],
    apiGroups: [...groups],
    apiVersions: ['*'],
    resources: [...resources],
    scope: 'Namespaced' as const,
  };
}

const operationOf: { readonly [method: string]: string } = {
  POST: 'CREATE',
  PUT: 'UPDATE',
  PATCH: 'UPDATE',
  DELETE: 'DELETE',
};

/** Returns whether a request of a component is in a scope. */
function isInScope({ user, request }: ObservedRequest, { operations, groups, resources }: Scope): boolean {
  if (user.username === 'user' || !(operations as readonly string[]).includes(operationOf[request.method] ?? ''))
    return false;
  const [, group = '', resource = '', subresource] =
    /^\/api(?:s\/([^/]+))?\/[^/]+\/namespaces\/[^/]+\/([^/]+)(?:\/[^/]+(?:\/([^/]+))?)?$/.exec(request.path) ?? [];
  if (!groups.includes(group)) return false;
  return subresource === undefined
    ? resources.includes(resource)
    : resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}
