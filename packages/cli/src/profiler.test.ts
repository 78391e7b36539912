import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@kruise/client/log';
import { serveProfiles } from './profiler.ts';

test('profiles are served if an address is set, unless they are disabled', async (context) => {
  let port = 0;
  const log = {
    ...silentLog,
    info(fields: object) {
      port = (fields as { readonly port: number }).port;
    },
  };
  await serveProfiles({}, '127.0.0.1:0', log);
  await serveProfiles({ enablePprof: 'false', pprofAddr: '127.0.0.1:0' }, '127.0.0.1:0', log);
  assert.equal(port, 0);

  context.after(await serveProfiles({ pprofAddr: '127.0.0.1:0' }, 'localhost:8090', log));
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const taken = await ask('/debug/pprof/profile?seconds=0.05');
  assert.equal(taken.status, 200);
  assert.ok(((await taken.json()) as { readonly nodes: readonly unknown[] }).nodes.length > 0);
  assert.equal((await ask('/debug/pprof/profile?seconds=1e9')).status, 400);
  assert.equal((await ask('/debug/pprof/heap')).status, 404);
});
