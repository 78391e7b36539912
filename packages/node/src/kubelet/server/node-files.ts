/** What a kubelet shows and keeps of its node's files: logs of the system, and checkpoints of containers. */
import { Readable } from 'node:stream';
import { newestOf } from '../runtime-pod.ts';
import { KubeletError, type KubeletView, targetOf } from './view.ts';

const logDirectory = '/var/log';

/** Returns a file below the node's own logs, or the names in a directory of them. */
export async function readNodeLog({ runtime }: KubeletView, path: readonly string[]): Promise<Readable> {
  const found = await runtime.files.readBeneath(logDirectory, path).catch((error: NodeJS.ErrnoException) => {
    // A container that writes logs to the node could plant links there: targets elsewhere are not served.
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

/** Has the runtime write down a container as it is; where that is. */
export async function checkpoint(view: KubeletView, path: readonly string[]): Promise<{ readonly items: string[] }> {
  const { worker, container } = targetOf(view, path, { hasContainer: true });
  const { name, namespace } = worker.pod().metadata;
  const found = newestOf(worker.runtimePod(), container);
  if (!found) throw new KubeletError(404, `container ${container} does not exist`);
  const at = new Date(view.clock.now()).toISOString();
  const file = `checkpoint-${name}_${namespace}-${container}-${at.slice(0, 19)}Z.tar`;
  // A checkpoint holds the memory of the container.
  const directory = `${view.settings.rootDirectory}/checkpoints`;
  await view.runtime.files.makeDirectory(directory, { mode: 0o700 });
  const location = `${directory}/${file}`;
  await view.runtime.checkpointContainer({ containerId: found.id, location });
  return { items: [location] };
}
