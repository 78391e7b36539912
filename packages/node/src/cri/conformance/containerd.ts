/**
 * A real containerd for tests, with its own socket, its own data directory, which is removed afterwards, and one small
 * image.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Containerd = {
  readonly endpoint: string;
  readonly directory: string;
  /** Returns the output of containerd, for diagnostics. */
  output(): string;
  dispose(): Promise<void>;
};

/** BusyBox under its own name, because there is no registry to pull from. */
export const busyboxImage = 'docker.io/library/busybox:conformance';
/** The same tools with another command: runtimes treat identical images as one. */
export const otherImage = 'docker.io/library/busybox:other';
const sandboxImage = 'registry.k8s.io/pause:conformance';
const namespace = 'k8s.io';

/** Returns what is missing to run containerd; undefined if nothing is. */
export function missingForContainerd(): string | undefined {
  if (process.platform !== 'linux') return 'Linux';
  if (process.getuid?.() !== 0) return 'root';
  const commands = [
    ['containerd', '--version'],
    ['runc', '--version'],
    ['busybox', 'true'],
  ] as const;
  return commands.find(([command, argument]) => spawnSync(command, [argument]).status !== 0)?.[0];
}

/** CNI plugin of the Pod network: a point-to-point pair of interfaces per Pod, or one bridge for all. */
export type PodNetwork = 'ptp' | 'bridge';

/** Starts a containerd; `enter` is the command that runs it in another network namespace. */
export async function startContainerd(network: PodNetwork = 'ptp', enter: readonly string[] = []): Promise<Containerd> {
  const directory = mkdtempSync(join(tmpdir(), 'kruise-containerd-'));
  const bridge = `kruise${createHash('sha256').update(directory).digest('hex').slice(0, 8)}`;
  const socket = join(directory, 'containerd.sock');
  const configuration = join(directory, 'config.toml');
  writeFileSync(configuration, configurationText(directory, socket));
  writeNetwork(directory, network === 'bridge' ? { type: 'bridge', bridge, isGateway: true } : { type: 'ptp' });
  const [program = '', ...args] = [...enter, 'containerd', '--config', configuration];
  const containerd = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  containerd.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    containerd.stderr.on('data', () => {
      if (output.includes('containerd successfully booted')) resolve();
    });
    containerd.once('error', reject);
    containerd.once('exit', () => reject(new Error(`containerd did not start:\n${output}`)));
  });
  importImages(directory, socket);
  return {
    endpoint: `unix://${socket}`,
    directory,
    output: () => output,
    async dispose() {
      await terminate(containerd);
      // The interface pairs disappear with the Pods, but a bridge remains.
      if (network === 'bridge') spawnSync('ip', ['link', 'delete', bridge]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function configurationText(directory: string, socket: string): string {
  const text = JSON.stringify;
  return `version = 2
root = ${text(join(directory, 'root'))}
state = ${text(join(directory, 'state'))}
[grpc]
  address = ${text(socket)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(sandboxImage)}
  # Within a container nothing may be made less likely to be killed than it is.
  restrict_oom_score_adj = true
  disable_apparmor = true
  stats_collect_period = 1
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = ${text(join(directory, 'cni'))}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    # Overlays cannot be laid over overlays, and tests are often run on one.
    snapshotter = "native"
`;
}

function writeNetwork(directory: string, plugin: object): void {
  mkdirSync(join(directory, 'cni'));
  const ipam = {
    type: 'host-local',
    dataDir: join(directory, 'addresses'),
    ranges: [[{ subnet: '10.244.250.0/24' }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const network = { cniVersion: '0.4.0', name: 'conformance', plugins: [{ ...plugin, ipam }] };
  writeFileSync(join(directory, 'cni', '10-conformance.conflist'), JSON.stringify(network));
}

function importImages(directory: string, socket: string): void {
  const layer = join(directory, 'layer.tar');
  writeLayer(join(directory, 'layer'), layer);
  for (const [name, command] of [
    [busyboxImage, ['sh']],
    [otherImage, ['true']],
    [sandboxImage, ['sleep', '2147483647']],
  ] as const) {
    const archive = writeImage(directory, { name, command, layer });
    run('ctr', ['--address', socket, '--namespace', namespace, 'images', 'import', archive]);
  }
}

/** Writes a layer with BusyBox and a symbolic link for each of its tools. */
function writeLayer(folder: string, archive: string): void {
  for (const path of ['bin', 'dev', 'etc', 'proc', 'root', 'sys', 'tmp', 'usr/bin']) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  const busybox = run('sh', ['-c', 'command -v busybox']).trim();
  copyFileSync(busybox, join(folder, 'bin/busybox'));
  for (const tool of run('busybox', ['--list']).trim().split('\n')) {
    if (tool !== 'busybox') symlinkSync('busybox', join(folder, 'bin', tool));
  }
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  run('tar', ['-C', folder, '-cf', archive, '.']);
}

type ImageParts = { readonly name: string; readonly command: readonly string[]; readonly layer: string };

/** Writes an image archive in the format of `docker save`. */
function writeImage(directory: string, { name, command, layer }: ImageParts): string {
  const folder = mkdtempSync(join(directory, 'image-'));
  const layerDigest = createHash('sha256').update(readFileSync(layer)).digest('hex');
  const configuration = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Cmd: command, Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layerDigest}`] },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration));
  copyFileSync(layer, join(folder, 'layer.tar'));
  writeFileSync(
    join(folder, 'manifest.json'),
    JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]),
  );
  const archive = `${folder}.tar`;
  run('tar', ['-C', folder, '-cf', archive, 'config.json', 'layer.tar', 'manifest.json']);
  return archive;
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
