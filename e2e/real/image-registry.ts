/** Images for a test: an archive of some, and a registry on the machine with others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshEnvironment } from '../cluster.ts';
import { buildImages } from '../images/images.ts';
import type { Machine } from './machines.ts';

const program = fileURLToPath(new URL('../images/build.ts', import.meta.url));
const port = 5000;

export type ImageNames = { readonly loaded: readonly string[]; readonly served: readonly string[] };

/** Builds images, and serves a part of them in a registry on a machine. */
export async function serveImages(machine: Machine, home: string, { loaded, served }: ImageNames) {
  const archive = join(home, 'images.tar');
  buildImages([...loaded, ...served]).writeArchive(loaded, archive);
  const [enter = '', ...rest] = machine.enter;
  const serving = spawn(enter, [...rest, process.execPath, program, '--serve', String(port), ...served], {
    env: freshEnvironment(home),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  serving.unref();
  let output = '';
  while (!output.includes('Serving')) output += String((await once(serving.stdout, 'data'))[0]);
  return { url: `http://127.0.0.1:${port}`, archive, close: () => void serving.kill() };
}
