/** Mounts of a container. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Mount, MountPropagation, PodSandboxConfig } from '../../cri/messages.ts';
import type { DownwardContext } from '../containers/downward-api.ts';
import type { Environment } from '../containers/environment.ts';
import { expand } from '../containers/expansion.ts';
import { hostNetworkHostsFile, managedHostsFile } from '../containers/hosts-file.ts';
import { hostnameOf, userNamespaceOf } from '../containers/sandbox-config.ts';
import type { NodeContext } from '../node/node-context.ts';
import { isHostNetwork } from '../runtime/runtime-pod.ts';
import { podDirectory, subPathsDirectory } from './pod-directory.ts';
import type { MountedVolume } from './volumes.ts';

type MountInputs = {
  readonly pod: Pod;
  readonly sandboxConfig: PodSandboxConfig;
  readonly facts: DownwardContext;
  readonly volumes: ReadonlyMap<string, MountedVolume>;
};

const hostsPath = '/etc/hosts';

/** Returns the mounts of a container, and creates the container's own files (`/etc/hosts`, termination message). */
export async function mountsOf(
  node: NodeContext,
  inputs: MountInputs,
  container: Container,
  environment: Environment,
): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  const supportsRecursion = node.supportsRecursiveReadOnly();
  const users = userNamespaceOf(inputs.sandboxConfig);
  // Volume files keep the owners they have inside the Pod: ID 0 of a user namespace must not own the node's files.
  const mappings = users ? { uidMappings: users.uids ?? [], gidMappings: users.gids ?? [] } : {};
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = inputs.volumes.get(mount.name);
    if (!volume)
      throw new Error(
        `cannot find volume ${JSON.stringify(mount.name)} to mount into container ${JSON.stringify(container.name)}`,
      );
    const subPath = mount.subPathExpr ? expandSubPath(mount.subPathExpr, environment) : (mount.subPath ?? '');
    const { readOnly = false, mountPropagation } = mount;
    mounts.push({
      containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
      hostPath: subPath === '' ? volume.path : await subPathOf(node, inputs, { container, index, volume, subPath }),
      readonly: readOnly || volume.isReadOnly,
      ...(isRecursive(mount, supportsRecursion) ? { recursiveReadOnly: true } : {}),
      propagation: propagationOf(mountPropagation ?? 'None'),
      ...mappings,
    });
  }
  const isMounted = (path: string) => mounts.some(({ containerPath }) => containerPath === path);
  if (!isMounted(hostsPath) && (inputs.facts.podIPs.length > 0 || isHostNetwork(inputs.pod))) {
    mounts.push({ containerPath: hostsPath, hostPath: await writeHosts(node, inputs) });
  }
  const messagePath = container.terminationMessagePath;
  if (messagePath) {
    const directory = `${podDirectory(inputs.pod, node.settings.rootDirectory)}/containers/${container.name}`;
    const name = Math.floor(node.random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
    await node.runtime.files.makeDirectory(directory, { mode: 0o750 });
    await node.runtime.files.writeFile(`${directory}/${name}`, '', { mode: 0o666, isNew: true });
    mounts.push({ containerPath: messagePath, hostPath: `${directory}/${name}` });
  }
  return mounts;
}

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

/** Reports whether a mount is recursively read-only. Throws if the volume requests that mode and it is not possible. */
export function isRecursive(mount: VolumeMount, isSupported: boolean): boolean {
  const { name, readOnly, recursiveReadOnly: mode, mountPropagation } = mount;
  if (!mode || mode === 'Disabled') return false;
  const prefix = `volume ${JSON.stringify(name)} requested recursive read-only mode, but it is`;
  if (!readOnly) throw new Error(`${prefix} not read-only`);
  if (mountPropagation && mountPropagation !== 'None') {
    throw new Error(`${prefix} not compatible with propagation ${JSON.stringify(mountPropagation)}`);
  }
  if (mode === 'Enabled' && !isSupported) throw new Error(`${prefix} not supported by the runtime`);
  return isSupported;
}

function expandSubPath(expression: string, environment: Environment): string {
  let missing: string | undefined;
  const path = expand(expression, (name) => {
    const value = environment.get(name);
    if (value === undefined) missing = name;
    return value;
  });
  if (missing !== undefined) throw new Error(`missing value for ${JSON.stringify(missing)}`);
  return path;
}

type SubPath = {
  readonly container: Container;
  /** Index of the mount in the container. */
  readonly index: number;
  readonly volume: MountedVolume;
  readonly subPath: string;
};

/**
 * Returns the host path of a subPath for the runtime. A missing subPath is created with the mode of the volume. Other
 * containers may write to the volume concurrently, so no symbolic link may lead out of the volume, and the path must
 * still be the same when the runtime mounts it.
 */
async function subPathOf({ runtime, settings, log }: NodeContext, inputs: MountInputs, part: SubPath): Promise<string> {
  const { container, index, volume, subPath } = part;
  const { files } = runtime;
  const { name } = container.volumeMounts![index]!;
  if (subPath.startsWith('/')) throw new Error(`error SubPath ${JSON.stringify(subPath)} must not be an absolute path`);
  if (subPath.split('/').includes('..')) {
    throw new Error(`unable to provision SubPath ${JSON.stringify(subPath)}: must not contain '..'`);
  }
  const target = `${subPathsDirectory(inputs.pod, settings.rootDirectory)}/${name}/${container.name}/${index}`;
  const mode = (await files.stat(volume.path))?.mode ?? 0o750;
  try {
    return await files.bindBeneath({ root: volume.path, path: subPath.split('/'), target, mode });
  } catch (error) {
    log.warn({ pod: inputs.pod.metadata.uid, container: container.name, error }, 'failed to prepare subPath');
    const message = `failed to prepare subPath for volumeMount ${JSON.stringify(name)} of container`;
    throw new Error(`${message} ${JSON.stringify(container.name)}`, { cause: error });
  }
}

const propagations: { readonly [mode: string]: MountPropagation } = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
};

function propagationOf(mode: string): MountPropagation {
  const found = propagations[mode];
  if (!found) throw new Error(`invalid MountPropagation mode: ${JSON.stringify(mode)}`);
  return found;
}

async function writeHosts({ runtime, settings }: NodeContext, { pod, facts }: MountInputs): Promise<string> {
  const directory = podDirectory(pod, settings.rootDirectory);
  const path = `${directory}/etc-hosts`;
  const content = isHostNetwork(pod)
    ? hostNetworkHostsFile(pod, await nodeHosts(runtime.files))
    : managedHostsFile(pod, facts.podIPs, hostnameOf(pod, settings.clusterDomain));
  await runtime.files.makeDirectory(directory, { mode: 0o750 });
  await runtime.files.writeFile(path, content, { mode: 0o644 });
  return path;
}

async function nodeHosts(files: NodeContext['runtime']['files']): Promise<string> {
  return (await files.stat(hostsPath))
    ? Buffer.from(await files.readFile(hostsPath, { followsLinks: true })).toString()
    : '';
}
