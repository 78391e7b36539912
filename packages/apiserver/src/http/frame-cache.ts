import type { KubeObject } from '../object.ts';

/**
 * Cache of encoded watch events, so that an event is encoded once for all its watchers. All watchers of an event are
 * served together, so few frames need to be kept.
 */
export interface FrameCache {
  /** Returns the frame of an object, in a form. `object` is in the requested version: one stored object has several. */
  get(object: KubeObject, form: string, make: () => Uint8Array): Uint8Array;
}

/** Maximum number of objects with frames, and of bytes of all frames together. */
const keptObjects = 256;
const keptBytes = 16 * 2 ** 20;

export function createFrameCache(): FrameCache {
  const frames = new Map<KubeObject, Map<string, Uint8Array>>();
  let bytes = 0;

  function dropOldest(): void {
    for (const [oldest, forms] of frames) {
      if (frames.size <= keptObjects && bytes <= keptBytes) return;
      frames.delete(oldest);
      for (const { length } of forms.values()) bytes -= length;
    }
  }

  return {
    get(object, form, make) {
      let forms = frames.get(object);
      if (!forms) frames.set(object, (forms = new Map()));
      let frame = forms.get(form);
      if (!frame) {
        forms.set(form, (frame = make()));
        bytes += frame.length;
        dropOldest();
      }
      return frame;
    },
  };
}
