import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import { instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide, type Observed } from './decide.ts';

const now = instantOf(2026, 6, 15, 12);
const nameKey = 'kubernetes.io/service-account.name';
const uidKey = 'kubernetes.io/service-account.uid';
const used = (date: string) => ({ 'kubernetes.io/legacy-token-last-used': date });
const invalid = (date: string) => ({ 'kubernetes.io/legacy-token-invalid-since': date });

const token = (labels = {}, metadata: Partial<Secret['metadata']> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'robot-token',
    namespace: 'default',
    resourceVersion: '7',
    creationTimestamp: '2020-01-01T00:00:00Z',
    annotations: { [nameKey]: 'robot', [uidKey]: 'u' },
    labels,
    ...metadata,
  },
  type: 'kubernetes.io/service-account-token',
});
const account = (secrets = ['robot-token'], uid = 'u'): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'default', uid },
  secrets: secrets.map((name) => ({ name })),
});

const cases: readonly (Partial<Observed> & { readonly name: string; readonly does: string })[] = [
  { name: 'invalidates a token that was never used', does: 'mark 2026-06-15' },
  {
    name: 'invalidates a token not used for more than a year',
    secret: token(used('2025-06-14')),
    does: 'mark 2026-06-15',
  },
  { name: 'keeps a token used exactly a year ago', secret: token(used('2025-06-15')), does: 'wait' },
  { name: 'keeps a token with an unreadable last use', secret: token(used('once')), does: 'wait' },
  {
    name: 'keeps a token younger than a year',
    secret: token({}, { creationTimestamp: '2025-06-16T00:00:00Z' }),
    does: 'wait',
  },
  { name: 'keeps a token that a Pod mounts', isMounted: true, does: 'wait' },
  { name: 'keeps all tokens while usage is not tracked', trackedSince: undefined, does: 'wait' },
  { name: 'keeps all tokens until usage was tracked for a year and a day', trackedSince: '2025-06-15', does: 'wait' },
  {
    name: 'invalidates tokens after usage was tracked for a year and a day',
    trackedSince: '2025-06-14',
    does: 'mark 2026-06-15',
  },
  { name: 'ignores manually created tokens', account: account([]), does: 'nothing' },
  { name: 'ignores tokens of an earlier account', account: account(['robot-token'], 'other'), does: 'nothing' },
  { name: 'ignores tokens without an account', account: undefined, does: 'nothing' },
  {
    name: 'ignores terminating tokens',
    secret: token({}, { deletionTimestamp: '2026-06-15T00:00:00Z' }),
    does: 'nothing',
  },
  { name: 'waits a year after the invalidation', secret: token(invalid('2025-06-15')), does: 'wait' },
  { name: 'deletes tokens invalidated more than a year ago', secret: token(invalid('2025-06-14')), does: 'delete 7' },
  {
    name: 'invalidates tokens with an unreadable invalidation date again',
    secret: token(invalid('yes')),
    does: 'mark 2026-06-15',
  },
  {
    name: 'keeps tokens that are used again',
    secret: token({ ...invalid('2025-06-14'), ...used('2026-06-01') }),
    does: 'wait',
  },
];
for (const { name, does, ...observed } of cases) {
  test(name, () => {
    const world = { secret: token(), account: account(), isMounted: false, trackedSince: '2020-01-01', ...observed };
    const { actions, requeueAfterSeconds } = decide(world as Observed, now);
    const [action] = actions;
    let actual = requeueAfterSeconds === undefined ? 'nothing' : 'wait';
    if (action?.type === 'patch') {
      const { metadata } = action.patch as Pick<Secret, 'metadata'>;
      actual = `mark ${metadata.labels?.['kubernetes.io/legacy-token-invalid-since']}`;
    }
    if (action?.type === 'remove') actual = `delete ${action.options?.preconditions?.resourceVersion}`;
    assert.equal(actual, does);
  });
}

test('no token is deleted that was used within a year or not invalid for a year, and the decision is idempotent', () => {
  const date = fc.constantFrom('2024-01-01', '2025-06-14', '2025-06-16', '2026-06-01', 'nonsense');
  const labels = fc.record({ used: fc.option(date, { nil: undefined }), marked: fc.option(date, { nil: undefined }) });
  fc.assert(
    fc.property(labels, fc.boolean(), ({ used: last, marked }, isMounted) => {
      const secret = token({ ...(last ? used(last) : {}), ...(marked ? invalid(marked) : {}) });
      const world = { secret, account: account(), isMounted, trackedSince: '2020-01-01' };
      const after = objectAfter(secret, decide(world, now));
      if (after) assert.deepEqual(decide({ ...world, secret: after }, now).actions, []);
      else {
        assert.ok(!isMounted && marked !== undefined && marked < '2025-06-15');
        assert.ok(last === undefined || last < '2025-06-15');
      }
    }),
  );
});
