import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRuntime } from './runtime-choice.ts';

for (const [value, kind, mayStart] of [
  ['simulated', 'simulated', undefined],
  ['own-containerd', 'own', undefined],
  ['containerd', 'socket', true],
  ['crio', 'socket', false],
  ['unix:///run/other.sock', 'socket', false],
] as const) {
  test(`--runtime ${value} selects a runtime`, () => {
    const choice = parseRuntime(value);
    assert.equal(choice.kind, kind);
    assert.equal('mayStart' in choice ? choice.mayStart : undefined, mayStart);
  });
}

test('the socket of --runtime is the path of its URL', () => {
  const choice = parseRuntime('unix:///run/other.sock');
  assert.deepEqual('sockets' in choice ? choice.sockets : [], ['/run/other.sock']);
});

for (const value of ['docker', 'unix://relative', '']) {
  test(`--runtime ${JSON.stringify(value)} is rejected with the values that are permitted`, () => {
    assert.throws(() => parseRuntime(value), /--runtime must be simulated, containerd/);
  });
}
