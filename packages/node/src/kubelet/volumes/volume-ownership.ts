/** Ownership of volume files for Pods with fsGroup or runAsUser. */
import type { Pod } from '@kruise/api/core/pod';
import type { HostFiles } from '../../cri/runtime.ts';

const readable = 0o440;
const writable = 0o660;
/** Mode bits of directories: setgid, so that new files inherit the group, and execute permission for the group. */
const directoryBits = 0o2110;

export type GroupAccess = {
  readonly group: number;
  readonly isReadOnly: boolean;
  /** Skips the change if the volume root already has the right group: walking a large volume is slow. */
  readonly onlyOnMismatch?: boolean;
};

/** Sets the group of a directory and its contents, without following symbolic links. */
export async function setVolumeGroup(files: HostFiles, path: string, access: GroupAccess): Promise<void> {
  const { group, isReadOnly, onlyOnMismatch = false } = access;
  const fileMode = isReadOnly ? readable : writable;
  const directoryMode = fileMode | directoryBits;
  if (onlyOnMismatch) {
    const top = await files.stat(path);
    if (top?.gid === group && (top.mode & directoryMode) === directoryMode) return;
  }
  await files.setGroup(path, { gid: group, fileMode, directoryMode });
}

/** Returns the user that all containers of a Pod run as; undefined if they differ or an image decides. */
export function userOf({ spec }: Pod): number | undefined {
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  const users = containers.map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec?.securityContext?.runAsUser ?? undefined,
  );
  return new Set(users).size === 1 ? users[0] : undefined;
}
