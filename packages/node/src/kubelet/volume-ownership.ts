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

/** Has a group own a directory with all it holds. */
export async function giveToGroup(files: HostFiles, path: string, access: GroupAccess): Promise<void> {
  const { group, isReadOnly, onlyOnMismatch = false } = access;
  const bits = isReadOnly ? readable : writable;
  const top = await files.stat(path);
  const wanted = bits | directoryBits;
  if (onlyOnMismatch && top?.gid === group && (top.mode & wanted) === wanted) return;
  await give(path);

  async function give(each: string): Promise<void> {
    const found = await files.stat(each);
    // A link is what it leads to, which may be anywhere.
    if (!found || found.type === 'symlink') return;
    const isDirectory = found.type === 'directory';
    if (isDirectory) for (const name of await files.list(each)) await give(`${each}/${name}`);
    await files.changeOwner(each, { gid: group });
    await files.changeMode(each, found.mode | bits | (isDirectory ? directoryBits : 0));
  }
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
