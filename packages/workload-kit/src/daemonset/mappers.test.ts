import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import { daemonSet } from '@kruise/api/apps/daemonset';
import type { Change } from '@kruise/client/informer';
import { mapRevisionToSets } from './mappers.ts';

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
  { type: 'added', enqueued: [] },
  { type: 'updated', enqueued: ['default/agent'] },
  { type: 'deleted', enqueued: ['default/agent'] },
] as const;
for (const { type, enqueued } of cases) {
  test(`a ${type} revision enqueues ${enqueued[0] ?? 'nothing'}`, () => {
    const change: Change<ControllerRevision> = { type, object: revision, cause: 'event' };
    assert.deepEqual(mapRevisionToSets(daemonSet)(change), enqueued);
  });
}
