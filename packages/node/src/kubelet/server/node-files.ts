/** Node files of the kubelet API: system logs and container checkpoints. */
import { Readable } from 'node:stream';
import { newestOf } from '../runtime/runtime-pod.ts';
import { KubeletError, type KubeletView, targetOf } from './view.ts';

const logDirectory = '/var/log';

/** Returns a log file of the node, or the listing of a log directory. */
export async function readNodeLog({ runtime }: KubeletView, path: readonly string[]): Promise<Readable> {
  const found = await runtime.files.readBeneath(logDirectory, path).catch((error: NodeJS.ErrnoException) => {
    // A container that writes logs to the node could plant symbolic links there; targets outside of the log directory
    // are not served.
    if (unreadable.has(error.code ?? '')) return undefined;
    throw error;
  });
  if (!found) throw new KubeletError(404, '404 page not found');
  if (found.type === 'file') return found.content;
  const links = found.names.map((name) => `<a href="${encodeURIComponent(name)}">${escaped(name)}</a>\n`);
  return Readable.from([Buffer.from(`<pre>\n${links.join('')}</pre>\n`)]);
}

const unreadable = new Set(['EXDEV', 'EINVAL', 'ELOOP', 'ENAMETOOLONG']);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Checkpoints a container; returns the paths of the archives. */
export async function checkpoint(view: KubeletView, path: readonly string[]): Promise<{ readonly items: string[] }> {
  const { worker, container } = targetOf(view, path, { hasContainer: true });
  const { name, namespace } = worker.pod().metadata;
  const found = newestOf(worker.runtimePod(), container);
  if (!found) throw new KubeletError(404, `container ${container} does not exist`);
  const at = new Date(view.clock.now()).toISOString();
  const file = `checkpoint-${name}_${namespace}-${container}-${at.slice(0, 19)}Z.tar`;
  // A checkpoint contains the memory of the container, so only root may read it.
  const directory = `${view.settings.rootDirectory}/checkpoints`;
  await view.runtime.files.makeDirectory(directory, { mode: 0o700 });
  const location = `${directory}/${file}`;
  await view.runtime.checkpointContainer({ containerId: found.id, location });
  return { items: [location] };
}
