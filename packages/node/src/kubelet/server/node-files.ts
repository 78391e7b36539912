/** What a kubelet shows and keeps of its node's files: logs of the system, and checkpoints of containers. */
import { newestOf } from '../runtime-pod.ts';
import { KubeletError, type KubeletView, targetOf } from './view.ts';

const logDirectory = '/var/log';

/** A file below the node's own logs, or the names in a folder of them. */
export async function readNodeLog({ runtime }: KubeletView, path: readonly string[]): Promise<Uint8Array> {
  if (path.includes('..')) throw new KubeletError(400, 'invalid path');
  const place = [logDirectory, ...path].join('/');
  const found = await runtime.files.stat(place);
  if (!found) throw new KubeletError(404, '404 page not found');
  if (found.type !== 'directory') return runtime.files.readFile(place);
  const names = await runtime.files.list(place);
  return Buffer.from(
    `<pre>\n${names.map((name) => `<a href="${encodeURIComponent(name)}">${name}</a>\n`).join('')}</pre>\n`,
  );
}

/** Has the runtime write down a container as it is; where that is. */
export async function checkpoint(view: KubeletView, path: readonly string[]): Promise<{ readonly items: string[] }> {
  const { worker, container } = targetOf(view, path, { hasContainer: true });
  const { name, namespace } = worker.pod().metadata;
  const found = newestOf(worker.runtimePod(), container);
  if (!found) throw new KubeletError(404, `container ${container} does not exist`);
  const at = new Date(view.clock.now()).toISOString();
  const file = `checkpoint-${name}_${namespace}-${container}-${at.slice(0, 19)}Z.tar`;
  const location = `${view.settings.rootDirectory}/checkpoints/${file}`;
  await view.runtime.checkpointContainer({ containerId: found.id, location });
  return { items: [location] };
}
