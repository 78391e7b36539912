/** Files of the kernel's cgroup hierarchies. */
import { constants } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { ifPresent } from '../../cri/machine/beneath.ts';

/** Access to the files of cgroups. */
export type CgroupFiles = {
  exists(path: string): Promise<boolean>;
  /** Creates a directory, which is a cgroup; does nothing if it exists. */
  makeDirectory(path: string): Promise<void>;
  /** Returns the names of the directories in a directory; none if it does not exist. */
  directories(path: string): Promise<readonly string[]>;
  /** Returns the content of a file; undefined if it does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Writes a file, which must exist. */
  write(path: string, content: string): Promise<void>;
  /** Removes a cgroup without children and processes; returns false if it has some. */
  removeDirectory(path: string): Promise<boolean>;
  /** Kills a process; does nothing if it has ended. */
  kill(pid: number): void;
};

const hasCode = (error: unknown, ...codes: readonly string[]) =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');

/** Cgroup files of the local machine. */
export const machineCgroupFiles: CgroupFiles = {
  exists: async (path) => (await ifPresent(stat(path))) !== undefined,
  async makeDirectory(path) {
    await mkdir(path, { mode: 0o755 }).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  },
  async directories(path) {
    const entries = (await ifPresent(readdir(path, { withFileTypes: true }))) ?? [];
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  },
  async read(path) {
    try {
      return await ifPresent(readFile(path, 'utf8'));
    } catch (error) {
      // The kernel answers so while the cgroup is being removed.
      if (hasCode(error, 'ENODEV')) return undefined;
      throw error;
    }
  },
  write: (path, content) => writeFile(path, content, { flag: constants.O_WRONLY | constants.O_TRUNC }),
  async removeDirectory(path) {
    try {
      await ifPresent(rmdir(path));
      return true;
    } catch (error) {
      if (hasCode(error, 'EBUSY', 'ENOTEMPTY')) return false;
      throw error;
    }
  },
  kill(pid) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
  },
};
