import * as s from '@kruise/schema';


export const watchEvent = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent', '', {
  type: s.required(1, s.string(), ''),
  object: s.required(2, s.rawExtension(), ''),
});
export type WatchEvent = s.TypeOf<typeof watchEvent>;
