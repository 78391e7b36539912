import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that tests need, and its source. */
type Tool = {
  readonly command: string;
  readonly why: string;
  readonly debianPackage?: string;
  /** Builds the program from source, if possible. */
  readonly build?: (folders: Folders) => void;
};

type Folders = { readonly source: string; readonly bin: string };

const tools: readonly Tool[] = [
  {
    command: '/usr/lib/cni/ptp',
    why: 'the network of containers and Pods',
    debianPackage: 'containernetworking-plugins',
  },
  { command: 'busybox', why: 'containers of containerd', debianPackage: 'busybox-static' },
  { command: 'conntrack', why: 'UDP connections of Services', debianPackage: 'conntrack' },
  { command: 'containerd', why: 'the client of container runtimes', debianPackage: 'containerd' },
  { command: 'curl', why: 'real nodes', debianPackage: 'curl' },
  { command: 'etcd', why: 'the etcd store driver', debianPackage: 'etcd-server' },
  { command: 'go', why: 'images for real nodes', debianPackage: 'golang-go' },
  { command: 'helm', why: 'charts', build: buildHelm },
  { command: 'ip', why: 'real nodes and the Pod network', debianPackage: 'iproute2' },
  { command: 'iptables', why: 'real nodes and kube-proxy', debianPackage: 'iptables' },
  { command: 'kubectl', why: 'everything a user types', build: buildKubectl },
  { command: 'nft', why: 'kube-proxy and network policies', debianPackage: 'nftables' },
  { command: 'protoc', why: 'whether generated code is up to date', debianPackage: 'protobuf-compiler' },
  { command: 'runc', why: 'containers of containerd', debianPackage: 'runc' },
];

function isThere(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}

/**
 * Installs the programs that tests need, where possible. Otherwise tests that need one are skipped with a message; in
 * CI this is a failure.
 */
export async function prepareTools(root: string): Promise<void> {
  const bin = join(root, '.cache', 'bin');
  process.env.PATH = `${bin}${delimiter}${process.env.PATH ?? ''}`;
  const missing = tools.filter(({ command }) => !isThere(command));
  const installable = missing.flatMap(({ debianPackage }) => debianPackage ?? []);
  if (installable.length > 0 && isThere('apt-get') && process.getuid?.() === 0) install(installable);
  for (const { command, build } of missing) {
    if (build && !isThere(command)) build({ source: join(root, '.cache', command), bin });
  }
  for (const { command, why } of tools) {
    if (isThere(command)) continue;
    console.error(`${command} is missing: tests of ${why} cannot run.`);
    if (process.env.CI) process.exit(1);
  }
}

function install(packages: readonly string[]): void {
  console.log(`\n── Installing ${packages.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (...args: string[]) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  run('update', '-qq');
  run('install', '-y', '-qq', '--no-install-recommends', ...packages);
}

function buildHelm({ bin }: Folders): void {
  if (!isThere('go')) return;
  const version = 'v3.18.6';
  console.log(`\n── Building helm ${version} (some minutes, once)`);
  const env = { ...process.env, GOBIN: bin, CGO_ENABLED: '0' };
  spawnSync('go', ['install', `helm.sh/helm/v3/cmd/helm@${version}`], { stdio: ['ignore', 'ignore', 'inherit'], env });
}

/** The version of Kubernetes that the API server is compatible with. */
const kubernetes = { major: 1, minor: 33, patch: 4 };

/** kubectl's module cannot be installed by version, because it replaces dependencies by relative directories. */
function buildKubectl({ source, bin }: Folders): void {
  if (!isThere('go')) return;
  const { major, minor, patch } = kubernetes;
  const version = `v${major}.${minor}.${patch}`;
  console.log(`\n── Building kubectl ${version} (some minutes, once)`);
  mkdirSync(source, { recursive: true });
  writeFileSync(
    join(source, 'go.mod'),
    `module kubectl\n\ngo 1.24.0\n\nrequire (\n\tk8s.io/component-base v0.${minor}.${patch}\n\tk8s.io/kubectl v0.${minor}.${patch}\n)\n`,
  );
  writeFileSync(
    join(source, 'main.go'),
    `package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
`,
  );
  const stamps = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const flags = Object.entries(stamps).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const env = { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  const go = (...args: string[]) => spawnSync('go', args, { cwd: source, stdio: ['ignore', 'ignore', 'inherit'], env });
  go('build', '-trimpath', '-ldflags', ['-s', '-w', ...flags].join(' '), '-o', join(bin, 'kubectl'), '.');
  rmSync(source, { recursive: true, force: true });
}
