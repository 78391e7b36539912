/** The components of a cluster as programs, each with its own way to the server, its own caches and its own lease. */
import { serviceAccountGroups, serviceAccountUsername } from '@kruise/apiserver/service-account-user';
import type { User } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import type { RunOptions } from '@kruise/client/manager';
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

/** What may be unusual about a program. */
export type ProgramOptions = Pick<RunOptions, 'adapt' | 'expectationTimeoutMs'> & {
  /** Several of a kind share a lease. */
  readonly name?: string;
};

/** What every component is run with. */
function partsOf(context: ProcessContext, name: string, who: User, { name: _, ...unusual }: ProgramOptions) {
  const { life, random, transportOf, complain } = context;
  const client = createClient(transportOf(who));
  const told = (fields: object, message: string) => {
    const { error } = fields as { readonly error?: unknown };
    complain(error instanceof Error ? `${message}: ${error.message}` : message);
  };
  const log: Log = { info() {}, warn: told, error: told };
  const leaderElection = { name, namespace: 'kube-system', identity: `${name}-${Math.floor(random.next() * 1e9)}` };
  return { client, clock: life.clock, random, log, leaderElection, ...unusual };
}

/** kube-controller-manager. */
export function controllerManagerProgram(options: ProgramOptions = {}): Program {
  return {
    name: options.name ?? 'controller-manager',
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
      const parts = partsOf(context, 'kube-controller-manager', user('system:kube-controller-manager'), options);
      return runControllerManager({ ...parts, clientOf, settings: { rootAuthorities: 'authorities' } }, never);
    },
  };
}

/** kube-scheduler. */
export function schedulerProgram(options: ProgramOptions = {}): Program {
  const { name = 'scheduler' } = options;
  return {
    name,
    run: (context) =>
      runScheduler(
        { ...partsOf(context, 'kube-scheduler', user('system:kube-scheduler'), options), host: name },
        never,
      ),
  };
}

/** kruise-manager, with all its features. */
export function managerProgram(options: ProgramOptions = {}): Program {
  return {
    name: options.name ?? 'manager',
    run: (context) =>
      runManager(
        {
          ...partsOf(
            context,
            'kruise-manager',
            user('system:serviceaccount:kruise-system:kruise-manager', ['system:masters']),
            options,
          ),
          settings: managerSettings({ gates: featureGates(allFeatureGates) }),
          inProcessWebhooks: context.webhooks,
        },
        never,
      ),
  };
}

/** The control plane as it usually is. */
export function controlPlane(options: ProgramOptions = {}): readonly Program[] {
  return [controllerManagerProgram(options), schedulerProgram(options), managerProgram(options)];
}
