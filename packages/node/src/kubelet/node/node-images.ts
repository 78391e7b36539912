/** Images on a node, which its status lists. */
import type { Log } from '@kruise/client/log';
import { isSame } from '@kruise/machinery/json-value';
import type { Image } from '../../cri/messages.ts';
import type { NodeRuntime } from '../../cri/runtime.ts';

/** Images on a node. */
export type NodeImages = {
  images(): readonly Image[];
  /** Reads the images; a failure is logged. */
  read(): Promise<void>;
  /** Reads the images again after the kubelet changed them. */
  refresh(): void;
  /** Reads the images again, in case another client of the runtime changed them. */
  poll(): void;
};

/** Dependencies of the images of a node. */
export type ImagesContext = {
  readonly runtime: NodeRuntime;
  readonly log: Log;
  readonly nodeName: string;
  readonly onChange: () => void;
};

/** Creates the images of a node, which have not been read yet. */
export function createNodeImages(context: ImagesContext, signal: AbortSignal): NodeImages {
  const { runtime, log, nodeName, onChange } = context;
  let images: readonly Image[] = [];

  async function list(): Promise<void> {
    images = (await runtime.listImages({}, { signal })).images;
  }

  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ node: nodeName, error }, 'failed to list images');
  };

  async function listChanges(): Promise<void> {
    const before = images;
    await list();
    if (!isSame(namesOf(before), namesOf(images))) onChange();
  }

  return {
    images: () => images,
    read: () => list().catch(onError),
    refresh: () => void list().then(onChange, onError),
    poll: () => void listChanges().catch(onError),
  };
}

function namesOf(images: readonly Image[]): readonly string[] {
  return images.map(({ id, repoTags }) => `${id} ${repoTags.join(' ')}`);
}
