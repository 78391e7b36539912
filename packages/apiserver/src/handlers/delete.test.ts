import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer } from '../testing/test-server.ts';

const namespace = 'default';

const scenarios = [
  { name: 'an unscheduled Pod', spec: {}, graces: [undefined], seen: ['MODIFIED 0', 'DELETED 0'] },
  {
    name: 'a Pod with a grace period of zero',
    spec: { nodeName: 'n' },
    graces: [0],
    seen: ['MODIFIED 0', 'DELETED 0'],
  },
  {
    name: 'a Pod with a grace period, then zero',
    spec: { nodeName: 'n' },
    graces: [undefined, 0],
    seen: ['MODIFIED 30', 'MODIFIED 0', 'DELETED 0'],
  },
];
for (const { name, spec, graces, seen } of scenarios) {
  test(`watchers of ${name} see its grace period before its deletion`, async () => {
    await using server = await startTestServer();
    const { client, core } = server;
    await client.create(serviceAccount, { metadata: { name: 'default', namespace } } as never);
    await client.create(pod, {
      metadata: { name: 'p', namespace },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    } as never);
    const { cache, prefix } = core.resources.find('', 'v1', 'pods')!.storage;
    const events: string[] = [];
    cache.listAndWatch(
      { keyPrefix: prefix },
      {
        signal: core.signal,
        receive: ({ type, cached }) => void events.push(`${type} ${cached.object.metadata.deletionGracePeriodSeconds}`),
        end() {},
      },
    );
    for (const gracePeriodSeconds of graces) {
      await client.delete(
        pod,
        { name: 'p', namespace },
        gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
      );
    }
    assert.deepEqual(events, seen);
  });
}
