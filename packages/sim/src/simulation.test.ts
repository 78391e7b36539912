import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { startSimulation } from './simulation.ts';

test('an object that is created immediately after the start has its defaults', async () => {
  const stage = await startSimulation({ seed: 'first moment', nodes: 1 });
  const labels = { app: 'web' };
  const web = {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  };
  const { spec } = await stage.advanceUntilSettled(stage.client().create(cloneSet, web as never));
  assert.equal(spec?.template?.spec?.restartPolicy, 'Always');
  stage.world.end();
});
