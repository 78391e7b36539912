/** Who owns the files of a Pod's volumes, where the Pod says under whom it runs (kubelet.md §13). */
import type { Pod } from '@kruise/api/core/pod';
import type { HostFiles } from '../cri/runtime.ts';

const readable = 0o440;
const writable = 0o660;
/** What is made in a directory later is the group's as well, and the group may go there. */
const directoryBits = 0o2110;

export type GroupAccess = {
  readonly group: number;
  readonly isReadOnly: boolean;
  /** Leaves all as it is if the top is the group's already: to go through a large volume takes long. */
  readonly onlyOnMismatch?: boolean;
};

/** Sets the group of a directory and its contents, and of no target of a link in it. */
export async function giveToGroup(files: HostFiles, path: string, access: GroupAccess): Promise<void> {
  const { group, isReadOnly, onlyOnMismatch = false } = access;
  const fileMode = isReadOnly ? readable : writable;
  const directoryMode = fileMode | directoryBits;
  if (onlyOnMismatch) {
    const top = await files.stat(path);
    if (top?.gid === group && (top.mode & directoryMode) === directoryMode) return;
  }
  await files.shareWithGroup(path, { gid: group, fileMode, directoryMode });
}

/** The user all containers of a Pod run as; undefined if they differ, or some image says which. */
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
