/**
 * Pod directories of a kubelet. Other users of the node must not read volumes in them, whatever the modes of the
 * volumes are, so root owns all directories above a volume and only root can enter them.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { HostFiles } from '../../cri/runtime.ts';
import type { CsiVolumes } from '../csi/csi-volumes.ts';

/**
 * Mode of directories that only the kubelet and the runtime enter. Containers access their directories through mounts.
 */
export const privateMode = 0o750;

/** Returns the directory of a Pod on its node. */
export function podDirectory({ metadata }: Pod, rootDirectory: string): string {
  return `${rootDirectory}/pods/${metadata.uid}`;
}

/** Creates the directory of all Pods, and removes access for other users if an older directory was open to them. */
export async function securePodsDirectory(files: HostFiles, rootDirectory: string): Promise<void> {
  const path = `${rootDirectory}/pods`;
  await files.makeDirectory(path, { mode: privateMode });
  const { mode } = (await files.stat(path))!;
  if ((mode & ~privateMode & 0o777) !== 0) await files.changeMode(path, mode & privateMode);
}

/** Returns the directory where subPaths of a Pod's volumes are mounted for its containers. */
export function subPathsDirectory(pod: Pod, rootDirectory: string): string {
  return `${podDirectory(pod, rootDirectory)}/volume-subpaths`;
}

/**
 * Removes the directory of a Pod. SubPath mounts are unmounted first, so that their files are kept, then the volumes of
 * drivers, then those in memory.
 */
export async function removePodDirectory(files: HostFiles, directory: string, csi?: CsiVolumes): Promise<void> {
  await files.unmountBelow(`${directory}/volume-subpaths`);
  await csi?.release(directory);
  await files.unmountBelow(`${directory}/volumes`);
  await files.remove(directory);
}
