import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import type { Client, WatchOptions } from '@kruise/client/client';
import { eachPage, listAll } from '@kruise/client/pages';
import { bind, getScale, requestToken, setScale } from '@kruise/client/subresources';
import type { WatchEvent } from '@kruise/client/transport';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound, StatusError } from '@kruise/machinery/status';
import { startTestServer, type TestServer } from './testing/test-server.ts';

// One suite for both transports: their behaviour and error texts must be equal.
for (const transportName of ['in process', 'over HTTPS'] as const) {
  describe(transportName, () => {
    let server: TestServer;
    let client: Client;
    let spaces = 0;

    before(async () => {
      server = await startTestServer({ https: transportName === 'over HTTPS' });
      client = server.client;
    });
    after(() => server.close());

    /** Creates a namespace for a test. */
    async function space(): Promise<string> {
      const name = `test-${++spaces}`;
      await client.create(namespace, { metadata: { name } });
      return name;
    }
    const settings = (place: string, name: string, data = {}): Partial<ConfigMap> => ({
      metadata: { name, namespace: place },
      data,
    });

    test('create returns the completed object', async () => {
      const place = await space();
      const created = await client.create(configMap, settings(place, 'a', { key: 'ä€😀' }));
      assert.match(created.metadata.uid ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(created.kind, 'ConfigMap');
      assert.deepEqual(created.data, { key: 'ä€😀' });
      const { data, metadata } = await client.get(configMap, { name: 'a', namespace: place });
      assert.deepEqual([data, metadata.resourceVersion], [created.data, created.metadata.resourceVersion]);
    });

    const refusals: readonly {
      readonly name: string;
      readonly is: (error: unknown) => boolean;
      readonly message: RegExp;
      readonly act: (place: string) => Promise<unknown>;
    }[] = [
      {
        name: 'get of a missing object fails with NotFound',
        is: isNotFound,
        message: /^configmaps "none" not found$/,
        act: (place) => client.get(configMap, { name: 'none', namespace: place }),
      },
      {
        name: 'create of an existing name fails with AlreadyExists',
        is: isAlreadyExists,
        message: /^configmaps "a" already exists$/,
        act: async (place) => {
          await client.create(configMap, settings(place, 'a'));
          await client.create(configMap, settings(place, 'a'));
        },
      },
      {
        name: 'create of an invalid object fails with Invalid',
        is: isInvalid,
        message: /^ConfigMap "a" is invalid: data\[a b\]: Invalid value: "a b"/,
        act: (place) => client.create(configMap, settings(place, 'a', { 'a b': '' })),
      },
      {
        name: 'a stale update fails with Conflict',
        is: isConflict,
        message: /the object has been modified/,
        act: async (place) => {
          const seen = await client.create(configMap, settings(place, 'a'));
          await client.update(configMap, { ...seen, data: { by: 'another' } });
          await client.update(configMap, { ...seen, data: { by: 'us' } });
        },
      },
      {
        name: 'a denied request fails with Forbidden',
        is: isForbidden,
        message:
          /^configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace/,
        act: (place) => server.clientOf({ username: 'nobody', groups: [] }).list(configMap, { namespace: place }),
      },
      {
        name: 'an unknown resource fails with NotFound',
        is: isNotFound,
        message: /^the server could not find the requested resource \(404 page not found\)$/,
        act: () => client.transport.request({ method: 'GET', path: '/apis/example.com/v1/none' }),
      },
      {
        name: 'strict field validation rejects an unknown field',
        is: (error) => error instanceof StatusError && error.code === 400,
        message: /strict decoding error: unknown field "bogus"/,
        act: (place) =>
          client.create(configMap, { ...settings(place, 'a'), ...{ bogus: 1 } }, { fieldValidation: 'Strict' }),
      },
    ];
    for (const { name, is, message, act } of refusals) {
      test(name, async () => {
        const place = await space();
        await assert.rejects(act(place), (error: Error) => {
          assert.ok(is(error), error.message);
          assert.match(error.message, message);
          return true;
        });
      });
    }

    test('warnings reach the client in any script', async () => {
      const place = await space();
      const { warnings } = await client.transport.request({
        method: 'POST',
        path: `/api/v1/namespaces/${place}/configmaps`,
        query: { fieldValidation: 'Warn' },
        body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, 'schlüssel "€"': 1 },
      });
      assert.deepEqual(warnings, [String.raw`unknown field "schlüssel \"€\""`]);
    });

    test('each patch type changes fields', async () => {
      const place = await space();
      const reference = { name: 'a', namespace: place };
      await client.create(configMap, settings(place, 'a', { one: '1', two: '2' }));
      await client.patch(configMap, reference, { data: { one: null } }, { type: 'merge' });
      await client.patch(configMap, reference, { data: { three: '3' } }, { type: 'strategic' });
      const operations = [{ op: 'replace', path: '/data/two', value: '22' }];
      const { data } = await client.patch(configMap, reference, operations, { type: 'json' });
      assert.deepEqual(data, { two: '22', three: '3' });
    });

    test('apply detects field conflicts', async () => {
      const place = await space();
      const wanted = settings(place, 'a', { key: 'ours' });
      await client.apply(configMap, wanted, { fieldManager: 'one' });
      const theirs = settings(place, 'a', { key: 'theirs' });
      await assert.rejects(client.apply(configMap, theirs, { fieldManager: 'two' }), isConflict);
      const { data } = await client.apply(configMap, theirs, { fieldManager: 'two', force: true });
      assert.deepEqual(data, { key: 'theirs' });
    });

    test('a dry run stores nothing', async () => {
      const place = await space();
      await client.create(configMap, settings(place, 'a'), { dryRun: true });
      await assert.rejects(client.get(configMap, { name: 'a', namespace: place }), isNotFound);
    });

    test('an update is retried after a conflict', async () => {
      const place = await space();
      const reference = { name: 'a', namespace: place };
      await client.create(configMap, settings(place, 'a', { count: '0' }));
      const increment = (found: ConfigMap) => ({ ...found, data: { count: String(Number(found.data!.count) + 1) } });
      await Promise.all(Array.from({ length: 5 }, () => updateWithRetry(client, configMap, reference, increment)));
      assert.equal((await client.get(configMap, reference)).data?.count, '5');
    });

    test('a paginated list has one revision', async () => {
      const place = await space();
      for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(configMap, settings(place, name));
      const pages: (string | undefined)[][] = [];
      for await (const { items } of eachPage(client, configMap, { namespace: place, limit: 2 })) {
        pages.push(items.map(({ metadata }) => metadata.name));
        if (pages.length === 1) await client.delete(configMap, { name: 'e', namespace: place });
      }
      assert.deepEqual(pages, [['a', 'b'], ['c', 'd'], ['e']]);
      const { items } = await listAll(client, configMap, { namespace: place, limit: 3 });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ['a', 'b', 'c', 'd'],
      );
    });

    test('a list selects by label', async () => {
      const place = await space();
      await client.create(configMap, { metadata: { name: 'a', namespace: place, labels: { app: 'x' } } });
      await client.create(configMap, { metadata: { name: 'b', namespace: place, labels: { app: 'y' } } });
      const { items } = await client.list(configMap, { namespace: place, labelSelector: 'app in (y)' });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ['b'],
      );
    });

    /** Formats the events of a watch until the expected last one. */
    async function watched(options: WatchOptions, until: string): Promise<string[]> {
      const seen: string[] = [];
      for await (const event of client.watch(configMap, options)) {
        seen.push(formatEvent(event));
        if (seen.at(-1) === until) break;
      }
      return seen;
    }
    const formatEvent = ({ type, object }: WatchEvent<ConfigMap>) =>
      [type, object.metadata.name, ...Object.values(object.data ?? {})].join(' ');

    test('a watch from a revision is ordered, without gaps or duplicates', async () => {
      const place = await space();
      const { metadata } = await client.list(configMap, { namespace: place });
      const watching = watched({ namespace: place, resourceVersion: metadata.resourceVersion! }, 'DELETED a 2');
      await client.create(configMap, settings(place, 'a', { count: '1' }));
      await client.create(configMap, settings(place, 'b'));
      await client.patch(configMap, { name: 'a', namespace: place }, { data: { count: '2' } }, { type: 'merge' });
      await client.delete(configMap, { name: 'a', namespace: place });
      const all = ['ADDED a 1', 'ADDED b', 'MODIFIED a 2', 'DELETED a 2'];
      assert.deepEqual(await watching, all);
      const { resourceVersion } = (await client.get(configMap, { name: 'b', namespace: place })).metadata;
      assert.deepEqual(
        await watched({ namespace: place, resourceVersion: resourceVersion! }, 'DELETED a 2'),
        all.slice(2),
      );
    });

    test('a watch delivers objects of megabytes, with multi-byte characters', async () => {
      const place = await space();
      const { metadata } = await client.list(configMap, { namespace: place });
      const large = { text: '€😀'.repeat(100_000) };
      const { resourceVersion = '' } = metadata;
      const watching = watched({ namespace: place, resourceVersion }, 'ADDED last');
      await client.create(configMap, settings(place, 'large', large));
      await client.create(configMap, settings(place, 'last'));
      assert.deepEqual(await watching, [`ADDED large ${large.text}`, 'ADDED last']);
    });

    test('an aborted watch ends without an error', async () => {
      const place = await space();
      await client.create(configMap, settings(place, 'a'));
      const stop = new AbortController();
      const seen: string[] = [];
      for await (const event of client.watch(configMap, { namespace: place, signal: stop.signal })) {
        seen.push(formatEvent(event));
        stop.abort();
      }
      for await (const event of client.watch(configMap, { namespace: place, signal: stop.signal }))
        seen.push(formatEvent(event));
      assert.deepEqual(seen, ['ADDED a']);
    });

    test('an invalid watch fails before its first event', async () => {
      const watch = client.watch(configMap, { labelSelector: '!!' });
      await assert.rejects(
        watch[Symbol.asyncIterator]().next(),
        (error) => error instanceof StatusError && error.code === 400,
      );
    });

    test('an aborted request throws the abort reason', async () => {
      const reason = new Error('enough');
      await assert.rejects(client.list(configMap, { signal: AbortSignal.abort(reason) }), reason);
    });

    test('delete supports preconditions and collections', async () => {
      const place = await space();
      await client.create(configMap, settings(place, 'a'));
      await client.create(configMap, settings(place, 'b'));
      const reference = { name: 'a', namespace: place };
      await assert.rejects(client.delete(configMap, reference, { preconditions: { uid: 'another' } }), isConflict);
      await client.deleteCollection(configMap, { namespace: place });
      assert.deepEqual((await client.list(configMap, { namespace: place })).items, []);
    });

    test('subresources scale, bind and issue tokens', async () => {
      const place = await space();
      const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      const reference = { name: 'a', namespace: place };
      await client.create(deployment, {
        metadata: reference,
        spec: { selector: { matchLabels: { app: 'x' } }, template },
      });
      assert.equal((await getScale(client, deployment, reference)).spec?.replicas, 1);
      assert.equal((await setScale(client, deployment, reference, 3)).spec?.replicas, 3);
      assert.equal((await client.get(deployment, reference)).spec?.replicas, 3);

      await client.create(serviceAccount, { metadata: { name: 'default', namespace: place } });
      const { status } = await requestToken(
        client,
        { name: 'default', namespace: place },
        { audiences: [], expirationSeconds: 600 },
      );
      assert.match(status?.token ?? '', /^ey.*\..*\./);

      await client.create(pod, { metadata: reference, spec: template.spec });
      await bind(client, reference, 'node-1');
      assert.equal((await client.get(pod, reference)).spec?.nodeName, 'node-1');
    });

    test('returned objects are immutable', async () => {
      if (transportName === 'over HTTPS') return;
      const place = await space();
      await client.create(configMap, settings(place, 'a', { key: 'value' }));
      const { data } = await client.get(configMap, { name: 'a', namespace: place });
      assert.throws(() => Object.assign(data!, { key: 'changed' }), TypeError);
    });
  });
}
