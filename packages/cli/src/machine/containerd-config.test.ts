import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayLowerOomScores } from './containerd.ts';
import { containerdConfiguration, mirrorConfiguration } from './containerd-config.ts';

const settings = {
  root: '/data/root',
  state: '/run/state',
  socket: '/data/containerd.sock',
  sandboxImage: 'registry.k8s.io/pause:3.10',
  cniBinaries: '/usr/lib/cni',
  cniConfiguration: '/data/cni',
  registries: '/data/certs.d',
  snapshotter: 'overlayfs',
  restrictsOomScores: true,
  hasAppArmor: false,
} as const;

test('a containerd has its own directories, socket and network', () => {
  const text = containerdConfiguration(settings);
  for (const line of [
    'root = "/data/root"',
    'state = "/run/state"',
    '  address = "/data/containerd.sock"',
    '  sandbox_image = "registry.k8s.io/pause:3.10"',
    '    conf_dir = "/data/cni"',
    '    snapshotter = "overlayfs"',
    '  restrict_oom_score_adj = true',
    '  disable_apparmor = true',
  ]) {
    assert(text.split('\n').includes(line), line);
  }
});

test('a path with a quote does not break the configuration', () => {
  assert.match(containerdConfiguration({ ...settings, root: '/a"b' }), /^root = "\/a\\"b"$/m);
});

test('a mirror is asked for images and their names', () => {
  assert.match(mirrorConfiguration('http://127.0.0.1:5000'), /^\[host\."http:\/\/127\.0\.0\.1:5000"\]/);
});

for (const [mask, expected] of [
  ['000001ffffffffff', true],
  ['000001fffeffffff', false],
  ['0000000000000000', false],
] as const) {
  test(`a process with the capabilities ${mask} may ${expected ? '' : 'not '}lower OOM scores`, () => {
    assert.equal(mayLowerOomScores(`Name:\tnode\nCapPrm:\tffff\nCapEff:\t${mask}\n`), expected);
  });
}
