import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import { credentialsFor, matchesRegistryPattern } from './pull-secrets.ts';

const rows: readonly (readonly [pattern: string, repository: string, expected: boolean])[] = [
  ['registry.io', 'registry.io/team/app', true],
  ['registry.io', 'other.io/team/app', false],
  ['*.registry.io', 'eu.registry.io/app', true],
  ['*.registry.io', 'registry.io/app', false],
  ['*.registry.io', 'a.b.registry.io/app', false],
  ['*.*.registry.io', 'a.b.registry.io/app', true],
  ['*', 'localhost/app', true],
  ['*', 'registry.io/app', false],
  ['eu-[a-c]?.registry.io', 'eu-b7.registry.io/app', true],
  ['registry.io:5000', 'registry.io:5000/app', true],
  ['registry.io:5000', 'registry.io/app', false],
  ['registry.io', 'registry.io:5000/app', false],
  ['*:5000', 'localhost:5000/app', true],
  ['localhost:*', 'localhost:5000/app', false],
  ['registry.io/team', 'registry.io/team/app', true],
  ['registry.io/te', 'registry.io/team/app', true],
  ['registry.io/other', 'registry.io/team/app', false],
  ['registry.io/*', 'registry.io/team/app', false],
  ['[::1]:5000', '[::1]:5000/app', true],
  ['[::1]:5000', '[::2]:5000/app', false],
  ['[::1]:5000', '[::1]:5001/app', false],
];
for (const [pattern, repository, expected] of rows) {
  test(`${pattern} ${expected ? 'matches' : 'does not match'} ${repository}`, () => {
    assert.equal(matchesRegistryPattern(pattern, repository), expected);
  });
}

const secretWith = (...places: readonly string[]): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {},
  type: 'kubernetes.io/dockercfg',
  data: {
    '.dockercfg': Buffer.from(
      JSON.stringify(Object.fromEntries(places.map((place) => [place, { username: place, password: 'p' }]))),
    ).toString('base64'),
  },
});

test('the more specific registry path comes first', () => {
  const found = credentialsFor('registry.io/team/app:1', [secretWith('registry.io', 'https://registry.io/team/')]);
  assert.deepEqual(
    found.map(({ username }) => username),
    ['https://registry.io/team/', 'registry.io'],
  );
});

test('both names of Docker Hub are the same registry', () => {
  assert.equal(credentialsFor('nginx', [secretWith('https://index.docker.io/v1/')]).length, 1);
  assert.equal(credentialsFor('index.docker.io/library/nginx', [secretWith('docker.io')]).length, 1);
  assert.equal(credentialsFor('registry.io/nginx', [secretWith('index.docker.io')]).length, 0);
});

test('a hostile registry name does not block the kubelet', () => {
  const startedAt = process.threadCpuUsage();
  credentialsFor('registry.io/app', [secretWith(`[${':'.repeat(500_000)}`, `${'*.'.repeat(300_000)}`)]);
  assert.ok(process.threadCpuUsage(startedAt).user < 1_000_000);
});
