/** The components of a cluster as programs, each with its own way to the server, its own caches and its own lease. */
import { serviceAccountGroups, serviceAccountUsername } from '@kruise/apiserver/service-account-user';
import type { User } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import { runControllerManager } from '@kruise/controlplane/controllers/controller-manager';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { allFeatureGates, featureGates } from '@kruise/manager/feature-gates';
import { runManager } from '@kruise/manager/manager';
import { managerSettings } from '@kruise/manager/settings';
import type { ProcessContext, Program } from './world.ts';

/** Nobody ends a process of these worlds in good order. */
const never = new AbortController().signal;

function user(username: string, groups: readonly string[] = []): User {
  return { username, groups: [...groups, 'system:authenticated'] };
}

function account(namespace: string, name: string): User {
  return user(serviceAccountUsername(namespace, name), serviceAccountGroups(namespace));
}

/** What every component is run with. */
function partsOf(context: ProcessContext, name: string, who: User) {
  const { life, random, transportOf, complain } = context;
  const client = createClient(transportOf(who));
  const told = (fields: object, message: string) => {
    const { error } = fields as { readonly error?: unknown };
    complain(error instanceof Error ? `${message}: ${error.message}` : message);
  };
  const log: Log = { info() {}, warn: told, error: told };
  const leaderElection = { name, namespace: 'kube-system', identity: `${name}-${Math.floor(random.next() * 1e9)}` };
  return { client, clock: life.clock, random, log, leaderElection };
}

/** kube-controller-manager; several of them share a lease. */
export function controllerManagerProgram(name = 'controller-manager'): Program {
  return {
    name,
    run: (context) => {
      const clients = new Map<string, Client>();
      const clientOf = (serviceAccount: string): Client => {
        let client = clients.get(serviceAccount);
        if (!client) {
          client = createClient(context.transportOf(account('kube-system', serviceAccount)));
          clients.set(serviceAccount, client);
        }
        return client;
      };
      const parts = partsOf(context, 'kube-controller-manager', user('system:kube-controller-manager'));
      return runControllerManager({ ...parts, clientOf, settings: { rootAuthorities: 'authorities' } }, never);
    },
  };
}

/** kube-scheduler. */
export function schedulerProgram(name = 'scheduler'): Program {
  return {
    name,
    run: (context) =>
      runScheduler({ ...partsOf(context, 'kube-scheduler', user('system:kube-scheduler')), host: name }, never),
  };
}

/** kruise-manager, with all its features. */
export function managerProgram(name = 'manager'): Program {
  return {
    name,
    run: (context) =>
      runManager(
        {
          ...partsOf(
            context,
            'kruise-manager',
            user('system:serviceaccount:kruise-system:kruise-manager', ['system:masters']),
          ),
          settings: managerSettings({ gates: featureGates(allFeatureGates) }),
          inProcessWebhooks: context.webhooks,
        },
        never,
      ),
  };
}
