import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { isSet, readFileOf } from './component.ts';
import { controllerManagerFlags } from './flags.ts';

for (const [value, is] of [
  [undefined, false],
  [true, true],
  [false, false],
  ['true', true],
  ['T', true],
  ['1', true],
  ['false', false],
  ['0', false],
] as const) {
  test(`a flag of ${value} is ${is ? '' : 'not '}set`, () => assert.equal(isSet('--flag', value), is));
}

test('a flag that is neither true nor false is rejected', () => {
  assert.throws(() => isSet('--leader-elect', 'perhaps'), /--leader-elect must be true or false, not perhaps/);
});

test('the error for a missing file names the flag', () => {
  assert.throws(() => readFileOf('--root-ca-file', '/nowhere/ca.crt'), /^Error: --root-ca-file: ENOENT/);
});

test('kube-controller-manager has the flags and defaults of Kubernetes', () => {
  const command = controllerManagerFlags(new Command()).exitOverride();
  const given = ['--controllers=*,-ttl-controller', '--leader-elect=false', '--cluster-cidr', '10.0.0.0/8'];
  const options = command.parse(given, { from: 'user' }).opts();
  assert.equal(options['controllers'], '*,-ttl-controller');
  assert.equal(options['leaderElect'], 'false');
  assert.equal(options['clusterCidr'], '10.0.0.0/8');
  assert.equal(options['securePort'], '10257');
  assert.equal(options['leaderElectResourceName'], 'kube-controller-manager');
  assert.equal(options['leaderElectLeaseDuration'], '15s');
});
