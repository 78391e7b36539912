/** Mutants of code that all controllers share: writes and leader election. */
import { configMap } from '@kruise/api/core/configmap';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { createClient } from '@kruise/client/client';
import type { Decision } from '@kruise/client/controller';
import type { Transport } from '@kruise/client/transport';
import { failure, StatusError } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import type { Program } from '../world.ts';
import { conflictingDisk } from './disks.ts';
import { convergence, type Mutant, mutateDecision, mutateTransport } from './mutant.ts';
import { mutateRequests } from './transports.ts';

/** Reports another status in every reconcile, which enqueues the object again. */
function changingStatus() {
  let count = 0;
  return (decision: Decision): Decision => {
    const { status } = decision;
    if (typeof status !== 'object' || status === null) return decision;
    return { ...decision, status: { ...status, collisionCount: ++count } };
  };
}

/** Writes its own object every half minute, whatever happens. */
const periodicWriter: Program = {
  name: 'fidget',
  async run({ life, transportOf }) {
    const client = createClient(transportOf({ username: 'fidget', groups: ['system:masters'] }));
    const metadata = { name: 'fidget', namespace: 'default' };
    for (let count = 0; ; count++) {
      const data = { count: String(count) };
      await client.apply(configMap, { metadata, data }, { fieldManager: 'fidget', force: true });
      await after(life.clock, 30_000);
    }
  },
};

const isManager = ({ name }: Program) => name.startsWith('manager');

/** Reads a lease as if it had no holder. */
function ignoringLeaseHolders(inner: Transport): Transport {
  return mutateRequests(inner, (request, send) => {
    if (request.method !== 'GET' || !request.path.includes('/leases/')) return undefined;
    return send(request).then((answer) => {
      const found = answer.object as { readonly spec?: object };
      return { ...answer, object: { ...found, spec: { ...found.spec, holderIdentity: '' } } };
    });
  });
}

/** Rejects every update, like a server with broken validation. */
function rejectingUpdates(inner: Transport): Transport {
  return mutateRequests(inner, ({ method, path }) => {
    if (method !== 'PUT' && method !== 'PATCH') return undefined;
    return Promise.reject(new StatusError(failure({ code: 422, reason: 'Invalid', message: `${path} is invalid` })));
  });
}

export const shellMutants: readonly Mutant[] = [
  {
    name: 'a CloneSet never reports the same status twice',
    parts: mutateDecision(cloneSet, changingStatus()),
    about: cloneSet,
    caughtBy: 'the write rate of an object is bounded without a change of intent',
    seed: 'm-1',
  },
  {
    name: 'a program writes every half minute forever',
    parts: { programs: (usual) => [...usual, periodicWriter] },
    caughtBy: 'nothing is written after convergence',
    seed: 'm-1',
  },
  {
    name: 'two replicas of kruise-manager lead at the same time',
    parts: mutateTransport(isManager, ignoringLeaseHolders),
    about: cloneSet,
    caughtBy: 'only the leader of a component writes',
    seed: 'm-1',
  },
  {
    name: 'the API server rejects every update',
    parts: mutateTransport(() => true, rejectingUpdates),
    caughtBy: convergence,
    seed: 'm-1',
  },
  {
    name: 'the store answers every update with a conflict',
    parts: { createDisk: conflictingDisk },
    caughtBy: 'a simulation terminates',
    seed: 'm-1',
  },
];
