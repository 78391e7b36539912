/**
 * Files of a volume made of API objects, replaced atomically: a new directory is filled, then the symbolic link
 * `..data`, which all visible names go through, is switched to it, so that no reader sees a mix of old and new files.
 * Containers see the volume read-only and only root can write to it on the node, so no container can plant links here.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { Random } from '@kruise/values/random';
import type { HostFiles } from '../../cri/runtime.ts';
import type { Content } from './volume-content.ts';
import { setVolumeGroup } from './volume-ownership.ts';

export type PayloadOptions = {
  readonly now: number;
  readonly random: Random;
  readonly group: number | null | undefined;
  /** Mount points of other mounts, by their path in the volume. */
  readonly nested: readonly string[];
};

const directoryMode = 0o755;
const writableByOthers = 0o022;
const dataLink = '..data';

/** Writes the files. Existing files are read from disk, because a previous kubelet may have been killed half-way. */
export async function writePayload(
  files: HostFiles,
  path: string,
  content: Content,
  options: PayloadOptions,
): Promise<void> {
  const { now, random, group, nested } = options;
  for (const name of content.keys()) checkName(name);
  await makeRoot(files, path);
  for (const each of nested) await files.makeDirectory(`${path}/${each}`, { mode: directoryMode });
  const existingNames = await files.list(path);
  const folder = payloadName(now, random);
  await files.makeDirectory(`${path}/${folder}`, { mode: directoryMode, isNew: true });
  for (const [name, { data, mode, owner }] of content) {
    const slash = name.lastIndexOf('/');
    if (slash > 0) await files.makeDirectory(`${path}/${folder}/${name.slice(0, slash)}`, { mode: directoryMode });
    const ownership = owner === undefined ? {} : { uid: owner };
    await files.writeFile(`${path}/${folder}/${name}`, data, { mode, isNew: true, ...ownership });
  }
  if (group != null) await setVolumeGroup(files, path, { group, isReadOnly: true });
  const draft = `${dataLink}_tmp`;
  if (existingNames.includes(draft)) await files.remove(`${path}/${draft}`);
  await files.symlink(`${path}/${draft}`, { target: folder });
  await files.rename(`${path}/${draft}`, `${path}/${dataLink}`);
  await linkNames(files, path, content, existingNames);
  const outdated = existingNames.filter((name) => name.startsWith('..') && !name.startsWith(dataLink));
  for (const name of outdated) await files.remove(`${path}/${name}`);
}

/** Creates the directory of the volume, or removes the write permission of all users but root. */
async function makeRoot(files: HostFiles, path: string): Promise<void> {
  const found = await files.stat(path);
  if (!found) return files.makeDirectory(path, { mode: directoryMode });
  if (found.type !== 'directory') throw new Error(`${path} is not a directory`);
  if ((found.mode & writableByOthers) !== 0) await files.changeMode(path, found.mode & ~writableByOthers);
}

/** Links the visible names to the payload, and removes links to names that are no longer in it. */
async function linkNames(
  files: HostFiles,
  path: string,
  content: Content,
  existingNames: readonly string[],
): Promise<void> {
  const linked = new Set(existingNames.filter((name) => !name.startsWith('..')));
  const names = new Set([...content.keys()].map((name) => name.split('/')[0]!));
  for (const name of names) {
    if (!linked.has(name)) await files.symlink(`${path}/${name}`, { target: `${dataLink}/${name}` });
  }
  for (const name of linked) {
    if (names.has(name)) continue;
    // Directories are mount points of other mounts.
    if ((await files.stat(`${path}/${name}`))?.type === 'symlink') await files.remove(`${path}/${name}`);
  }
}

/** Returns `..2026_01_02_15_04_05.0123456789`: the time, and an unpredictable number. */
function payloadName(now: number, random: Random): string {
  const time = new Date(now).toISOString().slice(0, 19).replace(/[-:T]/g, '_');
  const suffix = Math.floor(random.next() * 1e10);
  return `..${time}.${String(suffix).padStart(10, '0')}`;
}

/**
 * Rejects invalid paths. API validation rejects them for Pods from the API server, but static Pods reach the kubelet,
 * too.
 */
function checkName(name: string): void {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..') || name.startsWith('..')) {
    throw new Error(`invalid path ${JSON.stringify(name)}: must be a relative path below the volume`);
  }
}

/**
 * Returns the directories of a volume that other volumes of a container are mounted on. The runtime cannot create them
 * in a read-only mount.
 */
export function nestedMountsOf({ spec }: Pod, volumeName: string): readonly string[] {
  const found = new Set<string>();
  for (const { volumeMounts = [] } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const { name, mountPath, subPath, subPathExpr } of volumeMounts) {
      if (name !== volumeName || subPath || subPathExpr) continue;
      const base = mountPath.endsWith('/') ? mountPath : `${mountPath}/`;
      for (const other of volumeMounts) {
        if (!other.mountPath.startsWith(base)) continue;
        const below = other.mountPath
          .slice(base.length)
          .split('/')
          .filter((part) => part !== '' && part !== '.');
        if (below.length > 0 && !below.includes('..')) found.add(below.join('/'));
      }
    }
  }
  return [...found];
}
