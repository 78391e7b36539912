import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrpcError, goErrorText, type StatusCode } from './status.ts';

const names: readonly (readonly [StatusCode, string])[] = [
  ['CANCELLED', 'Canceled'],
  ['NOT_FOUND', 'NotFound'],
  ['DEADLINE_EXCEEDED', 'DeadlineExceeded'],
  ['UNIMPLEMENTED', 'Unimplemented'],
];
for (const [code, name] of names) {
  test(`${code} is printed as Go prints it`, () => {
    const error = new GrpcError(code, 'no such thing', { wasSent: true });
    assert.equal(goErrorText(error), `rpc error: code = ${name} desc = no such thing`);
  });
}
