import type { NodeInfo } from '../cluster/node-info.ts';
import { maxNodeScore, type Plugin } from '../plugin.ts';

const mebibyte = 1024 * 1024;
/** Less than this is not worth a detour. */
const leastBytes = 23 * mebibyte;
/** More than this, for each container, makes no difference. */
const mostBytesPerContainer = 1000 * mebibyte;

/**
 * Rather a node that has the images of the Pod already. An image that few nodes have counts for less, lest all Pods of
 * a workload follow the first one.
 */
export const imageLocality: Plugin = {
  name: 'ImageLocality',
  score({ spec }, { nodes: { length: nodeCount }, hasImage }) {
    const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
    const names = containers.map(({ image = '' }) => withTag(image)).filter(hasImage);
    if (names.length === 0) return undefined;
    const mostBytes = mostBytesPerContainer * containers.length;
    return {
      score({ images }: NodeInfo) {
        if (images.size === 0) return 0;
        let sum = 0;
        for (const name of names) {
          const state = images.get(name);
          if (state) sum += Math.trunc(state.sizeBytes * (state.nodes.size / nodeCount));
        }
        const bytes = Math.min(Math.max(sum, leastBytes), mostBytes);
        return Math.trunc((maxNodeScore * (bytes - leastBytes)) / (mostBytes - leastBytes));
      },
    };
  },
};

/** The name of an image as nodes report it: with a tag, if not always with a registry. */
function withTag(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
