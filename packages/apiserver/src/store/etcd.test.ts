import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '@kruise/values/system';
import { type EtcdServer, findEtcd, startEtcd } from './etcd/server.ts';
import { openEtcdStore } from './etcd.ts';
import { testStore } from './suite.ts';

const command = findEtcd();

if (command) {
  const server: EtcdServer = await startEtcd(command);
  after(() => server.dispose());
  testStore({
    name: 'the etcd store',
    async open() {
      const store = openEtcdStore({ clock: systemClock, endpoints: [server.endpoint] });
      return { store, passTime: () => {} };
    },
    runs: 15,
  });
} else {
  test('etcd is installed, so that its store can be tested', (context) => {
    assert(!process.env['CI'], 'etcd is not installed');
    context.diagnostic('LEFT OUT: etcd is not installed, so nothing of its store was tested');
  });
}
