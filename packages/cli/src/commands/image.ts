import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createGrpcRuntime, requireRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { after } from '@kruise/values/clock';
import { systemClock } from '@kruise/values/system';
import { dataDirectory } from '../data-directory.ts';
import { readRuntimeRecord } from '../machine/directory.ts';

type Place = { readonly data?: string };

/** Imports image archives into the container runtime of this machine's node. */
export async function loadImages(files: readonly string[], place: Place): Promise<number> {
  const endpoint = endpointOf(place);
  for (const file of files) if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const before = new Map((await list(endpoint)).map(({ name, id }) => [name, id]));
  const imported = files.flatMap((file) => importArchive(endpoint, file));
  for (const { name, id } of await listWith(endpoint, imported)) {
    if (before.get(name) !== id && !name.includes('@')) console.log(`image/${name} loaded`);
  }
  return 0;
}

/** Lists the images of the container runtime of this machine's node. */
export async function listImages(place: Place): Promise<number> {
  for (const { name, id, sizeBytes } of await list(endpointOf(place))) {
    console.log(`${name}\t${id.replace(/^sha256:/, '').slice(0, 13)}\t${(sizeBytes / 1e6).toFixed(1)}MB`);
  }
  return 0;
}

/** Lists the images as soon as the runtime lists the given ones: containerd updates its list after an import. */
async function listWith(endpoint: string, names: readonly string[]): Promise<readonly ListedImage[]> {
  const deadlineMs = systemClock.elapsedMs() + listPatienceMs;
  for (;;) {
    const listed = await list(endpoint);
    const present = new Set(listed.map(({ name }) => name));
    if (names.every((name) => present.has(name)) || systemClock.elapsedMs() > deadlineMs) return listed;
    await after(systemClock, listPollMs);
  }
}

const listPatienceMs = 10_000;
const listPollMs = 50;

type ListedImage = { readonly name: string; readonly id: string; readonly sizeBytes: number };

async function list(endpoint: string): Promise<readonly ListedImage[]> {
  const connection = new AbortController();
  try {
    const runtime = createGrpcRuntime({ clock: systemClock, endpoint, signal: connection.signal });
    await requireRuntime(runtime, endpoint);
    const { images } = await runtime.listImages({});
    return images
      .flatMap(({ id, repoTags, repoDigests, size = 0 }) =>
        (repoTags.length > 0 ? repoTags : repoDigests).map((name) => ({ name, id, sizeBytes: Number(size) })),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    connection.abort();
  }
}

function endpointOf({ data }: Place): string {
  const { path } = dataDirectory(data);
  const record = readRuntimeRecord(path);
  if (!record) {
    throw new Error(`no real node runs with ${path}: start one with kruise up --runtime containerd, or kruise join`);
  }
  return record.endpoint;
}

/**
 * Imports an archive; returns names that the runtime will list. CRI has no call for it, so each runtime has its own
 * program.
 */
function importArchive(endpoint: string, file: string): readonly string[] {
  const socket = endpoint.replace(/^unix:\/\//, '');
  if (socket.endsWith('crio.sock')) {
    run('podman', ['load', '--input', file], 'podman shares its images with CRI-O: install podman');
    return [];
  }
  const images = ['--address', socket, '--namespace', 'k8s.io', 'images'];
  const hint = 'ctr is a part of containerd: install containerd';
  run('ctr', [...images, 'import', '--no-unpack', file], hint);
  const names = run('ctr', [...images, 'list', '--quiet'], hint)
    .trim()
    .split('\n');
  return names.filter((name) => name.includes(':') && !/@|^sha256:/.test(name));
}

function run(command: string, args: readonly string[], ifMissing: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, [...args], { encoding: 'utf8' });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') throw new Error(ifMissing);
  if (status !== 0) throw new Error(`${command} could not load ${args.at(-1)}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
