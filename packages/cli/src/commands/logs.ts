import { existsSync, readFileSync, statSync, watchFile } from 'node:fs';
import { open } from 'node:fs/promises';
import { dataDirectory } from '../data-directory.ts';

/** Prints the logs of all components or of one, and streams new entries with `--follow`. */
export async function logs(
  component: string | undefined,
  options: { readonly data?: string; readonly follow?: boolean; readonly json?: boolean },
): Promise<number> {
  const { log } = dataDirectory(options.data);
  if (!existsSync(log)) {
    console.error(`No logs found in ${log}.`);
    return 1;
  }
  const show = (text: string) => {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const shown = shownOf(line, component, options.json ?? false);
      if (shown !== undefined) console.log(shown);
    }
  };
  const whole = readFileSync(log, 'utf8');
  show(whole);
  if (!options.follow) return 0;
  let position = Buffer.byteLength(whole);
  await new Promise(() => {
    watchFile(log, { interval: 200 }, async () => {
      const { size } = statSync(log);
      // A file that was truncated is read from its start.
      if (size < position) position = 0;
      const file = await open(log);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - position), 0, size - position, position);
      await file.close();
      position += bytesRead;
      show(buffer.toString('utf8', 0, bytesRead));
    });
  });
  return 0;
}

/** Returns the text to print for a log line; undefined if the line belongs to another component. */
function shownOf(line: string, component: string | undefined, asJson: boolean): string | undefined {
  if (!line.startsWith('{')) return component === undefined ? line : undefined;
  let entry: { [name: string]: unknown };
  try {
    entry = JSON.parse(line);
  } catch {
    return component === undefined ? line : undefined;
  }
  if (component !== undefined && entry.component !== component) return undefined;
  if (asJson) return line;
  const { time, level, message, component: componentName, ...rest } = entry;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${textOf(value)}`);
  return [time, String(level).toUpperCase(), componentName ?? '-', message, ...fields].join(' ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { message } = (value ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? JSON.stringify(message) : JSON.stringify(value);
}
