import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { jsonLog } from '@kruise/client/log';
import { systemClock } from '@kruise/values/system';
import { Command } from 'commander';
import { type DaemonFlags, daemonFlags } from '../daemon-flags.ts';
import { optionalCredentialProviders, requiredCredentialProviders } from './credential-providers.ts';

const { signal } = new AbortController();

/** Creates a directory with a plugin and its configuration. */
function install(test: TestContext, defaultCacheDuration = '0s') {
  const directory = mkdtempSync(join(tmpdir(), 'kruise-plugins-'));
  test.after(() => rmSync(directory, { recursive: true, force: true }));
  const binDirectory = join(directory, 'bin');
  const configFile = join(directory, 'config.yaml');
  const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
  const auth = { 'registry.io': { username: 'plugin', password: 'p' } };
  const response = { kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Image', auth };
  mkdirSync(binDirectory);
  writeFileSync(join(binDirectory, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(response)}'\n`, { mode: 0o755 });
  const provider = { name: 'plugin', matchImages: ['registry.io'], defaultCacheDuration, apiVersion };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  writeFileSync(configFile, JSON.stringify(config));
  const lines: string[] = [];
  const log = jsonLog(systemClock.now, (line) => void lines.push(line));
  return { configFile, binDirectory, lines, context: { clock: systemClock, log, environment: process.env } };
}

test('a kubelet without the flags has no plugins', async (test) => {
  assert.equal(await requiredCredentialProviders({}, install(test).context, signal), undefined);
});

test('a kubelet runs the plugins of its flags', async (test) => {
  const { configFile, binDirectory, context } = install(test);
  const flags = { imageCredentialProviderConfig: configFile, imageCredentialProviderBinDir: binDirectory };
  const provide = await requiredCredentialProviders(flags, context, signal);
  assert.equal((await provide?.('registry.io/app:1'))?.length, 1);
});

test('a kubelet with one of the two flags does not start', async (test) => {
  const { configFile, binDirectory, context } = install(test);
  for (const flags of [
    { imageCredentialProviderConfig: configFile },
    { imageCredentialProviderBinDir: binDirectory },
  ]) {
    await assert.rejects(requiredCredentialProviders(flags, context, signal), /^Error: set both /);
  }
});

test('a kubelet with an invalid or missing configuration does not start', async (test) => {
  const { configFile, binDirectory, context } = install(test, '-1s');
  const load = (file: string) =>
    requiredCredentialProviders(
      { imageCredentialProviderConfig: file, imageCredentialProviderBinDir: binDirectory },
      context,
      signal,
    );
  await assert.rejects(load(configFile), /defaultCacheDuration must be greater than or equal to 0/);
  await assert.rejects(load(`${configFile}.missing`), /ENOENT/);
});

test('kruise-daemon runs plugins, and none without their configuration', async (test) => {
  const { configFile, binDirectory, context, lines } = install(test);
  const provide = await optionalCredentialProviders({ configFile, binDirectory }, context, signal);
  assert.equal((await provide?.('registry.io/app:1'))?.length, 1);
  for (const missing of ['', `${configFile}.missing`]) {
    const found = await optionalCredentialProviders({ configFile: missing, binDirectory }, context, signal);
    assert.equal(found, undefined);
  }
  assert.deepEqual(lines, []);
});

test('kruise-daemon logs the faults of a configuration and runs without plugins', async (test) => {
  const { configFile, binDirectory, context, lines } = install(test, '-1s');
  assert.equal(await optionalCredentialProviders({ configFile, binDirectory }, context, signal), undefined);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /"level":"error".*pulling without them.*defaultCacheDuration must be/);
});

test('kruise-daemon has the paths of OpenKruise by default', () => {
  const { pluginConfigFile, pluginBinDir } = daemonFlags(new Command()).parse([], { from: 'user' }).opts<DaemonFlags>();
  assert.deepEqual([pluginConfigFile, pluginBinDir], ['/kruise/CredentialProviderPlugin.yaml', '/kruise/plugins']);
});
