import type { KubeObject } from '../object.ts';

/**
 * The newest events as they are written on watches, so that an event is written down once however many watch it. An
 * event is shown to all its watchers in one go, which is why few need to be kept.
 */
export interface FrameCache {
  /** `object` is what is shown: of one stored object different versions show different ones. */
  get(object: KubeObject, form: string, make: () => Uint8Array): Uint8Array;
}

const keptFrames = 256;

export function createFrameCache(): FrameCache {
  const frames = new Map<KubeObject, Map<string, Uint8Array>>();
  return {
    get(object, form, make) {
      let forms = frames.get(object);
      if (!forms) {
        forms = new Map();
        frames.set(object, forms);
        if (frames.size > keptFrames) frames.delete(frames.keys().next().value!);
      }
      let frame = forms.get(form);
      if (!frame) forms.set(form, (frame = make()));
      return frame;
    },
  };
}
