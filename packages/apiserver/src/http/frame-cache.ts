import type { KubeObject } from '../object.ts';

/**
 * The newest events as they are written on watches, so that an event is written down once however many watch it. An
 * event is shown to all its watchers in one go, which is why few need to be kept.
 */
export interface FrameCache {
  /** `object` is what is shown: of one stored object different versions show different ones. */
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
