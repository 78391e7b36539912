import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cniConfiguration, findOtherNetwork, missingPlugins } from './configuration.ts';
import { systemFiles } from './host-files.ts';

const all = new Set(['ptp', 'host-local', 'portmap', 'bandwidth', 'firewall']);

test('a dual-stack node has a range and a default route of each family', () => {
  const podCidrs = ['10.244.1.0/24', 'fd00:1::/64'];
  const { plugins } = cniConfiguration({ podCidrs, mtu: 1450, plugins: all, hasIptables: true });
  assert.deepEqual(
    plugins.map(({ type }) => type),
    ['ptp', 'portmap', 'bandwidth', 'firewall'],
  );
  assert.deepEqual(plugins[0]?.['ipam'], {
    type: 'host-local',
    ranges: [[{ subnet: '10.244.1.0/24' }], [{ subnet: 'fd00:1::/64' }]],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  });
});

test('only installed plugins are chained', () => {
  const typesOf = (plugins: ReadonlySet<string>, hasIptables: boolean) =>
    cniConfiguration({ podCidrs: ['10.244.1.0/24'], mtu: 1500, plugins, hasIptables }).plugins.map(({ type }) => type);
  assert.deepEqual(typesOf(new Set(['ptp', 'host-local', 'portmap']), true), ['ptp', 'portmap']);
  assert.deepEqual(typesOf(all, false), ['ptp', 'portmap', 'bandwidth']);
  assert.deepEqual(missingPlugins(new Set(['bridge'])), ['ptp', 'host-local']);
  assert.deepEqual(missingPlugins(all), []);
});

const network = (name: string, ...types: readonly string[]) =>
  JSON.stringify({ cniVersion: '1.0.0', name, plugins: types.map((type) => ({ type })) });

const directories: readonly { name: string; files: Record<string, string>; other: string | undefined }[] = [
  { name: 'an empty directory', files: {}, other: undefined },
  { name: 'our own file', files: { '10-kruise.conflist': network('kruise', 'ptp') }, other: undefined },
  { name: 'a network plugin', files: { '10-flannel.conflist': network('cbr0', 'flannel') }, other: 'cbr0' },
  {
    name: 'a plugin that sorts after ours',
    files: { '10-weave.conflist': network('weave', 'weave-net') },
    other: 'weave',
  },
  {
    name: 'a single plugin',
    files: { '10-bridge.conf': JSON.stringify({ name: 'old', type: 'bridge' }) },
    other: 'old',
  },
  {
    name: 'a loopback network',
    files: { '99-loopback.conf': JSON.stringify({ name: 'any', type: 'loopback' }) },
    other: undefined,
  },
  {
    name: 'the network of podman',
    files: { '87-podman-bridge.conflist': network('podman', 'bridge') },
    other: undefined,
  },
  {
    name: 'a file that is no configuration',
    files: { '10-a.conflist': '{', '11-b.conf': 'null', '12-c.json': '[]' },
    other: undefined,
  },
  { name: 'another file name', files: { '10-flannel.conflist.bak': network('cbr0', 'flannel') }, other: undefined },
];
for (const { name, files, other } of directories) {
  test(`another network is found in ${name}: ${other}`, () => {
    const found = findOtherNetwork(Object.entries(files).map(([file, content]) => ({ name: file, content })));
    assert.equal(found?.network, other);
  });
}

test('the configuration file is replaced as a whole', async () => {
  const root = mkdtempSync(join(tmpdir(), 'kruise-cni-'));
  try {
    const configurations = join(root, 'net.d');
    const files = systemFiles({ configurations, plugins: [join(root, 'none')], kernelParameters: root });
    assert.deepEqual(await files.readConfigurations(), []);
    assert.deepEqual(await files.plugins(), new Set());
    await files.writeConfiguration('one');
    writeFileSync(join(configurations, '10-kruise.conflist.tmp'), 'left by a crash');
    await files.writeConfiguration('two');
    assert.deepEqual(readdirSync(configurations), ['10-kruise.conflist']);
    assert.equal(readFileSync(join(configurations, '10-kruise.conflist'), 'utf8'), 'two');
    await files.removeConfiguration();
    await files.removeConfiguration();
    assert.deepEqual(readdirSync(configurations), []);
  } finally {
    rmSync(root, { recursive: true });
  }
});
