import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod as podKind } from '@kruise/api/core/pod';
import type { Transport } from '@kruise/client/transport';
import { addNode, addPod, isPlaced, namespace, startServer } from './testing/scheduled-cluster.ts';

/** Crash point of a process: before a write is sent, or after it is committed but before the response. */
type Death = { readonly write: number; readonly isSent: boolean };

const never = () => new Promise<never>(() => {});

/** Transport of a process until it is killed: afterwards nothing passes in either direction. */
function untilKilled(transport: Transport, { write, isSent }: Death): Transport {
  let writes = 0;
  return {
    ...transport,
    async request(request) {
      if (writes > write) return never();
      // The process keeps its lease until the end.
      const isWrite = request.method !== 'GET' && !request.path.includes('/leases');
      if (!isWrite || writes++ < write) return transport.request(request);
      if (isSent) await transport.request(request);
      return never();
    },
  };
}

const replica = (identity: string) => ({ name: 'kube-scheduler', namespace: 'kube-system', identity });
const podCount = 40;

for (const write of [0, 1, 7, 60]) {
  for (const isSent of [false, true]) {
    const moment = `${isSent ? 'after' : 'before'} write ${write}`;
    test(`if a leader is killed ${moment}, the next one continues, and no Pod is bound twice`, async (t) => {
      const { client, pass, startScheduler } = await startServer(t);
      const bound: string[] = [];
      const noting = (transport: Transport): Transport => ({
        ...transport,
        async request(request) {
          const answer = await transport.request(request);
          if (request.path.endsWith('/binding')) bound.push(request.path);
          return answer;
        },
      });
      startScheduler({
        leaderElection: replica('first'),
        middleware: (transport) => untilKilled(noting(transport), { write, isSent }),
      });
      await pass(1);
      startScheduler({ leaderElection: replica('second'), middleware: noting });
      // Together, the nodes have exactly enough room for the Pods.
      for (const name of ['a', 'b', 'c', 'd']) await addNode(client, name, { allocatable: { pods: '10' } });
      for (let index = 0; index < podCount; index++) await addPod(client, `p${index}`);
      await pass(60);

      const { items } = await client.list(podKind, { namespace });
      assert.equal(items.filter(isPlaced).length, podCount);
      const counts = Map.groupBy(items, ({ spec }) => spec?.nodeName);
      assert.deepEqual(
        [...counts.values()].map(({ length }) => length),
        [10, 10, 10, 10],
      );
      assert.equal(new Set(bound).size, bound.length, 'each Pod is bound once');
      assert.equal(bound.length, podCount);
    });
  }
}
