/** `agnhost mounttest`: reports file properties for volume tests. */
import { quote } from '@kruise/values/go-syntax';
import { FileError } from '../file-tree.ts';
import { type ProgramContext, writeText } from '../program.ts';
import { flag } from './agnhost-flags.ts';

const newFileContent = 'mount-tester new file\n';

/** Prints the properties of paths in the format that volume tests expect. */
export async function mounttest(context: ProgramContext): Promise<number> {
  const { files } = context.container;
  const print = (text: string) => writeText(context.stdout, `${text}\n`);
  let failures = 0;
  const attempt = async (path: string | undefined, trouble: string, act: (path: string) => void | Promise<void>) => {
    if (path === undefined || path === '') return;
    try {
      await act(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      failures++;
      await print(`${trouble}(${quote(path)}): ${error.description.toLowerCase()}`);
    }
  };
  await attempt(flag(context, 'fs_type'), 'error from statfs', (path) => {
    files.stat(path);
    return print(`mount type of ${quote(path)}: tmpfs`);
  });
  const content = (path: string) =>
    print(`content of file ${quote(path)}: ${Buffer.from(files.read(path)).toString()}`);
  // Files are written before they are inspected.
  for (const mode of ['0644', '0666', '0660', '0777']) {
    await attempt(flag(context, `new_file_${mode}`), 'error writing new file', (path) => {
      files.write(path, newFileContent, { mode: Number.parseInt(mode, 8) });
      return content(path);
    });
  }
  await attempt(flag(context, 'file_mode'), 'error from Lstat', (path) =>
    print(`mode of file ${quote(path)}: ${goMode(files.stat(path))}`),
  );
  await attempt(flag(context, 'file_perm'), 'error from Lstat', (path) =>
    print(`perms of file ${quote(path)}: ${permissions(files.stat(path).mode & 0o777)}`),
  );
  await attempt(flag(context, 'file_owner'), 'error from stat', async (path) => {
    const { uid, gid } = files.stat(path);
    await print(`owner UID of ${quote(path)}: ${uid}`);
    await print(`owner GID of ${quote(path)}: ${gid}`);
  });
  await attempt(flag(context, 'file_content'), 'error reading file content for', content);
  const loopPath = flag(context, 'file_content_in_loop');
  if (loopPath !== undefined) failures += await readInLoop(context, loopPath);
  return failures > 0 ? 1 : 0;
}

/** Reads a file until it has the expected content, or until the timeout. */
async function readInLoop(context: ProgramContext, path: string): Promise<number> {
  const { files, clock } = context.container;
  const print = (text: string) => writeText(context.stdout, `${text}\n`);
  const stopsEarly = flag(context, 'break_on_expected_content') !== 'false';
  const end = clock.now() + 1000 * Number(flag(context, 'retry_time') ?? 180);
  let failed = false;
  while (clock.now() < end) {
    try {
      const content = Buffer.from(files.read(path)).toString();
      failed = false;
      await print(`content of file ${quote(path)}: ${content}`);
      if (stopsEarly && content === newFileContent) break;
      if (stopsEarly) await print(`Unexpected content. Expected: ${newFileContent}. Retrying`);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      failed = true;
      await print(`Error reading file ${path}: open ${path}: ${error.description.toLowerCase()}, retrying`);
    }
    await context.process.sleep(2000);
  }
  return failed ? 1 : 0;
}

/** Formats a file mode as Go does: `-rw-r--r--`, `drwxrwxrwx`, `dgtrwxrwxrwx`. */
function goMode({ type, mode }: { readonly type: string; readonly mode: number }): string {
  const kind = `${type === 'directory' ? 'd' : ''}${mode & 0o2000 ? 'g' : ''}${mode & 0o1000 ? 't' : ''}`;
  return `${kind === '' ? '-' : kind}${permissions(mode).slice(1)}`;
}

function permissions(mode: number): string {
  const letters = 'rwxrwxrwx';
  return `-${[...letters].map((letter, index) => (mode & (1 << (8 - index)) ? letter : '-')).join('')}`;
}
