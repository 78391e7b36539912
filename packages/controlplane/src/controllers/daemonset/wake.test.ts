import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import { daemonSet } from '@kruise/api/apps/daemonset';
import type { Change } from '@kruise/client/informer';
import { setsOfRevision } from './wake.ts';

const revision: ControllerRevision = {
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: {
    name: 'agent-1',
    namespace: 'default',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u', controller: true }],
  },
  revision: 1,
};

const cases = [
  { type: 'added', woken: [] },
  { type: 'updated', woken: ['default/agent'] },
  { type: 'deleted', woken: ['default/agent'] },
] as const;
for (const { type, woken } of cases) {
  test(`a ${type} revision enqueues ${woken[0] ?? 'nothing'}`, () => {
    const change: Change<ControllerRevision> = { type, object: revision, cause: 'event' };
    assert.deepEqual(setsOfRevision(daemonSet)(change), woken);
  });
}
