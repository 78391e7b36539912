import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrpcError } from '@kruise/client/grpc/status';
import { SpaceExceededError } from '../store.ts';
import { storeErrorOf } from './errors.ts';

test("etcd's space alarm is a SpaceExceededError", () => {
  const full = new GrpcError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded', { wasSent: true });
  assert.ok(storeErrorOf(full) instanceof SpaceExceededError);
  const busy = new GrpcError('RESOURCE_EXHAUSTED', 'etcdserver: too many requests', { wasSent: true });
  assert.ok(!(storeErrorOf(busy) instanceof SpaceExceededError));
});
