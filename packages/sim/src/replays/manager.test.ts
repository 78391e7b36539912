/** Defects that users of kruise-manager reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import {
  createWorkload,
  minute,
  names,
  old,
  own,
  ready,
  rolling,
  startReplay,
  template,
  withWorkload,
} from './replay.ts';

test('#1717, #1089: an idle manager writes nothing', async () => {
  const written: string[] = [];
  const replay = await withWorkload(cloneSet, { replicas: 3 }, { wanted: 3 });
  await replay.advance(minute);
  replay.onManager(({ method, path }) => {
    // Only lease renewals are allowed.
    if (method !== 'GET' && !path.includes('/leases/')) written.push(`${method} ${path}`);
  });
  await replay.advance(10 * minute);
  assert.deepEqual(written, []);
});

test('#843: a manager with slow requests starts eventually', async () => {
  const replay = await startReplay({ managerAwayMs: 1000 });
  replay.world.setNetworkConditions('manager', { latencyMs: [500, 2000] });
  await replay.waitFor(
    'there are webhooks',
    (view) => view.list(validatingWebhookConfiguration).length > 0,
    10 * minute,
  );
  await createWorkload(replay, cloneSet, { replicas: 1 });
  await replay.waitFor('its Pod is ready', (view) => ready(view).length === 1, 10 * minute);
});

test('#1017, #1329: a missing CRD does not block other controllers', async () => {
  const replay = await startReplay();
  await replay.advanceUntilSettled(
    replay.client().delete(customResourceDefinition, { name: 'daemonsets.apps.kruise.io' }),
  );
  replay.world.crash('manager', 1000);
  await replay.advance(minute);
  await createWorkload(replay, cloneSet, { replicas: 2 });
  await replay.waitFor('its Pods are ready', (view) => ready(view).length === 2, 5 * minute);
});

test('#2111: a number in quotes is rejected', async () => {
  const replay = await startReplay();
  await assert.rejects(
    createWorkload(replay, cloneSet, rolling({ maxUnavailable: '5' })),
    /maxUnavailable: Invalid value: .*is not a percentage/,
  );
});

test('#1986: a Pod template is validated as a template', async () => {
  const replay = await startReplay();
  // A Pod could not be created from this template, neither with only a generateName nor without the fields that are
  // defaulted later.
  const stem = { ...template(old), metadata: { generateName: 'stem-', labels: { app: 'web' } } };
  await createWorkload(replay, cloneSet, { replicas: 1, template: stem });
  await replay.waitFor('its Pod is ready', (view) => ready(view).length === 1);
});

test('#782: Pods with generated names have separate launch-priority barriers', async () => {
  const replay = await startReplay();
  const containers = ['first', 'second'].map((name) => ({ name, image: old }));
  const annotations = { 'apps.kruise.io/container-launch-priority': 'Ordered' };
  const ordered = template(old, { annotations, spec: { containers } });
  await createWorkload(replay, deployment, { replicas: 3, template: ordered });
  await replay.waitFor('all are ready', (view) => ready(view).length === 3, 2 * minute);
  const barriers = replay
    .view()
    .list(configMap)
    .map(({ metadata }) => metadata.name ?? '');
  for (const name of names(own(replay.view()))) assert.ok(barriers.includes(`${name}-barrier`), barriers.join(', '));
});
