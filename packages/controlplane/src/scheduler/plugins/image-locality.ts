import type { NodeInfo } from '../cluster/node-info.ts';
import { maxNodeScore, type Plugin } from '../plugin.ts';

const mebibyte = 1024 * 1024;
/** Smaller images do not count. */
const leastBytes = 23 * mebibyte;
/** Larger images, per container, do not score higher. */
const mostBytesPerContainer = 1000 * mebibyte;

/**
 * ImageLocality plugin: prefers nodes that already have the images of the Pod. An image that few nodes have counts
 * less, so that not all Pods of a workload follow the first one.
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

/** Returns an image name with a tag, as nodes report it. */
function withTag(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
