/** Files of a simulated container: the defaults of every image, the files of its image, and its mounts. */
import type { Instant } from '@kruise/values/time';
import type { ContainerConfig, PodSandboxConfig } from '../messages.ts';
import { createFileTree, deviceEntry, type FileTree, type Space } from './file-tree.ts';
import type { ImageDefinition } from './well-known-images.ts';

export type ContainerFilesOptions = {
  now(): Instant;
  readonly space: Space;
  readonly config: ContainerConfig;
  readonly sandboxConfig: PodSandboxConfig;
  readonly definition: ImageDefinition | undefined;
  readonly workingDirectory: string;
  readonly host: FileTree;
};

const directories = ['/bin', '/dev', '/etc', '/home', '/proc', '/root', '/run', '/sys', '/tmp', '/usr/bin', '/var/run'];
const devices = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/tty'];
const passwd = 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n';

export type ContainerFiles = {
  readonly tree: FileTree;
  /** Frees the space of the container's own files; mounted files belong to the node. */
  release(): void;
};

export function createContainerFiles(options: ContainerFilesOptions): ContainerFiles {
  const { now, space, config, sandboxConfig, definition, workingDirectory, host } = options;
  const isReadonly = config.linux?.securityContext?.readonlyRootfs ?? false;
  // The image files are written before the tree becomes read-only.
  const image = createFileTree({ now, space });
  for (const path of [...directories, workingDirectory]) image.makeDirectory(path, { parents: true });
  const { dnsConfig, hostname = '' } = sandboxConfig;
  const files: Record<string, string> = {
    '/etc/passwd': passwd,
    '/etc/group': 'root:x:0:\nnobody:x:65534:\n',
    '/etc/hostname': `${hostname}\n`,
    '/etc/hosts': '127.0.0.1\tlocalhost\n',
    '/etc/resolv.conf': resolvConf(dnsConfig),
    ...definition?.files,
  };
  for (const [path, content] of Object.entries(files)) {
    image.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { parents: true });
    image.write(path, content);
  }
  for (const path of devices) image.mount(path, { entry: deviceEntry(now()), isReadonly: false });
  const tree = isReadonly ? readonlyView(image, { now, space }) : image;
  for (const mount of config.mounts ?? []) {
    if (mount.hostPath === undefined || mount.hostPath === '') continue;
    tree.mount(mount.containerPath, { entry: host.entryAt(mount.hostPath), isReadonly: mount.readonly ?? false });
  }
  return {
    tree,
    release() {
      space.usedBytes -= image.usage('/').bytes;
    },
  };
}

/** Returns a read-only tree of the same files; mounts remain writable. */
function readonlyView(image: FileTree, options: { now(): Instant; readonly space: Space }): FileTree {
  const tree = createFileTree({ ...options, isReadonly: true });
  for (const name of image.list('/')) tree.mount(`/${name}`, { entry: image.entryAt(`/${name}`), isReadonly: true });
  for (const [path, point] of image.mounts) tree.mount(path, point);
  return tree;
}

function resolvConf(dns: PodSandboxConfig['dnsConfig']): string {
  const lines = [
    ...(dns?.searches?.length ? [`search ${dns.searches.join(' ')}`] : []),
    ...(dns?.servers ?? []).map((server) => `nameserver ${server}`),
    ...(dns?.options?.length ? [`options ${dns.options.join(' ')}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
